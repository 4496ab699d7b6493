"""What a change is made of: small steps that know how to be done, undone and done again, and how far they came.

A step is plain data (it is written into the journal before anything happens). Paths are absolute. Each has

    do          carry it out; answers how it left the file, where it wrote one
    describe    the step in words, and `describe_undo` what undoing it does
    roll_back   after a crash or a failure, at whatever point: as if it had never been; again and again with the same result
    check_undo  raise where undoing would lose what somebody did since
    undo        take it back
    undo_rest   after a crash within `undo`: what is missing of it
    redo        after a failure within `undo`: as it was before that
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from msgspec import Struct

from ..errors import DamagedData, Refused, StoreBusy
from ..store.stamp import Stamp as Stamp
from ..store.stamp import stamp_below
from ..store.stamp import stamp_of as stamp_of
from . import disk
from .append_run import AppendRun as AppendRun
from .append_run import read_left
from .content_hash import damaged_copy, ensure_time, hash_of, was_changed
from .parent_folders import make_above


class Append(Struct, tag="append"):
    """Bytes at the end of a file. `staged` names a file in the journal that holds them."""

    path: str
    staged: str
    before: Stamp | None
    """None for a file that the step creates."""
    length: int
    keep_mtime: bool = False

    def describe(self) -> str:
        return f"append {self.length:,} bytes to {self.path}"

    def describe_undo(self) -> str:
        return f"remove {self.path}" if self.before is None else f"cut {self.length:,} bytes off {self.path}"

    def do(self, folder: Path) -> Stamp | None:
        data = (folder / self.staged).read_bytes()
        if self.before is None:
            return disk.append_bytes(Path(self.path), data, create=True).left
        mtime = self.before.mtime_ns if self.keep_mtime else None
        return disk.append_bytes(Path(self.path), data, expected=self.before.size, mtime_ns=mtime).left

    @property
    def _size_before(self) -> int:
        return 0 if self.before is None else self.before.size

    def check_undo(self, folder: Path) -> None:
        now = stamp_of(self.path)
        if now is None:
            raise was_changed(self.path, "it is gone")
        if now.size != self._size_before + self.length:
            raise was_changed(self.path, "it has grown or shrunk since")
        copy = folder / self.staged
        if not copy.exists():
            raise damaged_copy(self.path, copy, "is missing")
        appended = copy.read_bytes()
        if len(appended) != self.length:
            raise damaged_copy(self.path, copy, "is damaged")
        if self._tail() != appended:
            raise was_changed(self.path, "its end is no longer what was appended")

    def _tail(self) -> bytes:
        with open(self.path, "rb") as stream:
            stream.seek(self._size_before)
            return stream.read(self.length + 1)

    def undo(self, folder: Path) -> None:
        self._cut(self._size_before + self.length)

    def _cut(self, size_now: int) -> None:
        if self.before is None:
            disk.remove_file(Path(self.path), expected=size_now)
        else:
            disk.truncate(Path(self.path), self.before.size, expected=size_now, mtime_ns=self.before.mtime_ns)

    def roll_back(self, folder: Path) -> None:
        now = stamp_of(self.path)
        if now is None:
            return
        if now.size > self._size_before or self.before is None:
            tail = self._tail()
            if _bytes_in(folder / self.staged).startswith(tail):  # nothing of anybody else came behind
                self._cut(self._size_before + len(tail))
        elif now.size == self.before.size:
            ensure_time(self.path, self.before.mtime_ns)

    def undo_rest(self, folder: Path) -> None:
        self.roll_back(folder)

    def redo(self, folder: Path, was: Stamp | None) -> None:
        now = stamp_of(self.path)
        if now is None or now.size == self._size_before:
            data = (folder / self.staged).read_bytes()
            disk.append_bytes(Path(self.path), data, create=now is None, expected=None if now is None else now.size)
        if was is not None:
            ensure_time(self.path, was.mtime_ns)


def _bytes_in(copy: Path) -> bytes:
    """Nothing, where the journal lost it: then no byte of a file is known to be ours, and rolling back goes on."""
    try:
        return copy.read_bytes()
    except FileNotFoundError:
        return b""


class Replace(Struct, tag="replace"):
    """A whole file, new or in place of another. The new bytes wait in the journal until they take its place, at once."""

    path: str
    staged: str
    backup: str
    """Name inside the journal under which the old file is kept."""
    before: Stamp | None
    after_hash: str
    mtime_ns: int | None = None
    before_hash: str | None = None
    """Of the file as it was read, where that matters: then the copy must have it before anything takes its place."""

    def describe(self) -> str:
        return f"{'write' if self.before is None else 'rewrite'} {self.path}"

    def describe_undo(self) -> str:
        return f"remove {self.path}" if self.before is None else f"put {self.path} back as it was"

    @property
    def _beside(self) -> Path:
        """Where the bytes are copied to first if the journal is on another file system."""
        path = Path(self.path)
        return path.with_name(f".{path.name}.recollect-tmp")

    def do(self, folder: Path) -> Stamp | None:
        path, staged, backup = Path(self.path), folder / self.staged, folder / self.backup
        if self.mtime_ns is not None:
            disk.set_times(staged, self.mtime_ns)
        if self.before is not None:
            disk.link_or_copy(path, backup)
            disk.sync_folder(folder)
            if self.before_hash is not None and hash_of(backup) != self.before_hash:
                raise DamagedData(
                    f"the copy of {path} in {backup} is not what was read", slug="backup-differs",
                    hint="nothing was changed; try again, and if it happens again look at the disk",
                )  # fmt: skip
        elif os.path.lexists(path):
            raise Refused(f"{path} exists already", slug="exists")
        left = stamp_of(staged)
        disk.put_in_place(staged, path, self._beside)
        if self.before is not None and stamp_of(backup) != self.before:
            # Somebody wrote into the old file at the last moment; rolling back keeps what they wrote.
            raise StoreBusy(
                f"{path} was changed meanwhile", hint="nothing was done; try again", slug="changed-meanwhile"
            )
        return left

    def is_done(self, folder: Path) -> bool:
        if self.before is not None and not (folder / self.backup).exists():
            return False
        path = Path(self.path)
        return path.is_file() and hash_of(path) == self.after_hash

    def check_undo(self, folder: Path) -> None:
        path = Path(self.path)
        if stamp_of(path) is None:
            raise was_changed(self.path, "it is gone")
        if hash_of(path) != self.after_hash:
            raise was_changed(self.path, "it was changed since")
        if self.before is not None:
            self._check_copy(folder / self.backup)

    def _check_copy(self, copy: Path) -> None:
        """It must be the file that was replaced; where no hash tells, size and time do, as they did when it was kept."""
        now = stamp_of(copy)
        if now is None:
            raise damaged_copy(self.path, copy, "is missing")
        if now != self.before or (self.before_hash is not None and hash_of(copy) != self.before_hash):
            raise damaged_copy(self.path, copy, "is damaged")

    def undo(self, folder: Path) -> None:
        self._put_back(folder)
        if hash_of(folder / self.staged) != self.after_hash:
            raise StoreBusy(
                f"{self.path} was changed meanwhile", hint="nothing was undone; try again", slug="changed-meanwhile"
            )

    def _put_back(self, folder: Path) -> None:
        path, staged = Path(self.path), folder / self.staged
        if not staged.exists():  # kept for `redo`, with whatever somebody writes into it until the last moment
            disk.link_or_copy(path, staged)
        if self.before is None:
            disk.remove_file(path)
        else:
            try:
                disk.copy_tree(folder / self.backup, self._beside)
            except OSError:
                with contextlib.suppress(OSError):  # where there is no room, half of a copy must not take it too
                    disk.remove_if_there(self._beside)
                raise
            disk.replace(self._beside, path)

    def roll_back(self, folder: Path) -> None:
        disk.remove_if_there(self._beside)
        if self.is_done(folder) and not self._is_as_before(folder):
            self._put_back(folder)

    def _is_as_before(self, folder: Path) -> bool:
        """Whether old and new bytes are the same, and the time is the old one: nothing is to be written, nor could it be
        where that was the reason for rolling back."""
        return stamp_of(self.path) == self.before and hash_of(folder / self.backup) == self.after_hash

    def brought_back_another(self, folder: Path) -> bool:
        """Whether what stood in the journal when it was rolled back was not what was replaced: somebody wrote into it at the
        last moment, or the copy is damaged. Nobody can tell which, so what it takes the place of is to be kept."""
        copy = stamp_of(folder / self.backup)
        return copy is not None and copy != self.before

    def undo_rest(self, folder: Path) -> None:
        self.roll_back(folder)

    def redo(self, folder: Path, was: Stamp | None) -> None:
        disk.remove_if_there(self._beside)
        path, staged = Path(self.path), folder / self.staged
        if not self.is_done(folder) and staged.exists():
            disk.put_in_place(staged, path, self._beside)
        if was is not None:
            ensure_time(path, was.mtime_ns)


class Move(Struct, tag="move"):
    """A file or folder under a new name that did not exist."""

    path: str
    target: str

    def describe(self) -> str:
        return f"move {self.path} to {self.target}"

    def describe_undo(self) -> str:
        return f"move {self.target} back to {self.path}"

    def do(self, folder: Path) -> Stamp | None:
        disk.move(Path(self.path), Path(self.target))
        return None

    def check_undo(self, folder: Path) -> None:
        if os.path.lexists(self.path):
            raise was_changed(self.path, "something else stands there now")
        if not os.path.lexists(self.target):
            raise was_changed(self.target, "it is gone")

    def undo(self, folder: Path) -> None:
        _bring_back(Path(self.target), Path(self.path))

    def roll_back(self, folder: Path) -> None:
        _move_back(Path(self.path), Path(self.target))

    def undo_rest(self, folder: Path) -> None:
        self.roll_back(folder)

    def redo(self, folder: Path, was: Stamp | None) -> None:
        _move_back(Path(self.target), Path(self.path))


class Remove(Struct, tag="remove"):
    """A file or folder taken out of the home and kept in the journal."""

    path: str
    backup: str

    def describe(self) -> str:
        return f"remove {self.path} (kept for undo)"

    def describe_undo(self) -> str:
        return f"bring {self.path} back"

    def do(self, folder: Path) -> Stamp | None:
        disk.move(Path(self.path), folder / self.backup)
        return None

    def check_undo(self, folder: Path) -> None:
        if os.path.lexists(self.path):
            raise was_changed(self.path, "something else stands there now")
        copy = folder / self.backup
        if (folder / "pruned").exists():  # the vault has it; see letting_go.py
            return
        now = stamp_below(copy)
        if now is None:
            raise damaged_copy(self.path, copy, "is missing")
        if now != read_left(folder).get(self.backup, now):  # earlier versions noted nothing
            raise damaged_copy(self.path, copy, "is damaged")

    def undo(self, folder: Path) -> None:
        _bring_back(folder / self.backup, Path(self.path))

    def roll_back(self, folder: Path) -> None:
        _move_back(Path(self.path), folder / self.backup)

    def undo_rest(self, folder: Path) -> None:
        self.roll_back(folder)

    def redo(self, folder: Path, was: Stamp | None) -> None:
        _move_back(folder / self.backup, Path(self.path))


def _bring_back(source: Path, target: Path) -> None:
    make_above(target)
    disk.move(source, target)


def _move_back(source: Path, target: Path) -> None:
    """`source` again where it was, if it was moved to `target`, however far that came in either direction."""
    disk.settle_move(source, target)
    disk.settle_move(target, source)
    if os.path.lexists(target) and not os.path.lexists(source):
        _bring_back(target, source)


class MakeFolder(Struct, tag="folder"):
    path: str

    def describe(self) -> str:
        return f"make folder {self.path}"

    def describe_undo(self) -> str:
        return f"remove folder {self.path} if it is empty"

    def do(self, folder: Path) -> Stamp | None:
        if not Path(self.path).is_dir():  # somebody else may have made it meanwhile
            disk.make_folder(Path(self.path))
        return None

    def check_undo(self, folder: Path) -> None:
        return

    def undo(self, folder: Path) -> None:
        path = Path(self.path)
        if path.is_dir() and not any(path.iterdir()):
            disk.remove_folder(path)

    def roll_back(self, folder: Path) -> None:
        self.undo(folder)

    def undo_rest(self, folder: Path) -> None:
        self.undo(folder)

    def redo(self, folder: Path, was: Stamp | None) -> None:
        self.do(folder)


class RemoveFolder(Struct, tag="remove-folder"):
    """A folder that became empty."""

    path: str
    mtime_ns: int
    mode: int = 0o700

    def describe(self) -> str:
        return f"remove empty folder {self.path}"

    def describe_undo(self) -> str:
        return f"make folder {self.path}"

    def do(self, folder: Path) -> Stamp | None:
        disk.remove_folder(Path(self.path))
        return None

    def check_undo(self, folder: Path) -> None:
        return

    def undo(self, folder: Path) -> None:
        path = Path(self.path)
        if not path.exists():
            make_above(path)
            disk.make_folder(path, self.mode)

    def roll_back(self, folder: Path) -> None:
        self.undo(folder)

    def undo_rest(self, folder: Path) -> None:
        self.undo(folder)

    def redo(self, folder: Path, was: Stamp | None) -> None:
        path = Path(self.path)
        if path.is_dir() and not any(path.iterdir()):
            disk.remove_folder(path)


Action = Append | Replace | AppendRun | Move | Remove | MakeFolder | RemoveFolder
