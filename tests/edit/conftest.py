"""Fixtures for what can be done in more than one way."""

from __future__ import annotations

import pytest

from recollect.edit import fork_ahead, second_process


@pytest.fixture(params=["one process", "two processes"])
def processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Forks of small files, too, are made with the help of a second process, or of none."""
    two = request.param == "two processes"
    monkeypatch.setattr(second_process, "is_of_use", lambda: two)
    monkeypatch.setattr(fork_ahead, "LEAST", 1)
    return str(request.param)
