"""Match projects by a name that a user gave: one rule for `--project`, `project:`, the library and the page.

A project is a folder. It is named by its path (`/home/ada/code/app`, `~/code/app`, `.`), by the last parts of its path
(`code/app`, `app`), or by the name of its folder below `projects/` (`-home-ada-code-app`). Folders below a named folder
match too. Case is ignored; a star stands for anything. The module imports little, because every search needs it at its
start.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from .filter_meaning import nearest, path_fits


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
        from ...format.project_key import project_key, same_project_key

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
