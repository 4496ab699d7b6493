"""May a session be changed now? One that a client has open is appended to only by force, and never rewritten.

One rule for the command line, the library and the provider. Who wrote the last line of a session itself may go on with it,
whoever has it open; a file that somebody else wrote within the last minute is neither rewritten nor cut by an undo.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import StoreBusy
from ..store.home import Home
from ..store.liveness import open_sessions
from ..store.paths import is_inside, list_inside
from ..store.read import session_named_in
from ..store.stamp import Stamp, stamp_of
from .actions import Append, AppendRun, Move

if TYPE_CHECKING:
    from .journal import Journal, Record

RECENT_SECONDS = 60.0


def why_busy(home: Home, session_id: str, path: Path, journal: Journal, *, now: float | None = None) -> str | None:
    """Why somebody else may be writing this session right now; None if nobody seems to."""
    running = open_sessions(home).get(session_id)
    if running is not None:
        return f"process {running.pid} has it open"
    for file in _transcripts_of(home, session_id, path):
        current = stamp_of(file)
        if current is None or not is_recent(current, now) or journal.is_ours(file, current):
            continue
        if file != path and file.parent == path.parent and session_named_in(file, home) != session_id:
            continue  # beside the session stand those of all sessions of the project
        age = (time.time() if now is None else now) - current.mtime_ns / 1e9
        what = "it" if file == path else f"its subagent {file.name}"
        return f"{what} was written {max(age, 0):.0f} s ago, and not by us"
    return None


def _transcripts_of(home: Home, session_id: str, path: Path) -> Iterator[Path]:
    """Its own, and those of subagents that are or may be its: while one of them works, the session's own may rest."""
    yield path
    if path.name != f"{session_id}.jsonl":
        return
    own = path.with_suffix("") / "subagents"
    if is_inside(home, own):
        yield from _transcripts_at(str(own))
    for file in list_inside(home, path.parent):
        if file.name.startswith("agent-") and file.suffix == ".jsonl":
            yield file


def is_recent(current: Stamp, now: float | None = None) -> bool:
    """Whether a file was written within the last minute. A time in the near future counts: clocks differ a little."""
    return abs((time.time() if now is None else now) - current.mtime_ns / 1e9) < RECENT_SECONDS


def refuse_if_busy(
    home: Home, session_id: str, path: Path, journal: Journal, *, force: bool = False, rewrite: bool = False
) -> None:
    """Raise StoreBusy where the session is in use. `force` permits appending, never rewriting."""
    if not rewrite and (force or _goes_on(home, session_id, path, journal)):
        return
    why = why_busy(home, session_id, path, journal)
    if why is None:
        return
    hint = "close it in the client first"
    if not rewrite:
        hint += ", or use --force (force=True in code) to write all the same"
    raise StoreBusy(f"session {session_id} is in use: {why}", hint=hint, slug="session-running")


def refuse_lists_if_busy(home: Home, session_id: str, journal: Journal, *, force: bool = False) -> None:
    """The same for the to-do lists and tasks of a session, which need no transcript."""
    found = [folder / f"{session_id}.jsonl" for folder in list_inside(home, home.projects)]
    there = [path for path in found if stamp_of(path) is not None]
    for path in there or [home.projects / f"{session_id}.jsonl"]:
        refuse_if_busy(home, session_id, path, journal, force=force)


def _goes_on(home: Home, session_id: str, path: Path, journal: Journal) -> bool:
    """Whether this very process wrote the last line of the file, or (a subagent's first line) of the session's own."""
    current = stamp_of(path)
    if current is None and path.is_relative_to(home.projects):
        path = home.projects / path.relative_to(home.projects).parts[0] / f"{session_id}.jsonl"
        current = stamp_of(path)
    return current is not None and journal.is_of_this_process(path, current)


def refuse_undo_while_open(record: Record, home: Home) -> None:
    """A client that has read our lines must not lose them: what it writes next hangs on them."""
    running = open_sessions(home)
    for action in record.actions:
        path = Path(action.path)
        for name in (path.stem, *(parent.name for parent in path.parents)):
            if name in running:
                raise StoreBusy(
                    f"session {name} is in use: process {running[name].pid} has it open",
                    hint="close it in the client first", slug="session-running",
                )  # fmt: skip


def refuse_undo_of_foreign_writes(record: Record, journal: Journal) -> None:
    """Who wrote a file within the last minute may be about to write on: it is not cut or moved under their hands.

    A file whose content was replaced needs no look here: it is undone only if it holds our very bytes.
    """
    for action in record.actions:
        if isinstance(action, (Append, AppendRun)):
            path = Path(action.path)
            _refuse_foreign(path, stamp_of(path), journal)
            _refuse_foreign(path, action.before, journal, record)
        elif isinstance(action, Move):
            for path in _transcripts_at(action.target):
                _refuse_foreign(path, stamp_of(path), journal)


def _transcripts_at(place: str) -> Iterator[Path]:
    if place.endswith(".jsonl"):
        yield Path(place)
    for folder, _, names in os.walk(place):
        yield from (Path(folder, name) for name in names if name.endswith(".jsonl"))


def _refuse_foreign(path: Path, state: Stamp | None, journal: Journal, before: Record | None = None) -> None:
    if state is not None and is_recent(state) and not journal.is_ours(path, state, before):
        raise StoreBusy(
            f"{path} was written by somebody else within the last minute",
            hint="nothing was undone; try again when nobody has written to it for a minute", slug="session-running",
        )  # fmt: skip
