"""Find what belongs to a project that moves: its sessions by their working directory, and their folders.

The name of a project folder cannot be decoded, and two projects can share a folder: the lines of a session name its
project (`cwd`, `relocated`). A folder moves as a whole if it holds nothing of another project; else its sessions move
one by one. A folder that is a link is never moved, and no project is moved or deleted without what lies behind a link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import Refused
from ..format.file_history import hash_of_path
from ..format.path_text import project_key, same_project_key
from .home import Home
from .path_map import PathMap
from .read import session_named_in
from .scan import Scan, SessionFile, scan_home
from .summary import summarise


def copies_of_sessions(files: Iterable[SessionFile]) -> list[list[SessionFile]]:
    """Group the files of each home that have the same session id, the file that may keep the id first.

    That is the file in the project folder that its own lines name; among several of them, the newest. One file under
    two names (a link) is not a copy.

    Such copies are left after a transcript was copied, or a move was interrupted.
    """
    named: dict[tuple[str, str], list[SessionFile]] = {}
    for file in files:
        named.setdefault((str(file.home.root), file.session_id), []).append(file)
    found = [_different(same) for same in named.values() if len(same) > 1]
    return [sorted(same, key=_right_to_the_id, reverse=True) for same in found if len(same) > 1]


def _different(files: list[SessionFile]) -> list[SessionFile]:
    by_file: dict[object, SessionFile] = {}
    for file in files:
        try:
            info = file.path.stat()
        except OSError:
            continue
        by_file.setdefault((info.st_dev, info.st_ino), file)
    return list(by_file.values())


def _right_to_the_id(file: SessionFile) -> tuple[bool, float, str]:
    belongs = any(same_project_key(file.folder, cwd) for cwd in summarise(file).cwds)
    return belongs, file.mtime, str(file.path)


@dataclass
class MovingSession:
    """A session and its new project. `subagents` are all transcripts of its subagents."""

    file: SessionFile
    project: str | None
    new_project: str | None
    folders: tuple[str, ...] = ()
    subagents: list[Path] = field(default_factory=list)

    @property
    def session_id(self) -> str:
        return self.file.session_id

    @property
    def beside(self) -> list[Path]:
        """The transcripts of subagents in the project folder itself (2.0.28 - 2.1.8)."""
        return [path for path in self.subagents if path.parent == self.file.path.parent]


@dataclass
class MovingFolder:
    """What moves out of one folder of `projects/` into another one."""

    source: Path
    target: Path
    whole: bool
    sessions: list[MovingSession] = field(default_factory=list)
    stay: list[str] = field(default_factory=list)
    """Projects whose sessions stay in the folder."""


@dataclass
class Owned:
    """A project folder and its sessions. A session's project is None if its lines name no working directory."""

    path: Path
    sessions: list[MovingSession] = field(default_factory=list)
    """Empty for a link that leads out of the home: nothing is read there."""

    @property
    def projects(self) -> list[str]:
        return sorted({item.project for item in self.sessions if item.project is not None})


def owned_folders(home: Home) -> dict[str, Owned]:
    """Return every folder below `projects/`, links included, with its sessions, subagents and their projects."""
    scan = scan_home(home)
    found: dict[str, Owned] = {}
    if home.projects.is_dir():
        for path in sorted(home.projects.iterdir()):
            if path.is_dir() or path.is_symlink():
                found[path.name] = Owned(path)
    owners = subagents_beside(home, scan)
    for file in scan.sessions:
        if file.folder not in found:
            continue  # created after the listing
        summary = summarise(file)
        session = MovingSession(file, summary.project, None, tuple(summary.cwds))
        session.subagents = [subagent.path for subagent in file.subagents]
        session.subagents += owners.get((file.folder, file.session_id), [])
        found[file.folder].sessions.append(session)
    return found


def refuse_links(owned: dict[str, Owned], is_of_it: Callable[[str | None], bool], known: Iterable[str]) -> None:
    """Raise Refused if something of a project lies behind a link; `known` are paths of the project.

    If no session names the project (outside of the home none can be read), the link's name decides.
    """
    seen = [project for folder in owned.values() for project in folder.projects if is_of_it(project)]
    paths = list(dict.fromkeys([*known, *seen]))
    for folder in owned.values():
        if not folder.path.is_symlink():
            continue
        mine = any(is_of_it(project) for project in folder.projects)
        if mine or (not folder.projects and any(_leads_to(folder.path.name, path) for path in paths)):
            raise Refused(
                f"{folder.path} is a link, and what is behind it would be left out; nothing was changed",
                hint="put the folder that it leads to in its place, or remove the link if it is a second name of a folder",
                slug="linked-folder",
            )


def _leads_to(name: str, path: str) -> bool:
    return same_project_key(name, path) or name == connector_folder(path)


def subagents_beside(home: Home, scan: Scan) -> dict[tuple[str, str], list[Path]]:
    """Return the subagents of 2.0.28 - 2.1.8 by (folder, session), as their first line with a session id says."""
    found: dict[tuple[str, str], list[Path]] = {}
    for folder, subagent in scan.beside:
        owner = session_named_in(subagent.path, home)
        if owner is not None:
            found.setdefault((folder, owner), []).append(subagent.path)
    return found


def survey(
    home: Home,
    owned: dict[str, Owned],
    paths: PathMap,
    known: Iterable[str],
    name_for: Callable[[str], str] = project_key,
) -> list[MovingFolder]:
    """Return what moves. `known` are further paths of projects (from the config), to identify folders without sessions."""
    found: list[MovingFolder] = []
    candidates = [*paths.olds, *(path for path in known if paths.moved(path) is not None)]
    refuse_links(owned, lambda path: paths.moved(path) is not None, candidates)
    for folder in owned.values():
        if folder.sessions:
            found += _moving(home, folder, paths, name_for)
            continue
        fitting = next((path for path in candidates if same_project_key(folder.path.name, path)), None)
        if fitting is not None:
            found.append(MovingFolder(folder.path, home.projects / name_for(str(paths.moved(fitting))), True))
    seen = [str(item.project) for folder in owned.values() for item in folder.sessions if paths.moved(item.project)]
    for path in dict.fromkeys([*candidates, *seen]):
        connector = home.projects / connector_folder(path)
        if connector.name in owned and paths.is_change(path):
            target = home.projects / connector_folder(str(paths.moved(path)))
            found.append(MovingFolder(connector, target, True))
    return found


def connector_folder(path: str) -> str:
    """Return the name of the folder beside a project folder in which Claude Code keeps files from connectors."""
    return f"{project_key(path)}.{hash_of_path(path)}"


def _moving(home: Home, folder: Owned, paths: PathMap, name_for: Callable[[str], str]) -> list[MovingFolder]:
    targets: dict[Path, list[MovingSession]] = {}
    stay: list[str] = []
    loose: list[MovingSession] = []
    for session in folder.sessions:
        session.new_project = paths.moved(session.project)
        if session.project is None:
            loose.append(session)
        elif session.new_project is None:
            stay.append(session.project)
        else:
            fits = same_project_key(folder.path.name, session.project)
            name = name_for(session.new_project) if fits else folder.path.name
            targets.setdefault(home.projects / name, []).append(session)
    whole = len(targets) == 1 and not stay
    moving = [MovingFolder(folder.path, target, whole, sessions) for target, sessions in targets.items()]
    for item in moving:
        item.stay = sorted(set(stay))
    if whole:
        moving[0].sessions += loose  # they belong to no other project, and go with the folder
    return moving
