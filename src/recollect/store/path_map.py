"""Which path becomes which: a project's folder under another name, or a whole home that came from another machine."""

from __future__ import annotations

import os
import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ..errors import Refused

_WINDOWS: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_DRIVE: Final = re.compile(r"[A-Za-z]:\\")
_ONE_SPELLING: Final = str.maketrans(string.ascii_uppercase + "/", string.ascii_lowercase + "\\")
"""Keeps the length. Letters beyond ASCII stay: which of them Windows takes for the same, its disk decides."""


def is_absolute(path: str) -> bool:
    """Whether a text is an absolute path on any system."""
    return path.startswith("/") or _WINDOWS.match(path) is not None


def is_windows_path(path: str) -> bool:
    return _WINDOWS.match(path) is not None


def join_path(folder: str, relative: str) -> str:
    """A path below a folder, in that folder's own style."""
    mark = "\\" if is_windows_path(folder) else "/"
    return folder.rstrip("/\\") + mark + relative


@dataclass(frozen=True)
class PathMap:
    """Pairs of absolute paths. The longest old path that fits decides; what is below it keeps its place below."""

    pairs: tuple[tuple[str, str], ...]

    def moved(self, path: str | None) -> str | None:
        """The new path of this one; None where no pair is about it."""
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
    """Whether a path is this folder or inside of it."""
    return _rest(path, folder.rstrip("/\\")) is not None


def _rest(path: str, old: str) -> str | None:
    """What follows `old` in `path`: "" or a part that begins with a separator; None if it is another path.

    Windows takes both separators, and letters of any case, for the same: one client writes `C:\\app` as the working directory
    of a session and `C:/app` into its config.
    """
    told = path
    if is_windows_path(path) and is_windows_path(f"{old}\\"):
        told, old = path.translate(_ONE_SPELLING), old.translate(_ONE_SPELLING)
    if told == old:
        return ""
    stem = _stem(old)
    if told.startswith(stem) and told[len(stem) : len(stem) + 1] in ("/", "\\"):
        if told[len(stem)] == "\\" and not is_windows_path(path):
            return None  # a backslash is an ordinary character there
        return path[len(stem) :]
    return None


def _stem(path: str) -> str:
    """What stands before the separator in all paths below this one: a root ends with it."""
    return path[:-1] if _is_root(path) else path


def _is_root(path: str) -> bool:
    return path == "/" or _DRIVE.fullmatch(path) is not None


def _in_style_of(new: str, rest: str, from_windows: bool) -> str:
    if is_windows_path(new) and "\\" in new:
        return rest.replace("/", "\\")
    return rest.replace("\\", "/") if from_windows else rest


def path_map(pairs: Iterable[tuple[str, str]]) -> PathMap:
    """Checked pairs of absolute paths. Where an old path still leads somewhere by links, that place counts too."""
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
    """Without a separator at the end, but for a root, which is nothing else."""
    if is_windows_path(path):
        bare = path.rstrip("\\/")
        return f"{bare}\\" if _DRIVE.fullmatch(f"{bare}\\") else bare
    return "/" + os.path.normpath(path).strip("/")


def parse_pair(text: str) -> tuple[str, str]:
    """``OLD=NEW``. A path may hold "=" itself: the first one with an absolute path behind it parts the two."""
    for match in re.finditer("=", text):
        old, new = text[: match.start()], text[match.end() :]
        if is_absolute(old) and is_absolute(new):
            return old, new
    raise Refused(f"{text!r} is not OLD=NEW with two absolute paths", slug="bad-map")


def named_folders(paths: Sequence[str]) -> str:
    """Some paths for a sentence."""
    shown = ", ".join(paths[:3])
    return f"{shown} and {len(paths) - 3} more" if len(paths) > 3 else shown
