"""Every read inside a home goes through here: nothing outside it, no secret, no pipe or device is ever opened.

A link is followed only if it ends inside the home. The check is made on the opened file itself (where the system can
tell its path), so swapping a folder for a link between check and open gains nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from ..errors import DamagedData, NotFound, Refused
from .home import Home

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


def is_secret(path: Path | str) -> bool:
    """Tokens and credentials: never opened, never shown."""
    name = os.path.basename(path).lower()
    return name.endswith(".key") or name == ".credentials.json" or name.startswith(".credentials.json")


def is_inside(home: Home, path: Path | str) -> bool:
    """Whether a path, all links resolved, lies in the home (or is its config file)."""
    try:
        real = os.path.realpath(path)
    except ValueError:  # a NUL byte: no such path can be
        return False
    return _below(home.real_root, real) or real == os.path.realpath(home.config_file)


def open_inside(home: Home, path: Path, *, buffering: int = 1 << 20) -> BinaryIO:
    """A regular file inside the home, opened for reading. Raises Refused, NotFound or DamagedData (unreadable)."""
    if is_secret(path):
        raise Refused(f"{path.name} holds secrets and is never read", slug="secret")
    if "\x00" in str(path):
        raise Refused("a path with a NUL byte", slug="outside-home")
    try:
        fd = _open(home, path)
    except FileNotFoundError as problem:
        raise NotFound(f"no such file: {path}", slug="no-such-file") from problem
    except OSError as problem:
        raise DamagedData(f"cannot read {path}: {problem.strerror or problem}", slug="unreadable-file") from problem
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise Refused(f"{path} is not a regular file", slug="not-a-file")
        real = _real_path(fd, path)
        if is_secret(real):  # a link of an innocent name
            raise Refused(f"{path} leads to secrets, which are never read", slug="secret")
        if not _below(home.real_root, real) and not _is_config(home, fd, path):
            raise Refused(f"{path} leads out of {home.root}", slug="outside-home")
        return os.fdopen(fd, "rb", buffering=buffering)
    except BaseException:
        with contextlib.suppress(OSError):
            os.close(fd)
        raise


def _open(home: Home, path: Path) -> int:
    try:
        return os.open(path, _FLAGS | _NOFOLLOW)
    except OSError as problem:
        if problem.errno not in (errno.ELOOP, errno.EMLINK):
            raise
    real = os.path.realpath(path)
    if not _below(home.real_root, real):
        raise Refused(f"{path} is a link that leads out of {home.root}", slug="outside-home")
    return os.open(real, _FLAGS | _NOFOLLOW)


def read_inside(home: Home, path: Path, limit: int | None = None) -> bytes:
    """The bytes of a file inside the home, at most `limit` of them."""
    with open_inside(home, path, buffering=0) as stream:
        if limit is not None:
            return _read_up_to(stream, limit)
        return stream.read()


def _read_up_to(stream: BinaryIO, limit: int) -> bytes:
    parts: list[bytes] = []
    while limit > 0:
        data = stream.read(limit)
        if not data:
            break
        parts.append(data)
        limit -= len(data)
    return b"".join(parts)


def list_inside(home: Home, folder: Path) -> list[Path]:
    """What is in a folder of the home, by name. Empty where it does not exist, cannot be read, or leads out of the home."""
    if not is_inside(home, folder):
        return []
    try:
        return sorted(folder / name for name in os.listdir(folder))
    except OSError:
        return []


def contained(home: Home, text: str) -> Path:
    """A path that a user gave, which must lie inside the home."""
    path = Path(text)
    if not path.is_absolute():
        path = home.root / path
    if "\x00" in text or not is_inside(home, path):
        raise Refused(f"{text} is outside of {home.root}", slug="outside-home")
    return path


def _below(root: str, real: str) -> bool:
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)


def _real_path(fd: int, path: Path) -> str:
    """The path of an open file as the system knows it; where it cannot tell, the path's own resolution."""
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return os.path.realpath(path)


def _is_config(home: Home, fd: int, path: Path) -> bool:
    """The config file of ``~/.claude`` stands beside it."""
    if Path(path) != home.config_file:
        return False
    try:
        return os.path.samestat(os.fstat(fd), os.stat(home.config_file, follow_symlinks=False))
    except OSError:
        return False
