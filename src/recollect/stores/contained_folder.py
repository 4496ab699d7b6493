"""Open folders and files below a root, name by name, so that no link leads out of it.

Where the system can (Linux, macOS), every folder on the way is held open and the next name is looked up in it: swapping
a folder for a link at any moment gains nothing. Elsewhere each name is checked before it is used.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Final

from ..errors import Refused

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
