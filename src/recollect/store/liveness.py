"""Find the sessions that are open in Claude Code: `sessions/<pid>.json` of a process that is still alive."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ..errors import StoreBusy
from ..format.session_meta import RunningSession
from .home import Home
from .side_files import running_sessions

_START_FIELD = 19
"""The start time in `/proc/<pid>/stat`: field 22, counted after the program's name, which may hold any character."""


def is_alive(pid: int | None) -> bool:
    """Return whether a process with this id exists; True if the system cannot say."""
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


def has_it_open(running: RunningSession) -> bool:
    """Return whether the process that wrote the file is alive. In doubt True, so that no session in use seems free."""
    return is_alive(running.pid) and not _is_of_another(running)


def _is_of_another(running: RunningSession) -> bool:
    """Return whether the process id certainly belongs to a later process than the one that wrote the file.

    That is so if the process started at another tick than the writer, and after every time that the writer noted. An id
    from another machine or container says nothing about the processes here.
    """
    if sys.platform != "linux" or running.proc_start is None:
        return False
    if running.pid_domain is not None and running.pid_domain != _own_domain():
        return False
    noted = [moment for moment in (running.started_at, running.updated_at, running.status_updated_at) if moment]
    ticks = _start_of(running.pid)
    if ticks is None or not noted or not _is_number(running.proc_start) or int(running.proc_start) == ticks:
        return False
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return max(noted).timestamp() < time.time() - age


def _start_of(pid: int | None) -> int | None:
    """Return when a process started, in ticks since boot; None if the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
            fields = stream.read().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[_START_FIELD]) if len(fields) > _START_FIELD and _is_number(fields[_START_FIELD]) else None


def _own_domain() -> str | None:
    """Return the machine and namespace in which process ids are valid, in the form that Claude Code writes."""
    try:
        with open("/etc/machine-id", encoding="ascii") as stream:
            return f"linux:{stream.read().strip()}:{os.readlink('/proc/self/ns/pid')}"
    except (OSError, ValueError):
        return None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18


def open_sessions(home: Home) -> dict[str, RunningSession]:
    """Return the sessions whose process is alive, by id.

    A file left behind by a crash does not count, even if another process has its id now.
    """
    return {
        running.session_id: running
        for running in running_sessions(home)
        if running.session_id is not None and has_it_open(running)
    }


def refuse_work_in(home: Home, is_of_it: Callable[[str | None], bool]) -> None:
    """Raise StoreBusy if Claude Code runs in a folder for which `is_of_it` holds, whatever session it has open."""
    for running in open_sessions(home).values():
        if is_of_it(running.cwd):
            raise StoreBusy(
                f"process {running.pid} works in {running.cwd}",
                hint="close it in Claude Code first", slug="session-running",
            )  # fmt: skip


def refuse_shared_file(home: Home, path: Path, *, force: bool) -> None:
    """Raise StoreBusy if Claude Code runs anywhere, unless `force` is given.

    For the prompt history and the global config, which every running Claude Code writes.
    """
    running = open_sessions(home)
    if running and not force:
        pids = ", ".join(str(item.pid) for item in running.values())
        raise StoreBusy(
            f"{path.name} must be rewritten, and Claude Code is running, which writes it too (process {pids})",
            hint="close them first, or use --force: what they write in that moment may be lost",
            slug="client-running",
        )
