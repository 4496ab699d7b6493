"""Define the steps that a change is made of: each can be done, rolled back, undone, and done again after a failed undo.

A step is plain data, because it is written into the journal before anything happens. Paths are absolute. `folder` is always the
folder of the change in the journal. Each step has

    describe       return the step in words
    describe_undo  return in words what undoing the step does
    do             do the step; return the stamp of the file it wrote, if it wrote one
    roll_back      take the step back after a crash or a failure, however far it came; safe to repeat
    check_undo     raise if undoing the step would lose what was written since, or the copy in the journal is damaged
    undo           put back what was there before
    undo_rest      complete an undo that a crash interrupted
    redo           restore what the step had made, after a failed undo
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from ..errors import DamagedData, Refused, StoreBusy
from ..format.path_text import to_path
from ..store.stamp import Stamp, stamp_below, stamp_of
from . import disk
from .disk import hash_of

_GROWN = "grown.json"


def _ensure_time(path: Path | str, mtime_ns: int) -> None:
    """Set the modification time of a file if it differs."""
    now = stamp_of(path)
    if now is not None and now.mtime_ns != mtime_ns:
        disk.set_times(Path(path), mtime_ns)


def _damaged_copy(path: str, copy: Path, why: str) -> DamagedData:
    """Return the error for a copy in the journal that is missing or damaged, so that undoing would bring back other bytes."""
    return DamagedData(
        f"cannot undo: {path}: what the journal keeps of it {why}: {copy}", slug="damaged-journal",
        hint="nothing was changed; the journal itself lost it, so this change cannot be undone",
    )  # fmt: skip


def was_changed(path: str, why: str) -> Refused:
    """Return the error for a file that was changed since; the journal adds a hint to it."""
    return Refused(f"cannot undo: {path}: {why}", slug="changed-since")


class Append(Struct, tag="append"):
    """Append bytes to a file. `staged` names the file in the journal that holds them."""

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
            raise _damaged_copy(self.path, copy, "is missing")
        appended = copy.read_bytes()
        if len(appended) != self.length:
            raise _damaged_copy(self.path, copy, "is damaged")
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
            if _bytes_in(folder / self.staged).startswith(tail):  # no other program has written after them
                self._cut(self._size_before + len(tail))
        elif now.size == self.before.size:
            _ensure_time(self.path, self.before.mtime_ns)

    def undo_rest(self, folder: Path) -> None:
        self.roll_back(folder)

    def redo(self, folder: Path, was: Stamp | None) -> None:
        now = stamp_of(self.path)
        if now is None or now.size == self._size_before:
            data = (folder / self.staged).read_bytes()
            disk.append_bytes(Path(self.path), data, create=now is None, expected=None if now is None else now.size)
        if was is not None:
            _ensure_time(self.path, was.mtime_ns)


def _bytes_in(copy: Path) -> bytes:
    """Return the bytes of a file in the journal; none if it is lost, so that no byte in the home is taken for ours."""
    try:
        return copy.read_bytes()
    except FileNotFoundError:
        return b""


class Replace(Struct, tag="replace"):
    """Write a whole file, new or over another one. The staged bytes take its place in one rename."""

    path: str
    staged: str
    backup: str
    """The name of the old file in the folder of the change."""
    before: Stamp | None
    after_hash: str
    mtime_ns: int | None = None
    before_hash: str | None = None
    """The hash of the old file if the plan relied on its content (`Change.rely_on`): the copy must have it, too."""

    def describe(self) -> str:
        return f"{'write' if self.before is None else 'rewrite'} {self.path}"

    def describe_undo(self) -> str:
        return f"remove {self.path}" if self.before is None else f"put {self.path} back as it was"

    @property
    def _beside(self) -> Path:
        """The name beside the file to which bytes are copied first if the journal is on another file system."""
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
            # Another program wrote into the old file at the last moment; rolling back brings that back, too.
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
        """Raise if the copy is not the file that was replaced, by its hash if there is one, else by size and time."""
        now = stamp_of(copy)
        if now is None:
            raise _damaged_copy(self.path, copy, "is missing")
        if now != self.before or (self.before_hash is not None and hash_of(copy) != self.before_hash):
            raise _damaged_copy(self.path, copy, "is damaged")

    def undo(self, folder: Path) -> None:
        self._put_back(folder)
        if hash_of(folder / self.staged) != self.after_hash:
            raise StoreBusy(
                f"{self.path} was changed meanwhile", hint="nothing was undone; try again", slug="changed-meanwhile"
            )

    def _put_back(self, folder: Path) -> None:
        path, staged = Path(self.path), folder / self.staged
        if not staged.exists():  # kept for `redo`, with what other programs write into it until the last moment
            disk.link_or_copy(path, staged)
        if self.before is None:
            disk.remove_file(path)
        else:
            try:
                disk.copy_tree(folder / self.backup, self._beside)
            except OSError:
                with contextlib.suppress(OSError):  # half of a copy must not take the little room that is left
                    disk.remove_if_there(self._beside)
                raise
            disk.replace(self._beside, path)

    def roll_back(self, folder: Path) -> None:
        disk.remove_if_there(self._beside)
        if self.is_done(folder) and not self._is_as_before(folder):
            self._put_back(folder)

    def _is_as_before(self, folder: Path) -> bool:
        """Whether the new bytes equal the old ones and the time is the old one, so that there is nothing to put back.

        Putting it back all the same would fail on a disk that cannot be written, which may be why the change is rolled back.
        """
        return stamp_of(self.path) == self.before and hash_of(folder / self.backup) == self.after_hash

    def brought_back_another(self, folder: Path) -> bool:
        """Whether the copy that a rollback put back is not the file that was replaced.

        Another program wrote into it at the last moment, or the copy is damaged. Which of the two cannot be told, so the
        new bytes must be kept.
        """
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
            _ensure_time(path, was.mtime_ns)


class Mask(Struct, tag="mask"):
    """Replace a file by its masked bytes, and keep nothing of the old ones: this cannot be undone.

    Each file is replaced in one rename. After a crash or a failure, the files that were replaced stay as they are; the others
    are untouched, and the next masking finds them.
    """

    path: str
    staged: str
    before: Stamp
    before_hash: str
    after_hash: str

    def describe(self) -> str:
        return f"mask {self.path} (for good)"

    def describe_undo(self) -> str:
        return f"leave {self.path} masked"

    @property
    def _beside(self) -> Path:
        path = Path(self.path)
        return path.with_name(f".{path.name}.recollect-tmp")

    def do(self, folder: Path) -> Stamp | None:
        path, staged = Path(self.path), folder / self.staged
        disk.set_times(staged, self.before.mtime_ns)
        left = stamp_of(staged)
        disk.replace_for_good(staged, path, self._beside, self.before)
        return left if stamp_of(path) == left else None

    def is_done(self, folder: Path) -> bool:
        path = Path(self.path)
        return path.is_file() and hash_of(path) == self.after_hash

    def check_undo(self, folder: Path) -> None:
        raise masked_for_good(
            f"{self.path} was masked",
            "nothing of what stood there is kept; `recollect undo NUMBER` undoes an earlier change",
        )

    def undo(self, folder: Path) -> None:
        self.check_undo(folder)

    def roll_back(self, folder: Path) -> None:
        disk.remove_if_there(self._beside)
        disk.remove_if_there(folder / self.staged)

    def undo_rest(self, folder: Path) -> None:
        return

    def redo(self, folder: Path, was: Stamp | None) -> None:
        return


def masked_for_good(what: str, hint: str) -> Refused:
    """Return the error for a change that cannot be undone because secrets were masked."""
    return Refused(f"cannot undo: {what}", hint=hint, slug="masked-for-good")


class Move(Struct, tag="move"):
    """Rename a file or folder to a name that does not exist."""

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
    """Remove a file or folder from the home and keep it in the journal."""

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
        if (folder / "pruned").exists():  # the vault has it (`Journal.discard_backups`)
            return
        now = stamp_below(copy)
        if now is None:
            raise _damaged_copy(self.path, copy, "is missing")
        if now != read_left(folder).get(self.backup, now):  # earlier versions noted no stamp
            raise _damaged_copy(self.path, copy, "is damaged")

    def undo(self, folder: Path) -> None:
        _bring_back(folder / self.backup, Path(self.path))

    def roll_back(self, folder: Path) -> None:
        _move_back(Path(self.path), folder / self.backup)

    def undo_rest(self, folder: Path) -> None:
        self.roll_back(folder)

    def redo(self, folder: Path, was: Stamp | None) -> None:
        _move_back(folder / self.backup, Path(self.path))


def _bring_back(source: Path, target: Path) -> None:
    disk.make_above(target)
    disk.move(source, target)


def _move_back(source: Path, target: Path) -> None:
    """Bring `source` back if it was moved to `target`, however far a move in either direction came."""
    disk.settle_move(source, target)
    disk.settle_move(target, source)
    if os.path.lexists(target) and not os.path.lexists(source):
        _bring_back(target, source)


class MakeFolder(Struct, tag="folder"):
    """Make a folder. Undo removes it if it is empty."""

    path: str

    def describe(self) -> str:
        return f"make folder {self.path}"

    def describe_undo(self) -> str:
        return f"remove folder {self.path} if it is empty"

    def do(self, folder: Path) -> Stamp | None:
        if not Path(self.path).is_dir():  # another program may have made it meanwhile
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
    """Remove a folder that became empty."""

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
            disk.make_above(path)
            disk.make_folder(path, self.mode)

    def roll_back(self, folder: Path) -> None:
        self.undo(folder)

    def undo_rest(self, folder: Path) -> None:
        self.undo(folder)

    def redo(self, folder: Path, was: Stamp | None) -> None:
        path = Path(self.path)
        if path.is_dir() and not any(path.iterdir()):
            disk.remove_folder(path)


class AppendRecord(Struct):
    """What a writer had appended when it closed (`grown.json`)."""

    size: int
    """The size of the file, with the writer's lines."""
    tail_hash: str
    left: dict[str, Stamp] = {}
    """The stamp of the file, by its path; empty if another program wrote right after the last line."""


class AppendRun(Struct, tag="grow"):
    """Append line after line to a file, as a writer does: one step for all of its lines.

    The lines stay after a crash. They can be undone once the writer has closed.
    """

    path: str
    before: Stamp | None

    def describe(self) -> str:
        return f"append messages to {self.path}"

    def describe_undo(self) -> str:
        return (
            f"remove {self.path}"
            if self.before is None
            else f"cut {self.path} to its {self.before.size:,} bytes before"
        )

    def do(self, folder: Path) -> Stamp | None:
        return None

    @property
    def _size_before(self) -> int:
        return 0 if self.before is None else self.before.size

    def check_undo(self, folder: Path) -> None:
        if stamp_of(self.path) == self.before:
            return  # the writer ended before its first line
        grown = _read_append_record(folder)
        if grown is None:
            if (folder / _GROWN).exists():
                raise _damaged_copy(self.path, folder / _GROWN, "is damaged")
            problem = was_changed(self.path, "its writer ended without closing, so what it wrote is not known")
            problem.hint = f"nothing was changed; the journal has no {folder / _GROWN}, which says what may be cut off"
            raise problem
        if not self._is_as_left(grown):
            raise was_changed(self.path, "it was changed since")

    def _is_as_left(self, grown: AppendRecord) -> bool:
        now = stamp_of(self.path)
        if now is None or now.size != grown.size:
            return False
        return hash_of(Path(self.path), self._size_before) == grown.tail_hash

    def undo(self, folder: Path) -> None:
        grown = _read_append_record(folder)
        if grown is None or stamp_of(self.path) == self.before:
            return
        path = Path(self.path)
        disk.remove_if_there(folder / "tail")
        disk.write_new(folder / "tail", _from(path, self._size_before))  # kept for `redo`
        if self.before is None:
            disk.remove_file(path, expected=grown.size)
        else:  # only at the size that was checked: what other programs wrote since must not be cut off
            disk.truncate(path, self.before.size, expected=grown.size, mtime_ns=self.before.mtime_ns)

    def roll_back(self, folder: Path) -> None:
        return  # every line that `append` reported as written stays

    def undo_rest(self, folder: Path) -> None:
        grown = _read_append_record(folder)
        if grown is not None and self._is_as_left(grown):
            self.undo(folder)
        elif self.before is not None:
            now = stamp_of(self.path)
            if now is not None and now.size == self.before.size:
                _ensure_time(self.path, self.before.mtime_ns)

    def redo(self, folder: Path, was: Stamp | None) -> None:
        path, now = Path(self.path), stamp_of(self.path)
        if was is None:
            return
        if now is None or now.size == self._size_before != was.size:
            tail = (folder / "tail").read_bytes()
            disk.append_bytes(path, tail, create=now is None, expected=None if now is None else now.size)
        _ensure_time(path, was.mtime_ns)


def _read_append_record(folder: Path) -> AppendRecord | None:
    try:
        return msgspec.json.decode((folder / _GROWN).read_bytes(), type=AppendRecord)
    except (OSError, msgspec.MsgspecError):
        return None


def read_left(folder: Path) -> dict[str, Stamp]:
    """Return the stamps that a change left on its files, by path."""
    grown = _read_append_record(folder)
    if grown is not None:
        return {to_path(name): left for name, left in grown.left.items()}
    try:
        stamps = msgspec.json.decode((folder / "done").read_bytes(), type=dict[str, Stamp])
        return {to_path(name): left for name, left in stamps.items()}
    except (OSError, msgspec.MsgspecError):
        return {}


def _from(path: Path, offset: int) -> Iterator[bytes]:
    with open(path, "rb") as stream:
        stream.seek(offset)
        while chunk := stream.read(1 << 20):
            yield chunk


Action = Append | Replace | AppendRun | Mask | Move | Remove | MakeFolder | RemoveFolder
