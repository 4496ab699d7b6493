"""Which sessions a client has open right now: `sessions/<pid>.json` of a process that still lives."""

from __future__ import annotations

import os

from ..format.running import RunningSession
from .home import Home
from .side_files import running_sessions


def is_alive(pid: int | None) -> bool:
    """Whether a process with this number exists. Where the system cannot tell, the file's word is taken."""
    if pid is None or pid <= 0:
        return False
    if os.name == "nt":  # os.kill would end the process there
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def open_sessions(home: Home) -> dict[str, RunningSession]:
    """Sessions by id whose process lives. A file left behind by a crash does not count."""
    return {
        running.session_id: running
        for running in running_sessions(home)
        if running.session_id is not None and is_alive(running.pid)
    }
