"""Every read inside a home goes through here: nothing outside it, no secret, no pipe or device is ever opened.

A link is followed only if it ends inside the home, or is one of the store itself (`links`). The check is made on the opened file
itself (where the system can tell its path), so swapping a folder for a link between check and open gains nothing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from ..errors import Refused
from .home import Home
from .links import is_below, is_part_of, is_store_place, parts_below, why_not_followed
from .opening import is_secret as is_secret
from .opening import open_regular


def is_inside(home: Home, path: Path | str) -> bool:
    """Whether a path, all links resolved, lies in the home, in what a link of its store leads to, or is its config file."""
    try:
        real = os.path.realpath(path)
    except ValueError:  # a NUL byte: no such path can be
        return False
    if is_below(home.real_root, real) or real == os.path.realpath(home.config_file):
        return True
    return is_part_of(str(home.root), str(path), real)


def why_left_out(home: Home, link: Path | str) -> str | None:
    """Why a link in the home is not followed; None where it is."""
    if is_store_place(parts_below(str(home.root), str(link)) or ()):
        return why_not_followed(str(home.root), str(link))
    return None if is_inside(home, link) else "leads out of the home"


def place_to_write(home: Home, path: Path) -> Path:
    """Where bytes for this path go: the path itself, or what a session's link leads to. Other links are Refused."""
    if not path.is_symlink():
        return path
    if not is_session_link(home, path):
        raise Refused(f"{path} is a link; links are not written through", slug="outside-home")
    return Path(os.path.realpath(path))


def is_session_link(home: Home, path: Path) -> bool:
    """Whether a path is a link of the store to a session's file."""
    parts = parts_below(str(home.root), str(path)) or ()
    return len(parts) == 3 and path.is_symlink() and is_store_place(parts) and why_left_out(home, path) is None


def refuse_in_homes(homes: Iterable[Home], path: Path, *, hint: str) -> None:
    """Raise Refused where a path that must lie outside of these homes lies in one of them."""
    for home in homes:
        if is_inside(home, path):
            raise Refused(f"{path} lies in the Claude home {home.root}", hint=hint, slug="inside-home")


def open_inside(home: Home, path: Path, *, buffering: int = 1 << 20) -> BinaryIO:
    """A regular file inside the home, opened for reading. Raises Refused, NotFound or DamagedData (unreadable)."""
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


def _is_config(home: Home, fd: int, path: Path) -> bool:
    """The config file of ``~/.claude`` stands beside it."""
    if Path(path) != home.config_file:
        return False
    try:
        return os.path.samestat(os.fstat(fd), os.stat(home.config_file, follow_symlinks=False))
    except OSError:
        return False
