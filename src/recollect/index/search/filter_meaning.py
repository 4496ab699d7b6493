"""Match the values of filters: projects and files by their paths, models by a part of their name, times.

A project is matched by one rule for `--project`, `project:`, the library and the page (`ProjectFilter`). It is a folder, and is
named by its path (`/home/ada/code/app`, `~/code/app`, `.`), by the last parts of its path (`code/app`, `app`), or by the name of
its folder below `projects/` (`-home-ada-code-app`). Folders below a named folder match too. Case is ignored; a star stands for
anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterable


def fits(filter_name: str, asked: str, name: str) -> bool:
    """Return whether a name matches the value of a filter. Case is ignored; a star stands for anything."""
    asked, name = asked.casefold(), name.casefold()
    if "*" in asked and filter_name != "file":
        return _glob(asked, name)
    if filter_name == "model":
        return asked in name
    if filter_name == "file":
        return path_fits(asked, name)
    if filter_name == "tool" and name.startswith("mcp__"):
        return asked == name or asked in name.split("__")[1:]
    return asked == name


def path_fits(asked: str, path: str, *, below: bool = True) -> bool:
    """Return whether `asked` is the path, its last parts, or (with `below`) a folder above it. Case matters."""
    path = path.replace("\\", "/")
    asked = asked.replace("\\", "/")
    if "*" in asked:
        return _glob(asked, path) or _glob(f"*/{asked.lstrip('/')}", path)
    bare = asked.rstrip("/")
    if not bare:
        return asked != "" and (path == "/" or (below and path.startswith("/")))
    if path.rstrip("/") == bare or (below and path.startswith(f"{bare}/")):
        return True
    inner = bare.lstrip("/")
    return not asked.startswith("/") and (path.rstrip("/").endswith(f"/{inner}") or (below and f"/{inner}/" in path))


def _glob(pattern: str, name: str) -> bool:
    """Match a pattern in which a star stands for any characters, `/` included. Takes linear time for each star."""
    first, *inner = pattern.split("*")
    if not name.startswith(first):
        return False
    at = len(first)
    if not inner:
        return at == len(name)
    *inner, last = inner
    for piece in inner:
        place = name.find(piece, at)
        if place < 0:
            return False
        at = place + len(piece)
    return name.endswith(last) and len(name) - len(last) >= at


def nearest(asked: str, names: list[str], most: int = 3) -> list[str]:
    """Return names that are similar to the one asked for."""
    from difflib import get_close_matches

    by_last: dict[str, str] = {}
    for name in names:
        by_last.setdefault(name.casefold(), name)
        by_last.setdefault(name.replace("\\", "/").rstrip("/").rpartition("/")[2].casefold(), name)
    wanted = asked.casefold().strip("*")
    containing = [name for key, name in by_last.items() if wanted and wanted in key]
    close = [by_last[key] for key in get_close_matches(wanted, by_last, most, 0.6)]
    return list(dict.fromkeys([*close, *containing]))[:most]


def session_fits(value: str, session_id: str | None, title: str | None) -> bool:
    """Return whether a value is a session's id, the start of it (at least four characters), or a part of its title."""
    wanted = value.casefold()
    if session_id is not None and (session_id == wanted or (len(wanted) >= 4 and session_id.startswith(wanted))):
        return True
    return title is not None and wanted in title.casefold()


def time_range(name: str, value: str) -> tuple[int | None, int | None]:
    """Return the range of a `before:` or `after:` filter in microseconds: start (inclusive) and end (exclusive)."""
    from ...format.times import parse_moment

    moment = parse_moment(value)
    if moment is None:
        return None, None
    when = int(moment.timestamp() * 1_000_000)
    return (when, None) if name == "after" else (None, when)


class ProjectFilter:
    """Match paths of projects against one name. Results are cached, so an object serves for many paths."""

    __slots__ = ("_asked", "_folder", "_known", "asked")

    def __init__(self, asked: str) -> None:
        self.asked = asked
        whole = paths_named(asked)
        self._asked = tuple(dict.fromkeys(path.casefold() for path in whole or (asked,)))
        self._folder = asked if asked.startswith("-") or asked[1:3] == "--" else None
        self._known: dict[tuple[str, bool], bool] = {}

    def fits(self, *paths: str | None, folder: str | None = None, below: bool = True) -> bool:
        """Return whether one of these paths matches, or `folder`, the name of the session's folder below `projects/`.

        Without `below`, a path does not match just because a folder above it does.
        """
        if folder is not None and self._folder is not None and folder.casefold() == self._folder.casefold():
            return True
        return any(path is not None and self._fits(path, below) for path in paths)

    def _fits(self, path: str, below: bool) -> bool:
        known = self._known.get((path, below))
        if known is None:
            plain = path.casefold()
            known = any(path_fits(asked, plain, below=below) for asked in self._asked) or self._is_folder_of(path)
            self._known[path, below] = known
        return known

    def _is_folder_of(self, path: str) -> bool:
        if self._folder is None:
            return False
        from ...format.path_text import project_key, same_project_key

        return same_project_key(self._folder, path) or project_key(path).casefold() == self._folder.casefold()

    def no_project_fits(self, known: Iterable[str | None]) -> str | None:
        """Return a sentence with the names of similar projects; None if one of the known projects matches."""
        names = list(dict.fromkeys(name for name in known if name))
        if any(self.fits(name) for name in names):
            return None
        near = nearest(self.asked, names)
        return f"no project fits {self.asked!r}" + (f"; did you mean {' or '.join(near)}?" if near else "")


def names_of(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return a path made absolute, and with its links resolved, which is how transcripts record it."""
    named = os.path.expanduser(os.fspath(path))
    whole = os.path.normpath(named if os.path.isabs(named) else os.path.join(working_folder(), named))
    try:
        return whole, os.path.realpath(whole)
    except (OSError, ValueError):  # a NUL in the path, or a circle of links: there is no such folder
        return (whole,)


def working_folder() -> str:
    """Return the working directory of this process; the root if that folder was removed."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep


def paths_named(project: str) -> tuple[str, ...]:
    """Return the full paths that a project's name stands for: ``/work/app``, ``.``, ``~/app``, ``../app``.

    Returns none if the name is the last part of a path: ``app``, ``work/app``.
    """
    start = project.replace("\\", "/").partition("/")[0]
    if start in (".", "..", "~"):
        return names_of(project)
    if os.path.isabs(project):
        return (project, *names_of(project))
    from ...store.path_map import is_absolute

    return (project,) if is_absolute(project) else ()  # absolute on another operating system
