"""Map old paths to new ones: for a project folder that moved, or a whole home that came from another machine."""

from __future__ import annotations

import os
import re
import string
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ..errors import Refused

_WINDOWS: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_DRIVE: Final = re.compile(r"[A-Za-z]:\\")
_ONE_SPELLING: Final = str.maketrans(string.ascii_uppercase + "/", string.ascii_lowercase + "\\")
"""Normalises the spelling of a Windows path and keeps its length.

Only ASCII letters are folded: for others, the rules of case depend on the disk.
"""


def is_absolute(path: str) -> bool:
    """Return whether a text is an absolute path on any system."""
    return path.startswith("/") or _WINDOWS.match(path) is not None


def is_windows_path(path: str) -> bool:
    return _WINDOWS.match(path) is not None


def join_path(folder: str, relative: str) -> str:
    """Return a path below a folder, with the separator that the folder's path uses."""
    mark = "\\" if is_windows_path(folder) else "/"
    return folder.rstrip("/\\") + mark + relative


@dataclass(frozen=True)
class PathMap:
    """Pairs of absolute paths, old and new. The longest old path that contains a path decides its new one."""

    pairs: tuple[tuple[str, str], ...]

    def moved(self, path: str | None) -> str | None:
        """Return the new path of this one; None if no pair applies to it."""
        if path is None:
            return None
        for old, new in sorted(self.pairs, key=lambda pair: len(pair[0]), reverse=True):
            rest = _rest(path, old)
            if rest is not None:
                return _stem(new) + _in_style_of(new, rest, is_windows_path(path)) if rest else new
        return None

    def is_change(self, path: str | None) -> bool:
        new = self.moved(path)
        return new is not None and new != path

    @property
    def olds(self) -> tuple[str, ...]:
        return tuple(old for old, _ in self.pairs)


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is this folder or lies in it."""
    return _rest(path, folder.rstrip("/\\")) is not None


def _rest(path: str, old: str) -> str | None:
    """Return what follows `old` in `path`: "" or a part that begins with a separator; None if `path` is elsewhere.

    Windows treats both separators, and upper and lower case, as equal: Claude Code writes `C:\\app` as the working
    directory of a session and `C:/app` into its config.
    """
    spelled = path
    if is_windows_path(path) and is_windows_path(f"{old}\\"):
        spelled, old = path.translate(_ONE_SPELLING), old.translate(_ONE_SPELLING)
    if spelled == old:
        return ""
    stem = _stem(old)
    if spelled.startswith(stem) and spelled[len(stem) : len(stem) + 1] in ("/", "\\"):
        if spelled[len(stem)] == "\\" and not is_windows_path(path):
            return None  # outside of Windows a backslash is an ordinary character
        return path[len(stem) :]
    return None


def _stem(path: str) -> str:
    """Return the path without the separator at the end that a root has."""
    return path[:-1] if _is_root(path) else path


def _is_root(path: str) -> bool:
    return path == "/" or _DRIVE.fullmatch(path) is not None


def _in_style_of(new: str, rest: str, from_windows: bool) -> str:
    if is_windows_path(new) and "\\" in new:
        return rest.replace("/", "\\")
    return rest.replace("\\", "/") if from_windows else rest


def path_map(pairs: Iterable[tuple[str, str]]) -> PathMap:
    """Check pairs of absolute paths and return their map. If an old path is a link, its target is mapped, too."""
    found: dict[str, str] = {}
    for old, new in pairs:
        if not is_absolute(old) or not is_absolute(new):
            raise Refused(f"{old!r} and {new!r} must be absolute paths", slug="not-absolute")
        if "\x00" in old + new:
            raise Refused("a path with a NUL byte", slug="bad-path")
        before, after = _plain(old), _plain(new)
        if not before or not after:
            raise Refused(f"{(new if before else old)!r} names no folder", slug="bad-path")
        if before == "/":
            raise Refused("the root of the file system cannot be moved", slug="bad-path")
        same = next((path for path in found if _rest(before, path) == ""), before)
        if found.setdefault(same, after) != after:
            raise Refused(f"{before} cannot become two paths", slug="bad-path")
    for old, new in list(found.items()):
        real = old if is_windows_path(old) else os.path.realpath(old)
        if real != old and real != "/" and (_is_root(new) or not is_below(real, new)):
            found.setdefault(real, new)
    if all(old == new for old, new in found.items()):
        raise Refused("old and new path are the same", slug="same-path")
    return PathMap(tuple(found.items()))


def _plain(path: str) -> str:
    """Return a path without a separator at its end, except for a root."""
    if is_windows_path(path):
        bare = path.rstrip("\\/")
        return f"{bare}\\" if _DRIVE.fullmatch(f"{bare}\\") else bare
    return "/" + os.path.normpath(path).strip("/")


def parse_pair(text: str) -> tuple[str, str]:
    """Parse ``OLD=NEW``. Paths may contain "=": the first one that separates two absolute paths counts."""
    for match in re.finditer("=", text):
        old, new = text[: match.start()], text[match.end() :]
        if is_absolute(old) and is_absolute(new):
            return old, new
    raise Refused(f"{text!r} is not OLD=NEW with two absolute paths", slug="bad-map")
