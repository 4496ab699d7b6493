"""Normalise paths of projects: people name them in several ways, and the files have them with links resolved."""

from __future__ import annotations

import os

from ..errors import Refused
from ..format.encode import check_text
from ..index.search.filter_meaning import ProjectFilter as ProjectFilter
from ..index.search.filter_meaning import names_of as names_of
from ..index.search.filter_meaning import paths_named as paths_named


def whole_path(path: str | os.PathLike[str]) -> str:
    """Expand `~` in an absolute project path. Refuses a relative one: the working directory must not decide."""
    if not isinstance(path, (str, os.PathLike)):
        raise Refused(f"{path!r} is not the path of a project", slug="not-absolute")
    whole = os.path.expanduser(path)
    if not os.path.isabs(whole):
        raise Refused(f"{os.fspath(path)!r} is not the absolute path of a project", slug="not-absolute")
    check_text(whole)
    return os.path.normpath(whole)


def refuse_missing_folder(path: str) -> None:
    """Refuse to start a session in a folder that does not exist. An existing session may outlive its folder."""
    if not os.path.isdir(path):
        raise Refused(
            f"{path} is not a folder", hint="Claude Code resumes a session in its project's folder", slug="no-folder"
        )
