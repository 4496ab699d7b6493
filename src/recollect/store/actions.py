"""What a change is made of: small steps that know how to be done, how to be undone, and how to tell whether they were.

A step is plain data (it is written into the journal before anything happens). Paths are absolute.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from ..errors import Refused
from . import disk


class Kept(Struct):
    """A file's identity at a moment: enough to know that nobody changed it since."""

    size: int
    mtime_ns: int


def kept(path: Path) -> Kept | None:
    """What stands there now; None where nothing does."""
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return None
    return Kept(info.st_size, info.st_mtime_ns)


class Append(Struct, tag="append"):
    """Bytes at the end of a file. `staged` names a file in the journal that holds them."""

    path: str
    staged: str
    before: Kept | None
    """None for a file that the step creates."""
    length: int
    keep_mtime: bool = False

    def describe(self) -> str:
        return f"append {self.length:,} bytes to {self.path}"

    def do(self, folder: Path) -> None:
        path = Path(self.path)
        disk.append_bytes(path, (folder / self.staged).read_bytes(), create=self.before is None)
        if self.keep_mtime and self.before is not None:
            disk.set_times(path, self.before.mtime_ns)

    @property
    def _size_before(self) -> int:
        return 0 if self.before is None else self.before.size

    def check_undo(self, folder: Path) -> None:
        path = Path(self.path)
        now = kept(path)
        if now is None:
            raise _changed(self.path, "it is gone")
        if now.size != self._size_before + self.length:
            raise _changed(self.path, "it has grown or shrunk since")
        with open(path, "rb") as stream:
            stream.seek(self._size_before)
            if stream.read() != (folder / self.staged).read_bytes():
                raise _changed(self.path, "its end is no longer what was appended")

    def undo(self, folder: Path) -> None:
        path = Path(self.path)
        if self.before is None:
            disk.remove_file(path)
            return
        disk.truncate(path, self.before.size)
        disk.set_times(path, self.before.mtime_ns)

    def roll_back(self, folder: Path) -> None:
        """After a crash: take away what was written of it, if nothing else came behind."""
        path = Path(self.path)
        now = kept(path)
        if now is None or now.size <= self._size_before:
            if self.before is None and now is not None and now.size == 0:
                disk.remove_file(path)
            return
        with open(path, "rb") as stream:
            stream.seek(self._size_before)
            tail = stream.read(self.length + 1)
        if (folder / self.staged).read_bytes().startswith(tail):
            self.undo(folder)


class Replace(Struct, tag="replace"):
    """A whole file, new or in place of another. The new bytes wait in the journal until they take its place, at once."""

    path: str
    staged: str
    backup: str
    """Name inside the journal under which the old file is kept."""
    before: Kept | None
    after_sha256: str
    mtime_ns: int | None = None

    def describe(self) -> str:
        return f"{'write' if self.before is None else 'rewrite'} {self.path}"

    @property
    def _beside(self) -> Path:
        """Where the bytes are copied to first if the journal is on another file system."""
        path = Path(self.path)
        return path.with_name(f".{path.name}.recollect-tmp")

    def do(self, folder: Path) -> None:
        path, staged = Path(self.path), folder / self.staged
        if self.mtime_ns is not None:
            disk.set_times(staged, self.mtime_ns)
        if self.before is not None:
            disk.link_or_copy(path, folder / self.backup)
            disk.sync_folder(folder)
        elif os.path.lexists(path):
            raise Refused(f"{path} exists already", slug="exists")
        disk.put_in_place(staged, path, self._beside)

    def is_done(self, folder: Path) -> bool:
        if self.before is not None and not (folder / self.backup).exists():
            return False
        path = Path(self.path)
        return path.is_file() and sha256_of(path) == self.after_sha256

    def check_undo(self, folder: Path) -> None:
        path = Path(self.path)
        if kept(path) is None:
            raise _changed(self.path, "it is gone")
        if sha256_of(path) != self.after_sha256:
            raise _changed(self.path, "it was changed since")

    def undo(self, folder: Path) -> None:
        path = Path(self.path)
        if self.before is None:
            disk.remove_file(path)
        else:
            _put_back(folder / self.backup, path, self.before.mtime_ns)

    def roll_back(self, folder: Path) -> None:
        with contextlib.suppress(FileNotFoundError):
            disk.remove_file(self._beside)
        if self.is_done(folder):
            self.undo(folder)


class Grow(Struct, tag="grow"):
    """A file to which a writer appends line after line. What it added is known when it closes (`grown.json`)."""

    path: str
    before: Kept | None

    def describe(self) -> str:
        return f"append messages to {self.path}"

    def do(self, folder: Path) -> None:
        return

    def check_undo(self, folder: Path) -> None:
        grown = read_grown(folder)
        path = Path(self.path)
        now = kept(path)
        if grown is None:
            raise _changed(self.path, "its writer ended without closing, so what it wrote is not known")
        if now is None or now.size != grown.size or _tail_sha256(path, self._size_before) != grown.tail_sha256:
            raise _changed(self.path, "it was changed since")

    @property
    def _size_before(self) -> int:
        return 0 if self.before is None else self.before.size

    def undo(self, folder: Path) -> None:
        path = Path(self.path)
        if self.before is None:
            disk.remove_file(path)
        else:
            disk.truncate(path, self.before.size)
            disk.set_times(path, self.before.mtime_ns)

    def roll_back(self, folder: Path) -> None:
        return  # every line that was acknowledged stays


class Grown(Struct):
    size: int
    tail_sha256: str


def read_grown(folder: Path) -> Grown | None:
    try:
        return msgspec.json.decode((folder / "grown.json").read_bytes(), type=Grown)
    except (OSError, msgspec.MsgspecError):
        return None


def _tail_sha256(path: Path, offset: int) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        stream.seek(offset)
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


class Move(Struct, tag="move"):
    """A file or folder under a new name that did not exist."""

    path: str
    target: str

    def describe(self) -> str:
        return f"move {self.path} to {self.target}"

    def do(self, folder: Path) -> None:
        disk.move(Path(self.path), Path(self.target))

    def is_done(self) -> bool:
        return not os.path.lexists(self.path) and os.path.lexists(self.target)

    def check_undo(self, folder: Path) -> None:
        if os.path.lexists(self.path):
            raise _changed(self.path, "something else stands there now")
        if not os.path.lexists(self.target):
            raise _changed(self.target, "it is gone")

    def undo(self, folder: Path) -> None:
        disk.move(Path(self.target), Path(self.path))

    def roll_back(self, folder: Path) -> None:
        if self.is_done():
            self.undo(folder)


class Remove(Struct, tag="remove"):
    """A file or folder taken out of the home and kept in the journal."""

    path: str
    backup: str

    def describe(self) -> str:
        return f"remove {self.path} (kept for undo)"

    def do(self, folder: Path) -> None:
        disk.move(Path(self.path), folder / self.backup)

    def check_undo(self, folder: Path) -> None:
        if os.path.lexists(self.path):
            raise _changed(self.path, "something else stands there now")
        if not os.path.lexists(folder / self.backup):
            raise _changed(self.path, "its copy in the journal is gone")

    def undo(self, folder: Path) -> None:
        disk.move(folder / self.backup, Path(self.path))

    def roll_back(self, folder: Path) -> None:
        if not os.path.lexists(self.path) and os.path.lexists(folder / self.backup):
            self.undo(folder)


class MakeFolder(Struct, tag="folder"):
    path: str

    def describe(self) -> str:
        return f"make folder {self.path}"

    def do(self, folder: Path) -> None:
        if not Path(self.path).is_dir():  # somebody else may have made it meanwhile
            disk.make_folder(Path(self.path))

    def check_undo(self, folder: Path) -> None:
        return

    def undo(self, folder: Path) -> None:
        with contextlib.suppress(FileNotFoundError):
            if not any(Path(self.path).iterdir()):
                disk.remove_folder(Path(self.path))

    def roll_back(self, folder: Path) -> None:
        self.undo(folder)


class RemoveFolder(Struct, tag="remove-folder"):
    """A folder that became empty."""

    path: str
    mtime_ns: int

    def describe(self) -> str:
        return f"remove empty folder {self.path}"

    def do(self, folder: Path) -> None:
        disk.remove_folder(Path(self.path))

    def check_undo(self, folder: Path) -> None:
        return

    def undo(self, folder: Path) -> None:
        if not Path(self.path).exists():
            disk.make_folder(Path(self.path))

    def roll_back(self, folder: Path) -> None:
        self.undo(folder)


Action = Append | Replace | Grow | Move | Remove | MakeFolder | RemoveFolder


def _put_back(backup: Path, path: Path, mtime_ns: int) -> None:
    """The kept file takes its old place again, whatever the file systems."""
    beside = path.with_name(f".{path.name}.recollect-undo")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(beside)
    disk.copy_tree(backup, beside)
    disk.set_times(beside, mtime_ns)
    disk.replace(beside, path)


def _changed(path: str, why: str) -> Refused:
    return Refused(
        f"cannot undo: {path}: {why}",
        hint="undo later changes first (`recollect changes`), or restore the file by hand from the journal",
        slug="changed-since",
    )


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    for chunk in _chunks(path):
        digest.update(chunk)
    return digest.hexdigest()


def _chunks(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as stream:
        while chunk := stream.read(1 << 20):
            yield chunk
