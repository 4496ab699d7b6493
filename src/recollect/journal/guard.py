"""Refuse to change a session that is in use: it is appended to only by force, and never rewritten.

The command line, the library and the provider share this rule. A session is in use while Claude Code has it open, and for a
minute after another program wrote to it. A process that wrote the last line of a session itself may always append more.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import StoreBusy
from ..store.home import Home, is_inside, list_inside
from ..store.layout import is_subagent_name, subagents_folder
from ..store.liveness import open_sessions
from ..store.read import session_named_in
from ..store.stamp import Stamp, stamp_of
from .actions import Append, AppendRun, Move

if TYPE_CHECKING:
    from .journal import Journal, Record

RECENT_SECONDS = 60.0


def why_busy(home: Home, session_id: str, path: Path, journal: Journal, *, now: float | None = None) -> str | None:
    """Return why another program may be writing this session right now; None if none seems to."""
    running = open_sessions(home).get(session_id)
    if running is not None:
        return f"process {running.pid} has it open"
    for file in _transcripts_of(home, session_id, path):
        current = stamp_of(file)
        if current is None or not is_recent(current, now) or journal.is_ours(file, current):
            continue
        if file != path and file.parent == path.parent and session_named_in(file, home) != session_id:
            continue  # in the project's folder stand the subagents of all its sessions
        age = (time.time() if now is None else now) - current.mtime_ns / 1e9
        what = "it" if file == path else f"its subagent {file.name}"
        return f"{what} was written {max(age, 0):.0f} s ago, and not by us"
    return None


def _transcripts_of(home: Home, session_id: str, path: Path) -> Iterator[Path]:
    """Yield the transcript of a session and those of its subagents, which may be written while its own is not."""
    yield path
    if path.name != f"{session_id}.jsonl":
        return
    own = subagents_folder(path)
    if is_inside(home, own):
        yield from _transcripts_at(str(own))
    for file in list_inside(home, path.parent):
        if is_subagent_name(file.name):
            yield file


def is_recent(current: Stamp, now: float | None = None) -> bool:
    """Whether a file was written within the last minute. A time in the near future counts, since clocks differ a little."""
    return abs((time.time() if now is None else now) - current.mtime_ns / 1e9) < RECENT_SECONDS


def refuse_if_busy(
    home: Home, session_id: str, path: Path, journal: Journal, *, force: bool = False, rewrite: bool = False
) -> None:
    """Raise StoreBusy if the session is in use. `force` permits appending, never rewriting."""
    if not rewrite and (force or _goes_on(home, session_id, path, journal)):
        return
    why = why_busy(home, session_id, path, journal)
    if why is None:
        return
    hint = "close it in Claude Code first"
    if not rewrite:
        hint += ", or use --force (force=True in code) to write all the same"
    raise StoreBusy(f"session {session_id} is in use: {why}", hint=hint, slug="session-running")


def refuse_lists_if_busy(home: Home, session_id: str, journal: Journal, *, force: bool = False) -> None:
    """Raise StoreBusy if the session of a to-do list or of tasks is in use. It may have no transcript."""
    candidates = [folder / f"{session_id}.jsonl" for folder in list_inside(home, home.projects)]
    existing = [path for path in candidates if stamp_of(path) is not None]
    for path in existing or [home.projects / f"{session_id}.jsonl"]:
        refuse_if_busy(home, session_id, path, journal, force=force)


def _goes_on(home: Home, session_id: str, path: Path, journal: Journal) -> bool:
    """Whether this process wrote the last line of the file, or of the session's own file if a subagent's file is new."""
    current = stamp_of(path)
    if current is None and path.is_relative_to(home.projects):
        path = home.projects / path.relative_to(home.projects).parts[0] / f"{session_id}.jsonl"
        current = stamp_of(path)
    return current is not None and journal.is_of_this_process(path, current)


def refuse_undo_while_open(record: Record, home: Home) -> None:
    """Raise StoreBusy if Claude Code has a session of the change open: what it writes next refers to what it has read."""
    running = open_sessions(home)
    for action in record.actions:
        path = Path(action.path)
        for name in (path.stem, *(parent.name for parent in path.parents)):
            if name in running:
                raise StoreBusy(
                    f"session {name} is in use: process {running[name].pid} has it open",
                    hint="close it in Claude Code first", slug="session-running",
                )  # fmt: skip


def refuse_undo_of_foreign_writes(record: Record, journal: Journal) -> None:
    """Raise StoreBusy if another program wrote to a file of the change within the last minute: it may write more.

    Replaced files are not looked at here: they are undone only if they still hold exactly what was written.
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
