from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.format.session_meta import RunningSession, parse_running_session, pid_of


def test_a_running_session() -> None:
    running = parse_running_session(
        b"""{"pid": 77, "sessionId": "s-1", "cwd": "/w/app", "startedAt": 1772442000000, "version": "2.1.325", "kind":
        "interactive", "entrypoint": "cli", "status": "busy", "procStart": "512",
        "pidDomain": "darwin", "name": "fixer", "tmux": "%1", "peerFeatures": ["a"]}"""
    )
    assert running == RunningSession(
        pid=77,
        session_id="s-1",
        cwd="/w/app",
        started_at=datetime(2026, 3, 2, 9, tzinfo=UTC),
        version="2.1.325",
        kind="interactive",
        entrypoint="cli",
        status="busy",
        name="fixer",
        tmux="%1",
        proc_start="512",
        pid_domain="darwin",
        extra={"peerFeatures": ["a"]},
    )


@pytest.mark.parametrize(
    ("name", "pid"), [("77.json", 77), ("77.abc.key", None), ("x.json", None), ("77", None), ("-1.json", None)]
)
def test_names(name: str, pid: int | None) -> None:
    assert pid_of(name) == pid


@given(st.binary(max_size=80))
def test_no_bytes_raise(data: bytes) -> None:
    assert parse_running_session(data).problem is not None or data.strip().startswith(b"{")
