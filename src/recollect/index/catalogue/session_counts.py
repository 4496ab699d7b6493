"""Read from the catalogue how many lines and messages each session has. Nothing is built or brought up to date here."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import apsw

from .catalogue import DATABASE
from .schema import fingerprint

_QUESTION = """
SELECT h.path || '/' || f.path, p.size, p.ctime_ns, s.lines, s.messages, s.subagents
FROM sessions s JOIN files f ON f.id = s.file_id JOIN homes h ON h.id = f.home_id
JOIN progress p ON p.file_id = f.id AND p.stage = 'entries' AND p.offset = p.size
"""


class SessionCount(NamedTuple):
    size: int
    """Size of the file when it was counted."""
    ctime_ns: int
    lines: int
    messages: int
    subagents: int
    """Subagents inside the main file."""


def session_counts(folder: Path) -> dict[str, SessionCount]:
    """Return the counts of every session that the catalogue in this folder has read to its end, by path."""
    path = folder / DATABASE
    if not path.is_file():
        return {}
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(1000)
            if connection.execute("PRAGMA user_version").get != fingerprint():
                return {}
            return {str(row[0]): SessionCount(*row[1:]) for row in connection.execute(_QUESTION)}
        finally:
            connection.close()
    except (apsw.Error, OSError):  # damaged, or being made anew: the numbers come with the next sync
        return {}
