"""Paths of projects: as somebody names one, and as it stands in the files, where links are resolved."""

from __future__ import annotations

import os

from ..errors import Refused
from ..format.encode import check_text
from ..store.path_map import is_absolute


def names_of(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The path made absolute, and what it leads to: the client and our writers write down the latter."""
    whole = os.path.abspath(os.path.expanduser(path))
    try:
        return whole, os.path.realpath(whole)
    except (OSError, ValueError):  # a NUL, or a link that leads in a circle: nothing stands there
        return (whole,)


def paths_named(project: str) -> tuple[str, ...]:
    """The whole paths that somebody means who names a project by one: ``/work/app``, ``.``, ``~/app``, ``../app``.

    None where it is the last part of one: ``app``, ``work/app``.
    """
    start = project.replace("\\", "/").partition("/")[0]
    if start in (".", "..", "~"):
        return names_of(project)
    if os.path.isabs(project):
        return (project, *names_of(project))
    return (project,) if is_absolute(project) else ()  # of another system


def whole_path(path: str | os.PathLike[str]) -> str:
    """Where something is written, the working directory of this process must not decide which project it is."""
    if not isinstance(path, (str, os.PathLike)):
        raise Refused(f"{path!r} is no path of a project", slug="not-absolute")
    whole = os.path.expanduser(path)
    if not os.path.isabs(whole):
        raise Refused(f"{os.fspath(path)!r} is no absolute path of a project", slug="not-absolute")
    check_text(whole)
    return os.path.normpath(whole)


def refuse_missing_folder(path: str) -> None:
    """For a new session; one that is there may outlive its folder."""
    if not os.path.isdir(path):
        raise Refused(
            f"{path} is no folder", hint="the client resumes a session in its project's folder", slug="no-folder"
        )
