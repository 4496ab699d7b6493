"""A session that is there before its first message: a file that tells its project, and nothing else yet."""

from __future__ import annotations

from pathlib import Path

from ..format.encode import custom_title, encode_line
from ..journal.changes import Change, Journal
from ..store.home import Home
from .append import project_folder


def plan_new_session(
    journal: Journal, home: Home, cwd: str, session_id: str, *, title: str | None = None
) -> tuple[Change, Path]:
    """The change that begins it, and its file. The client resumes it once it has a message."""
    path = project_folder(home, cwd) / f"{session_id}.jsonl"
    # Without rows, nothing else tells the project.
    lines = [{"type": "relocated", "sessionId": session_id, "relocatedCwd": cwd}]
    if title is not None:
        lines.append(custom_title(session_id, title))
    change = journal.change(home, "new", f"New session {session_id} in {cwd}")
    change.append(path, b"".join(encode_line(line) for line in lines), create=True)
    return change, path
