"""Standard input that is closed (`<&-`): no terminal to ask on, and nothing to read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.running import run, tree_state

from recollect.testing import HomeBuilder

S = "aaaa0000-0000-4000-8000-000000000001"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude", version="2.1.325")
    builder.session("/w/app", session_id=S, modified="2026-03-02T10:00Z").user("go")
    return builder.write()


@pytest.fixture(params=["none", "closed"])
def closed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As Python starts with it, and as a program that closed its own leaves it."""
    (tmp_path / "nothing").touch()
    stream = (tmp_path / "nothing").open()
    stream.close()
    monkeypatch.setattr(sys, "stdin", None if request.param == "none" else stream)


@pytest.mark.usefixtures("closed")
@pytest.mark.parametrize(
    ("words", "code", "slug"),
    [
        (["append", S, "--role", "user", "-"], 6, "empty-message"),
        (["delete", S], 6, "not-confirmed"),
        (["sql", "-"], 6, "sql-not-allowed"),
        (["sql"], 6, "sql-not-allowed"),
    ],
)
def test_it_is_empty(words: list[str], code: int, slug: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree_state(root)
    ran = run(capsys, root, *words)
    assert (ran.code, slug in ran.err) == (code, True)
    assert tree_state(root) == before
