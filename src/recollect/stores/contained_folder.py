"""Open folders and files below a root, name by name, so that no link leads out of it.

Where the system can (Linux, macOS), every folder on the way is held open and the next name is looked up in it: swapping
a folder for a link at any moment gains nothing. Elsewhere each name is checked before it is used.

Also: lock an open file against other processes, and track how far a growing file was read and whether it is still the same.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Final

from ..errors import Refused, StoreBusy
from .entry_text import digest_of

_FIRST_PAUSE: Final = 0.001
_LONGEST_PAUSE: Final = 0.05

if sys.platform == "win32":
    import msvcrt

    _FAR_OUT: Final = 1 << 62
    """Windows locks bytes, and a locked byte cannot be read: so the lock is on a byte beyond the end of any file."""

    def _try_lock(fd: int) -> None:
        os.lseek(fd, _FAR_OUT, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def lock_file(fd: int, path: str, wait: float) -> None:
    """Take the lock. Raises StoreBusy after `wait` seconds."""
    deadline = time.monotonic() + wait
    pause = _FIRST_PAUSE
    while True:
        try:
            _try_lock(fd)
            return
        except (BlockingIOError, PermissionError):
            if time.monotonic() + pause > deadline:
                raise StoreBusy(
                    f"another process holds {path} for more than {wait:g} s",
                    hint="try again when it has finished",
                    slug="store-busy",
                ) from None
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


_LOOKED_BACK: Final = 1024
"""Bytes before the mark that identify a file: they include ids of rows and times."""
_REMEMBERED_FILES: Final = 32


@dataclass(frozen=True, slots=True)
class Mark:
    """A position up to which a file was read. `tail` is a hash of the bytes just before `offset`."""

    offset: int = 0
    tail: str = ""

    def holds(self, fd: int) -> bool:
        """Return whether the file still has those bytes there: it was not cut, replaced or rewritten."""
        return self.offset == 0 or mark_at(fd, self.offset) == self


def mark_at(fd: int, offset: int) -> Mark:
    """Return the mark of a position in a file; the mark of position 0 if the file is shorter."""
    start = max(0, offset - _LOOKED_BACK)
    tail = read_at(fd, start, offset - start)
    if not tail or start + len(tail) != offset:
        return Mark()
    return Mark(offset, blake2b(tail, digest_size=8).hexdigest())


def read_at(fd: int, offset: int, length: int) -> bytes:
    os.lseek(fd, offset, os.SEEK_SET)
    parts = []
    while length > 0:
        data = os.read(fd, length)
        if not data:
            break
        parts.append(data)
        length -= len(data)
    return b"".join(parts)


def lines_from(fd: int, offset: int) -> Iterator[bytes]:
    """Yield the lines from `offset` to the end, with their line feeds."""
    with open(fd, "rb", buffering=1 << 20, closefd=False) as stream:
        stream.seek(offset)
        yield from stream


@dataclass(slots=True)
class _Known:
    mark: Mark = field(default_factory=Mark)
    digests: set[bytes] = field(default_factory=set)


class KnownLines:
    """Digests of the lines in recently appended files. Only what is new since the last call is read."""

    def __init__(self) -> None:
        self._files: OrderedDict[tuple[int, int], _Known] = OrderedDict()

    def of(self, fd: int) -> set[bytes]:
        """Return the digests of the complete lines of an open file that nobody else is appending to."""
        known = self._entry(fd)
        offset = known.mark.offset
        for line in lines_from(fd, offset):
            if line.endswith(b"\n"):
                offset += len(line)
                known.digests.add(digest_of(line.rstrip(b"\r\n")))
        known.mark = mark_at(fd, offset)
        return known.digests

    def distrust(self, fd: int) -> None:
        """Forget what was just written, after an error: it may be lost, and is written again if it comes again."""
        known = self._entry(fd)
        known.mark = mark_at(fd, os.fstat(fd).st_size)

    def _entry(self, fd: int) -> _Known:
        info = os.fstat(fd)
        identity = (info.st_dev, info.st_ino)
        known = self._files.pop(identity, None)
        if known is None or not known.mark.offset or not known.mark.holds(fd):
            known = _Known()
        self._files[identity] = known
        while len(self._files) > _REMEMBERED_FILES:
            self._files.popitem(last=False)
        return known


_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_FLAGS: Final = _NOFOLLOW | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER_FLAGS: Final = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_DIRECTORY", 0)
CAN_HOLD_FOLDERS: Final = bool(_NOFOLLOW) and os.open in os.supports_dir_fd and os.listdir in os.supports_fd


class ContainedFolder:
    """One folder below the root, or the root. Use as a context manager; `child` opens the next one down."""

    def __init__(self, path: str, fd: int | None) -> None:
        self.path = path
        self._fd = fd

    @classmethod
    def root(cls, path: Path, *, create: bool = False, hold: bool = CAN_HOLD_FOLDERS) -> ContainedFolder:
        """Open the root, which may itself be a link: it is what the user named."""
        if create:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hold:
            return cls(str(path), os.open(path, _FOLDER_FLAGS))
        if not path.is_dir():
            raise FileNotFoundError(errno.ENOENT, "no such folder", str(path))
        return cls(str(path), None)

    def child(self, name: str, *, create: bool = False, sync: bool = False) -> ContainedFolder:
        """Open a folder in this one. Raises FileNotFoundError, or Refused if it is a link or not a folder."""
        if create:
            with contextlib.suppress(FileExistsError):
                os.mkdir(self._at(name), 0o700, dir_fd=self._fd)
                if sync:
                    self.sync()
        path = os.path.join(self.path, name)
        if self._fd is None:
            self._refuse_unless(stat.S_ISDIR, name, self.stat(name).st_mode)
            return ContainedFolder(path, None)
        try:
            return ContainedFolder(path, os.open(name, _FOLDER_FLAGS | _NOFOLLOW, dir_fd=self._fd))
        except OSError as problem:
            if problem.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
                self._refuse_unless(stat.S_ISDIR, name, self.stat(name).st_mode)
            raise

    def open_file(self, name: str, flags: int) -> int:
        """Open a regular file in this folder and return its descriptor.

        Raises FileNotFoundError, or Refused for links, pipes and the like.
        """
        if not _NOFOLLOW:
            with contextlib.suppress(FileNotFoundError):
                self._refuse_unless(stat.S_ISREG, name, self.stat(name).st_mode)
        try:
            fd = os.open(self._at(name), flags | _FLAGS, 0o600, dir_fd=self._fd)
        except OSError as problem:
            if problem.errno in (errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO):
                self._refuse_unless(stat.S_ISREG, name, self.stat(name).st_mode)
            raise
        try:
            self._refuse_unless(stat.S_ISREG, name, os.fstat(fd).st_mode)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def stat(self, name: str) -> os.stat_result:
        return os.stat(self._at(name), dir_fd=self._fd, follow_symlinks=False)

    def has(self, name: str, fd: int) -> bool:
        """Return whether this open file still has that name."""
        try:
            return os.path.samestat(self.stat(name), os.fstat(fd))
        except FileNotFoundError:
            return False

    def names(self) -> list[str]:
        return sorted(os.listdir(self.path if self._fd is None else self._fd))

    def walk(self, parts: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        """Yield every regular file below, as the names that lead to it. Links are not followed."""
        for name in self.names():
            with contextlib.suppress(FileNotFoundError):
                mode = self.stat(name).st_mode
                if stat.S_ISREG(mode):
                    yield (*parts, name)
                elif stat.S_ISDIR(mode):
                    with self.child(name) as folder:
                        yield from folder.walk((*parts, name))

    def write_whole(self, name: str, data: bytes) -> None:
        """Replace a small file atomically. It is not synced, so only for what can be rebuilt. One writer at a time."""
        fresh = f"{name}.new"
        with contextlib.suppress(FileNotFoundError):  # left by a killed writer, or planted as a link
            self.unlink(fresh)
        fd = self.open_file(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        with open(fd, "wb") as stream:
            stream.write(data)
        os.replace(self._at(fresh), self._at(name), src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def unlink(self, name: str) -> None:
        os.unlink(self._at(name), dir_fd=self._fd)

    def remove_empty(self, name: str) -> None:
        """Remove a folder and the folders in it, as far as they are empty."""
        with contextlib.suppress(OSError, Refused):
            with self.child(name) as folder:
                for inner in folder.names():
                    if stat.S_ISDIR(folder.stat(inner).st_mode):
                        folder.remove_empty(inner)
            os.rmdir(self._at(name), dir_fd=self._fd)

    def sync(self) -> None:
        """Make the names in this folder durable. Systems that cannot open folders do not need it."""
        if self._fd is not None:
            os.fsync(self._fd)
        elif os.name != "nt":
            fd = os.open(self.path, _FOLDER_FLAGS)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def __enter__(self) -> ContainedFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _at(self, name: str) -> str:
        return name if self._fd is not None else os.path.join(self.path, name)

    def _refuse_unless(self, fits: Callable[[int], bool], name: str, mode: int) -> None:
        if fits(mode):
            return
        what = "a link" if stat.S_ISLNK(mode) else "not a folder" if fits is stat.S_ISDIR else "not a regular file"
        raise Refused(
            f"{os.path.join(self.path, name)} is {what}",
            hint="links inside a store are not followed; name the folder itself as the store's root",
            slug="outside-home" if stat.S_ISLNK(mode) else "not-a-file",
        )
