"""Removed files whose copies the journal need not hold, because the vault has them.

The change gets the state `pruned`: the file of that name lists what was let go. Undoing it fetches the files from the
vault, into the journal's folders, and then is an undo like any other.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from ..errors import DamagedData
from ..store.home import Home
from . import disk
from .actions import Remove
from .changes import Journal, Record
from .content_hash import hash_of


class DiscardedBackup(Struct, frozen=True):
    """A file that was removed from a home and from the journal."""

    path: str
    """Below the home; bytes as text, since a name may be no UTF-8."""
    size: int
    mtime_ns: int
    mode: int
    hash: str

    @property
    def place(self) -> str:
        """Its path below the home."""
        return _from_text(self.path)


def discard_backups(journal: Journal, record: Record, home: Home) -> None:
    """Delete the files that a change moved into the journal; `take_backup_again` brings them back. Folders stay, empty."""
    folder = journal.folder_of(record)
    listed: dict[str, DiscardedBackup] = {}
    try:
        for action in record.actions:
            if isinstance(action, Remove):
                below = os.path.relpath(action.path, home.root)
                for name in _files(folder / action.backup):
                    path, rest = folder / name, os.path.relpath(folder / name, folder / action.backup)
                    info = os.lstat(path)
                    place = os.path.normpath(os.path.join(below, rest))
                    listed[_to_text(name)] = DiscardedBackup(
                        _to_text(place), info.st_size, info.st_mtime_ns, info.st_mode & 0o777, hash_of(path)
                    )
        journal.mark(folder, "pruned", listed)
        record.state = "pruned"
        for name in listed:
            disk.remove_file(folder / _from_text(name))
    except OSError as problem:
        raise disk.explain(problem, folder) from problem


def discarded_backups(journal: Journal, record: Record) -> dict[str, DiscardedBackup]:
    """What was let go of a change, by the name in its folder. Raises DamagedData where nobody can tell."""
    path = journal.folder_of(record) / "pruned"
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, DiscardedBackup])
    except (OSError, msgspec.MsgspecError) as problem:
        raise DamagedData(
            f"the list of what change {record.number} pruned cannot be read: {path}: {problem}", slug="damaged-journal",
            hint="nothing was changed; `recollect restore` brings sessions back from the vault",
        ) from problem  # fmt: skip


def take_backup_again(journal: Journal, record: Record, chunks: Callable[[DiscardedBackup], Iterator[bytes]]) -> None:
    """Put every file that was let go into the journal again, where `chunks` has it. All or none."""
    folder = journal.folder_of(record)
    made: list[Path] = []
    try:
        for name, file in discarded_backups(journal, record).items():
            path = folder / _from_text(name)
            disk.remove_if_there(path)  # of an earlier try
            made.append(path)
            disk.write_new(path, chunks(file), mode=file.mode)
            disk.set_times(path, file.mtime_ns)
        disk.remove_file(folder / "pruned")
    except BaseException:
        for path in made:
            with contextlib.suppress(OSError):
                disk.remove_if_there(path)
        raise


def _files(top: Path) -> Iterator[str]:
    """Regular files at a place or below it, by their path below the folder around it."""
    if not top.is_dir() or top.is_symlink():
        found = [top]
    else:
        found = [Path(folder, name) for folder, _, names in os.walk(top) for name in names]
    for path in found:
        if path.is_file() and not path.is_symlink():
            yield os.path.relpath(path, top.parent)


def _to_text(name: str) -> str:
    return os.fsencode(name).decode("latin-1")


def _from_text(text: str) -> str:
    return os.fsdecode(text.encode("latin-1"))
