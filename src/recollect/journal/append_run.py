"""A file to which a writer appends line after line: one step of the journal for all of its lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from ..format.path_text import to_path
from ..store.stamp import Stamp, stamp_of
from . import disk
from .content_hash import damaged_copy, ensure_time, hash_of, was_changed

_GROWN = "grown.json"


class AppendRecord(Struct):
    """What a writer had added when it closed (`grown.json`)."""

    size: int
    """Of the file, with its lines."""
    tail_hash: str
    left: dict[str, Stamp] = {}
    """How it left its file, unless somebody else wrote right behind its last line."""


class AppendRun(Struct, tag="grow"):
    """Lines of a writer. What it wrote stays after a crash; it can be undone once the writer has closed."""

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
        grown = read_append_record(folder)
        if grown is None:
            if (folder / _GROWN).exists():
                raise damaged_copy(self.path, folder / _GROWN, "is damaged")
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
        grown = read_append_record(folder)
        if grown is None or stamp_of(self.path) == self.before:
            return
        path = Path(self.path)
        disk.remove_if_there(folder / "tail")
        disk.write_new(folder / "tail", _from(path, self._size_before))  # kept for `redo`
        if self.before is None:
            disk.remove_file(path, expected=grown.size)
        else:  # of the size that was checked: what somebody wrote since must not go with it
            disk.truncate(path, self.before.size, expected=grown.size, mtime_ns=self.before.mtime_ns)

    def roll_back(self, folder: Path) -> None:
        return  # every line that was acknowledged stays

    def undo_rest(self, folder: Path) -> None:
        grown = read_append_record(folder)
        if grown is not None and self._is_as_left(grown):
            self.undo(folder)
        elif self.before is not None:
            now = stamp_of(self.path)
            if now is not None and now.size == self.before.size:
                ensure_time(self.path, self.before.mtime_ns)

    def redo(self, folder: Path, was: Stamp | None) -> None:
        path, now = Path(self.path), stamp_of(self.path)
        if was is None:
            return
        if now is None or now.size == self._size_before != was.size:
            tail = (folder / "tail").read_bytes()
            disk.append_bytes(path, tail, create=now is None, expected=None if now is None else now.size)
        ensure_time(path, was.mtime_ns)


def read_append_record(folder: Path) -> AppendRecord | None:
    try:
        return msgspec.json.decode((folder / _GROWN).read_bytes(), type=AppendRecord)
    except (OSError, msgspec.MsgspecError):
        return None


def read_left(folder: Path) -> dict[str, Stamp]:
    """How the change in this folder of the journal left its files."""
    grown = read_append_record(folder)
    if grown is not None:
        return {to_path(name): left for name, left in grown.left.items()}
    try:
        told = msgspec.json.decode((folder / "done").read_bytes(), type=dict[str, Stamp])
        return {to_path(name): left for name, left in told.items()}
    except (OSError, msgspec.MsgspecError):
        return {}


def _from(path: Path, offset: int) -> Iterator[bytes]:
    with open(path, "rb") as stream:
        stream.seek(offset)
        while chunk := stream.read(1 << 20):
            yield chunk
