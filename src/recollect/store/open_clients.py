"""Clients that run right now may write files of all projects: what must not be rewritten while they do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..errors import StoreBusy
from .home import Home
from .liveness import open_sessions


def refuse_work_in(home: Home, is_of_it: Callable[[str | None], bool]) -> None:
    """Raise StoreBusy where a client works in a folder for which `is_of_it` holds, whatever session it has open."""
    for running in open_sessions(home).values():
        if is_of_it(running.cwd):
            raise StoreBusy(
                f"process {running.pid} works in {running.cwd}",
                hint="close it in the client first", slug="session-running",
            )  # fmt: skip


def refuse_shared_file(home: Home, path: Path, *, force: bool) -> None:
    """The prompt history and the global config are written by every client: rewritten only if none runs, or by force."""
    running = open_sessions(home)
    if running and not force:
        pids = ", ".join(str(item.pid) for item in running.values())
        raise StoreBusy(
            f"{path.name} must be rewritten, and clients are running that write it too (process {pids})",
            hint="close them first, or use --force: what they write in that moment may be lost",
            slug="client-running",
        )
