"""May a session be changed now? One that a client has open is appended to only by force, and never rewritten."""

from __future__ import annotations

import time
from pathlib import Path

from ..errors import StoreBusy
from .changes import Journal
from .home import Home
from .kept import kept
from .liveness import open_sessions

RECENT_SECONDS = 60.0


def why_busy(home: Home, session_id: str, path: Path, journal: Journal, *, now: float | None = None) -> str | None:
    """Why somebody else may be writing this session right now; None if nobody seems to."""
    running = open_sessions(home).get(session_id)
    if running is not None:
        return f"process {running.pid} has it open"
    current = kept(path)
    if current is None:
        return None
    age = (time.time() if now is None else now) - current.mtime_ns / 1e9
    if abs(age) < RECENT_SECONDS and journal.left(path) != current:
        return f"it was written {max(age, 0):.0f} s ago, and not by us"
    return None


def refuse_if_busy(
    home: Home, session_id: str, path: Path, journal: Journal, *, force: bool = False, rewrite: bool = False
) -> None:
    """Raise StoreBusy where the session is in use. `force` permits appending, never rewriting."""
    why = why_busy(home, session_id, path, journal)
    if why is None or (force and not rewrite):
        return
    hint = (
        "close it in the client first" if rewrite else "close it in the client first, or use --force to append anyway"
    )
    raise StoreBusy(f"session {session_id} is in use: {why}", hint=hint, slug="session-running")
