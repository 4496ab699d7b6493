"""Opening a file of a home for reading: no secret, no pipe or device, nothing that a link leads away to.

The check is made on the opened file itself (where the system can tell its path), so swapping a folder for a link between
check and open gains nothing. Imports little, for whoever has to start fast; `paths` builds on it.
"""

from __future__ import annotations

import errno
import os
import stat

from ..errors import DamagedData, NotFound, Refused
from ..format.secret_names import is_secret_file_name
from .links import is_below as is_below
from .links import is_part_of

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


def is_secret(path: str | os.PathLike[str]) -> bool:
    """Whether the file at this path holds tokens or keys: never opened, never shown."""
    return is_secret_file_name(os.path.basename(path))


def open_below(root: str, path: str) -> int:
    """A regular file of the home `root` (links resolved). Raises Refused, NotFound or DamagedData (unreadable)."""
    descriptor, real = open_regular(root, path, root)
    if not is_below(root, real) and not is_part_of(root, path, real):
        os.close(descriptor)
        raise Refused(f"{path} leads out of {root}", slug="outside-home")
    return descriptor


def open_regular(root: str, path: str, shown: str) -> tuple[int, str]:
    """A regular file that is no secret, and its path as the system knows it.

    A link must lead below `root`, or be one of the store of the home, which is called `shown`.
    """
    if is_secret(path):
        raise Refused(f"{os.path.basename(path)} holds secrets and is never read", slug="secret")
    if "\x00" in path:
        raise Refused("a path with a NUL byte", slug="outside-home")
    try:
        descriptor = _open(root, path, shown)
    except FileNotFoundError as problem:
        raise NotFound(f"no such file: {path}", slug="no-such-file") from problem
    except OSError as problem:
        raise DamagedData(f"cannot read {path}: {problem.strerror or problem}", slug="unreadable-file") from problem
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refused(f"{path} is not a regular file", slug="not-a-file")
        real = _real_path(descriptor, path)
        if is_secret(real):  # a link of an innocent name
            raise Refused(f"{path} leads to secrets, which are never read", slug="secret")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, real


def _open(root: str, path: str, shown: str) -> int:
    try:
        return os.open(path, _FLAGS | _NOFOLLOW)
    except OSError as problem:
        if problem.errno not in (errno.ELOOP, errno.EMLINK):
            raise
    real = os.path.realpath(path)
    if not is_below(root, real) and not is_part_of(shown, path, real):
        raise Refused(f"{path} is a link that leads out of {shown}", slug="outside-home")
    return os.open(real, _FLAGS | _NOFOLLOW)


def _real_path(descriptor: int, path: str) -> str:
    """The path of an open file as the system knows it; where it cannot tell, the path's own resolution."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return os.path.realpath(path)
