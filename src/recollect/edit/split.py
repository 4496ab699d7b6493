"""Split a folder that two projects share.

`/w/a-b` and `/w-a/b` have the same folder below `projects/`, and Claude Code cannot be told otherwise while both keep
their paths. 2.1.325 tells their sessions apart where both paths exist; older versions mix them. Two ways out, both tried with the
real Claude Code:

`to`    The project gets another path (its folder is renamed too). All versions find its sessions there.
`name`  Its sessions go into a folder of any name. 2.1.325 resumes them by id from everywhere, and continues and lists them
        with ``CLAUDE_CODE_PROJECT_DIR_NAME=<name>`` set (which needs CLAUDE_CONFIG_DIR set as well). Older versions find
        them by the path of the file only.
"""

from __future__ import annotations

import os
import re
from typing import Final

from ..errors import NotFound, RecollectError, Refused
from ..format.path_text import same_project_key
from ..journal.changes import Change, Journal
from ..store.home import Home, read_inside
from ..store.path_map import PathMap, path_map
from ..store.project_folders import Owned, owned_folders
from .config_paths import project_paths
from .move import MoveResult, build_move

_FOLDER_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def plan_split(
    journal: Journal,
    home: Home,
    folder: str,
    *,
    project: str,
    to: str | None = None,
    name: str | None = None,
    merge: bool = False,
    force: bool = False,
) -> tuple[Change, MoveResult]:
    """Plan to move the sessions of `project` out of `folder`: to another path (`to`), or into a folder called `name`."""
    if (to is None) == (name is None):
        raise Refused("say where the sessions go: to a new path, or into a folder of a name", slug="bad-split")
    owned = owned_folders(home)
    shared = owned.get(os.path.basename(folder.rstrip("/")))
    if shared is None:
        raise NotFound(
            f"there is not a folder {folder} below {home.projects}", slug="no-such-folder", nearest=_near(owned)
        )
    path = _project_in(shared, project)
    if len(shared.projects) < 2:
        raise Refused(f"{shared.path.name} holds sessions of {path} only", slug="not-shared")
    if to is not None:
        paths = path_map([(path, to)])
        _refuse_bad_target(home, owned, shared, str(paths.moved(path)), merge)
        title = f"Split {shared.path.name}: {path} moves to {to}"
        return build_move(journal, home, "split", title, paths, merge=merge, force=force, owned=owned)
    if name is None or not _FOLDER_NAME.fullmatch(name):
        raise Refused(
            f"{name!r} cannot be the name of a folder", hint="up to 64 of A-Z a-z 0-9 _ -", slug="bad-folder-name"
        )
    title = f"Split {shared.path.name}: sessions of {path} go into {name}"
    only = PathMap(((path, path),))
    inside = {shared.path.name: shared}
    return build_move(
        journal, home, "split", title, only, merge=merge, force=force, owned=inside, name_for=lambda _: name
    )


def _project_in(folder: Owned, project: str) -> str:
    """Return the project of the folder that is named by its path or last name."""
    plain = os.path.normpath(project)
    found = [path for path in folder.projects if path in (project, plain)]
    found = found or [path for path in folder.projects if os.path.basename(path) == project]
    if len(found) == 1:
        return found[0]
    raise NotFound(
        f"{folder.path.name} has no sessions of {project}", slug="no-such-project", nearest=tuple(folder.projects)
    )


def _refuse_bad_target(home: Home, owned: dict[str, Owned], shared: Owned, new: str, merge: bool) -> None:
    if same_project_key(shared.path.name, new):
        raise Refused(
            f"the sessions of {new} are kept in {shared.path.name} too, so nothing would be parted",
            hint='choose a path that differs in a letter or a digit: all else becomes "-" in the name of a folder',
            slug="same-folder",
        )
    taken = {project for folder in owned.values() for project in folder.projects} | set(_configured(home))
    if new in taken and not merge:
        raise Refused(f"there is a project at {new} already", hint="use --merge to put the two together", slug="exists")


def _configured(home: Home) -> list[str]:
    """Return the projects of the config; none if it cannot be read, which the move reports."""
    try:
        return project_paths(read_inside(home, home.config_file))
    except (RecollectError, OSError):
        return []


def _near(owned: dict[str, Owned]) -> tuple[str, ...]:
    return tuple(name for name, folder in owned.items() if len(folder.projects) > 1)[:10]
