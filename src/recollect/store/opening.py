"""Open a file of a home for reading, but no secret, no pipe or device, and nothing outside of the home.

The check is made on the opened file itself (where the system reports its path), so swapping a folder for a link between
check and open gains nothing. Imports little, for commands that must start fast; `paths` builds on it.
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
    """Return whether the file at this path holds tokens or keys, by its name. Such a file is never opened or shown."""
    return is_secret_file_name(os.path.basename(path))


def open_below(root: str, path: str) -> int:
    """Open a regular file of the home `root` (a path without links) and return its descriptor.

    Raises Refused, NotFound or DamagedData (unreadable).
    """
    descriptor, real = open_regular(root, path, root)
    if not is_below(root, real) and not is_part_of(root, path, real):
        os.close(descriptor)
        raise Refused(f"{path} leads out of {root}", slug="outside-home")
    return descriptor


def open_regular(root: str, path: str, shown: str) -> tuple[int, str]:
    """Open a regular file that is not a secret, and return its descriptor and its real path.

    A link must lead below `root`, or be a link of the store of the home (`shown` is the home's path as given).
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
        if is_secret(real):  # a link with a harmless name
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
    """Return the real path of an open file, from the system if it reports one, else by resolving `path`."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return os.path.realpath(path)
