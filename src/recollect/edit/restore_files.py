"""Restore files into a home from wherever they were kept: one change, which can be undone, and never over newer files.

change, result = plan_restore(journal, home, items, title="Restore 3f2a")
with change:
    change.commit()
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from ..errors import DamagedData, RecollectError
from ..journal.changes import Change, Journal
from ..store.home import Home, is_inside, is_secret, is_session_link, open_inside
from ..store.layout import HISTORY, SESSIONS_INDEX
from ..store.liveness import open_sessions
from ..store.stamp import Stamp, stamp_of

#: Files that many sessions share: they come back only where there is none.
_SHARED: Final = (HISTORY, SESSIONS_INDEX)


@dataclass(frozen=True)
class FileToRestore:
    """A file to restore: its path below the home, its time, and its bytes, which may be asked for several times."""

    path: str
    size: int
    mtime_ns: int
    chunks: Callable[[], Iterator[bytes]]


@dataclass
class RestoreResult:
    """What a restore brings back, what it leaves out, and why."""

    files: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    bytes: int = 0
    same: int = 0
    """Files that are there already, as they were."""
    left: list[dict[str, str]] = field(default_factory=list)
    """{path, why}: something newer or something else stands there."""
    damaged: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def plan_restore(
    journal: Journal, home: Home, items: Iterable[FileToRestore], *, title: str, name: str = "restore"
) -> tuple[Change, RestoreResult]:
    """Plan to restore files. A file in the home that is not older stays; damaged copies are left out."""
    change = journal.change(home, name, title)
    result = RestoreResult()
    try:
        change.folder(home.root, elsewhere=True)
        running = open_sessions(home)
        for item in items:
            _plan_file(change, item, running.keys(), result)
    except BaseException:
        change.__exit__()
        raise
    return change, result


def _plan_file(change: Change, item: FileToRestore, running: Iterable[str], result: RestoreResult) -> None:
    target = change.home.root / item.path
    why = _why_not(change.home, target, item, running)
    if why == "same":
        result.same += 1
        return
    if why is not None:
        result.left.append({"path": item.path, "why": why})
        return
    try:
        for _ in item.chunks():  # all of it must be readable before a step is planned
            pass
    except DamagedData as problem:
        result.damaged.append({"path": item.path, "why": problem.message})
        return
    change.write(target, item.chunks(), mtime_ns=item.mtime_ns, replace=stamp_of(target) is not None)
    result.files.append(item.path)
    result.bytes += item.size


def _why_not(home: Home, target: Path, item: FileToRestore, running: Iterable[str]) -> str | None:
    """Return why a file is not restored (`same` if it is there already); None if nothing is in the way."""
    if is_secret(target) or not is_inside(home, target):
        return "is not a place for a file of a session"
    for folder in target.parents:
        if folder == home.root:
            break
        if folder.exists() and not folder.is_dir():
            return f"{folder} is not a folder"
    now = stamp_of(target)
    if now is None:
        return None
    if not stat.S_ISREG(os.stat(target, follow_symlinks=is_session_link(home, target)).st_mode):
        return "something else stands there"
    if _begins_with(home, target, now, item):
        return "same" if now.size == item.size else "has grown since"
    if now.mtime_ns >= item.mtime_ns:
        return "a newer one stands there"
    if target.name in _SHARED:
        return "another one stands there"
    if any(name in running for name in (target.stem, *(parent.name for parent in target.parents))):
        return "its session is in use"
    return None


def _begins_with(home: Home, target: Path, now: Stamp, item: FileToRestore) -> bool:
    if now.size < item.size:
        return False
    try:
        with open_inside(home, target) as stream:
            return all(stream.read(len(chunk)) == chunk for chunk in item.chunks())
    except (RecollectError, OSError):
        return False
