"""Check and open every file that is read in a home: nothing outside it, no secret, no pipe or device.

A link is followed only if it ends inside the home, or is a link of the store (see `opening`). The check is made on the opened
file itself (where the system reports its path), so swapping a folder for a link between check and open gains nothing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from ..errors import Refused
from .home import Home
from .opening import is_below, is_part_of, is_store_place, open_regular, parts_below, why_not_followed
from .opening import is_secret as is_secret


def is_inside(home: Home, path: Path | str) -> bool:
    """Return whether a path lies in the home, in the target of a link of its store, or is its config file.

    All links in the path are resolved first.
    """
    try:
        real = os.path.realpath(path)
    except ValueError:  # a NUL byte, which no path can contain
        return False
    if is_below(home.real_root, real) or real == os.path.realpath(home.config_file):
        return True
    return is_part_of(str(home.root), str(path), real)


def why_left_out(home: Home, link: Path | str) -> str | None:
    """Return why a link in the home is not followed; None if it is followed."""
    if is_store_place(parts_below(str(home.root), str(link)) or ()):
        return why_not_followed(str(home.root), str(link))
    return None if is_inside(home, link) else "leads out of the home"


def place_to_write(home: Home, path: Path) -> Path:
    """Return where bytes for this path are written: the path itself, or the target of a session's link.

    Raises Refused for other links.
    """
    if not path.is_symlink():
        return path
    if not is_session_link(home, path):
        raise Refused(f"{path} is a link; links are not written through", slug="outside-home")
    return Path(os.path.realpath(path))


def is_session_link(home: Home, path: Path) -> bool:
    """Return whether a path is a link of the store to a session's transcript."""
    parts = parts_below(str(home.root), str(path)) or ()
    return len(parts) == 3 and path.is_symlink() and is_store_place(parts) and why_left_out(home, path) is None


def refuse_in_homes(homes: Iterable[Home], path: Path, *, hint: str) -> None:
    """Raise Refused if a path that must lie outside of these homes lies in one of them."""
    for home in homes:
        if is_inside(home, path):
            raise Refused(f"{path} lies in the Claude home {home.root}", hint=hint, slug="inside-home")


def open_inside(home: Home, path: Path, *, buffering: int = 1 << 20) -> BinaryIO:
    """Open a regular file inside the home for reading. Raises Refused, NotFound or DamagedData (unreadable)."""
    descriptor, real = open_regular(home.real_root, str(path), str(home.root))
    try:
        if not (
            is_below(home.real_root, real)
            or _is_config(home, descriptor, path)
            or is_part_of(str(home.root), str(path), real)
        ):
            raise Refused(f"{path} leads out of {home.root}", slug="outside-home")
        return os.fdopen(descriptor, "rb", buffering=buffering)
    except BaseException:
        with contextlib.suppress(OSError):
            os.close(descriptor)
        raise


def read_inside(home: Home, path: Path, limit: int | None = None) -> bytes:
    """Return the bytes of a file inside the home, at most `limit` of them."""
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
    """List a folder of the home by name. Empty if it does not exist, cannot be read, or leads out of the home."""
    if not is_inside(home, folder):
        return []
    try:
        return sorted(folder / name for name in os.listdir(folder))
    except OSError:
        return []


def contained(home: Home, text: str) -> Path:
    """Return a path that a user gave. Raises Refused unless it lies inside the home."""
    path = Path(text)
    if not path.is_absolute():
        path = home.root / path
    if "\x00" in text or not is_inside(home, path):
        raise Refused(f"{text} is outside of {home.root}", slug="outside-home")
    return path


def _is_config(home: Home, fd: int, path: Path) -> bool:
    """Return whether the open file is the home's config file, which lies beside ``~/.claude``."""
    if Path(path) != home.config_file:
        return False
    try:
        return os.path.samestat(os.fstat(fd), os.stat(home.config_file, follow_symlinks=False))
    except OSError:
        return False
