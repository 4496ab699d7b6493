"""Delete sessions and projects: everything that belongs to them goes into the journal, from where `undo` brings it back.

A session's footprint is all that is named by its id; while another transcript of that id stays in the home, its other
places stay with it. Its lines in `history.jsonl` stay: they are the user's own prompts, and
the arrow keys of Claude Code find them. Deleting a project takes those out as well, and its entry in `.claude.json`, as
Claude Code's own `purge` does; unlike `purge`, sessions of another project in the same folder stay.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from ..errors import NotFound, RecollectError, Refused
from ..format.path_text import same_project_key
from ..journal.changes import Change, Journal
from ..journal.guard import refuse_if_busy
from ..store.home import Home, is_inside, list_inside, read_inside
from ..store.layout import TODOS, ids_in_todo_name, is_session_id
from ..store.liveness import refuse_shared_file, refuse_work_in
from ..store.path_map import is_below
from ..store.project_folders import Owned, connector_folder, owned_folders, refuse_links, subagents_beside
from ..store.scan import Scan, SessionFile, scan_home
from ..store.side_files import prompt_history
from .config_paths import (
    INDEX,
    config_problem,
    config_without,
    history_lines_without,
    index_bytes,
    index_entries,
    listed_session,
    project_paths,
)
from .path_references import with_edits

#: Places that are named by a session's id, besides its own folder. `{}` stands for the id.
_BY_ID: Final = (
    "file-history/{}", "tasks/{}", "todos/{}.json", "debug/{}.txt", "session-env/{}", "image-cache/{}", "uploads/{}",
    "dump-prompts/{}.jsonl", "usage-data/facets/{}.json", "usage-data/session-meta/{}.json",
)  # fmt: skip


@dataclass
class DeleteResult:
    """What a deletion removes."""

    sessions: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    bytes: int = 0
    history_lines: int = 0
    config_projects: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def footprint(home: Home, session: SessionFile, scan: Scan | None = None) -> list[Path]:
    """Return every file and folder that belongs to this session alone, its transcript first."""
    return footprints(home, [session], scan)[0]


def footprints(home: Home, sessions: Sequence[SessionFile], scan: Scan | None = None) -> list[list[Path]]:
    """Return the footprint of each session. The home is looked through once for all of them."""
    beside = subagents_beside(home, scan_home(home) if scan is None else scan)
    return _footprints(home, sessions, beside)


def _footprints(
    home: Home,
    sessions: Sequence[SessionFile],
    beside: dict[tuple[str, str], list[Path]],
    staying: Container[str] = (),
) -> list[list[Path]]:
    """Return the footprint of each session; of sessions whose id stays in the home (`staying`), only this transcript's own."""
    pastes = _pastes(home, {file.session_id for file in sessions})
    todos: dict[str, list[Path]] = {}
    for path in list_inside(home, home.root / TODOS):
        todos.setdefault((ids_in_todo_name(path.name) or ("",))[0], []).append(path)
    copies = {
        folder: [path for path in list_inside(home, folder) if ".jsonl." in path.name]
        for folder in {file.path.parent for file in sessions}
    }
    found = []
    for file in sessions:
        own = [file.path, file.session_folder, *beside.get((file.folder, file.session_id), [])]
        own += [path for path in copies[file.path.parent] if path.name.startswith(f"{file.path.name}.")]
        # Any other name than an id may be that of something else.
        if is_session_id(file.session_id) and file.session_id not in staying:
            own += [home.root / place.format(file.session_id) for place in _BY_ID]
            own += todos.get(file.session_id, [])
            own += pastes.get(file.session_id, [])
        found.append([path for path in dict.fromkeys(own) if os.path.lexists(path)])
    return found


def _pastes(home: Home, sessions: set[str]) -> dict[str, list[Path]]:
    """Return the pastes that the history names for these sessions only, by session."""
    users: dict[str, set[str | None]] = {}
    for entry in prompt_history(home):
        for paste in entry.pasted:
            if paste.content_hash is not None and paste.content_hash.isalnum():
                users.setdefault(paste.content_hash, set()).add(entry.session_id)
    found: dict[str, list[Path]] = {}
    for name, used_by in users.items():
        owner = next(iter(used_by), None)
        if used_by <= sessions and owner is not None:
            found.setdefault(owner, []).append(home.root / "paste-cache" / f"{name}.txt")
    return found


def plan_delete(
    journal: Journal, home: Home, sessions: Sequence[SessionFile], *, scan: Scan | None = None, name: str = "delete"
) -> tuple[Change, DeleteResult]:
    """Plan to move the footprints of sessions into the journal; `name` is the name of the change there."""
    names = ", ".join(file.session_id for file in sessions[:3]) + (" ..." if len(sessions) > 3 else "")
    change = journal.change(home, name, f"{name.capitalize()} {names}")
    result = DeleteResult()
    try:
        _remove_sessions(change, journal, sessions, scan_home(home) if scan is None else scan, result, keep=set())
    except BaseException:
        change.__exit__()
        raise
    return change, result


def plan_delete_project(journal: Journal, home: Home, path: str, *, force: bool = False) -> tuple[Change, DeleteResult]:
    """Plan to remove a project: all that is at `path` and below it, worktrees included."""
    if os.path.dirname(os.path.realpath(path)) == os.path.realpath(path):
        raise Refused(
            f"{path} is the root of the file system, not a project", slug="bad-path",
            hint="name the project's own folder; everything in the home is below this one",
        )  # fmt: skip
    change = journal.change(home, "delete", f"Delete the project {path}")
    result = DeleteResult()
    try:
        _plan_project(change, journal, path, force, result)
    except BaseException:
        change.__exit__()
        raise
    return change, result


def _plan_project(change: Change, journal: Journal, path: str, force: bool, result: DeleteResult) -> None:
    home = change.home
    real = os.path.realpath(path)

    def is_of_it(text: str | None) -> bool:
        return text is not None and (is_below(text, path) or is_below(text, real))

    refuse_work_in(home, is_of_it)
    config = _read(home, home.config_file, result)
    known = [name for name in project_paths(config or b"") if is_of_it(name)]
    owned = owned_folders(home)
    refuse_links(owned, is_of_it, [path, real, *known])
    whole, sessions = _folders_of(home, owned, is_of_it, [path, real, *known])
    _remove_sessions(change, journal, sessions, scan_home(home), result, keep={str(folder) for folder in whole})
    for folder in whole:
        _remove(change, folder, result)
    _remove_history(change, is_of_it, force, result)
    problem = config_problem(config) if config is not None else None
    if problem is not None:
        result.notes.append(f"{home.config_file} is left as it is: {problem}")
    changed = config_without(config, is_of_it) if config is not None and problem is None else None
    if changed is not None:
        refuse_shared_file(home, home.config_file, force=force)
        result.config_projects = list(changed.removed)
        change.write(home.config_file, [changed.data], replace=True)
    if not change.steps:
        raise NotFound(
            f"nothing in {home.root} is about {path}",
            hint="`recollect list` shows the project of every session", slug="no-such-project",
        )  # fmt: skip
    if list_inside(home, home.backups):
        result.notes.append(f"older copies of the config in {home.backups} may still name the project")


def _folders_of(
    home: Home, owned: dict[str, Owned], is_of_it: Callable[[str | None], bool], known: Iterable[str]
) -> tuple[list[Path], list[SessionFile]]:
    """Return the folders that are removed as a whole, and all sessions of the project."""
    whole: list[Path] = []
    sessions: list[SessionFile] = []
    paths = list(dict.fromkeys(known))
    connectors = {connector_folder(path) for path in paths}
    for name, folder in owned.items():
        mine = [item for item in folder.sessions if is_of_it(item.project)]
        others = [item for item in folder.sessions if item.project is not None and not is_of_it(item.project)]
        sessions += [item.file for item in mine]
        connectors |= {connector_folder(str(item.project)) for item in mine}
        empty_of_it = not folder.sessions and any(same_project_key(name, path) for path in paths)
        if (mine and not others) or empty_of_it:
            whole.append(folder.path)
            sessions += [item.file for item in folder.sessions if item not in mine]
    whole += [folder.path for name, folder in owned.items() if name in connectors and folder.path not in whole]
    return whole, sessions


def _remove_sessions(
    change: Change,
    journal: Journal,
    sessions: Sequence[SessionFile],
    scan: Scan,
    result: DeleteResult,
    *,
    keep: set[str],
) -> None:
    """Remove footprints, except for what is in the folders of `keep`, which are removed as a whole."""
    home = change.home
    for file in sessions:
        if not os.path.lexists(file.path):
            raise NotFound(f"no such file: {file.path}", slug="no-such-file")
        refuse_if_busy(home, file.session_id, file.path, journal, rewrite=True)
    going = {file.path for file in sessions}
    staying = {file.session_id: file.path for file in scan.sessions if file.path not in going}
    gone: set[Path] = set()
    for file, paths in zip(sessions, _footprints(home, sessions, subagents_beside(home, scan), staying), strict=True):
        result.sessions.append(file.session_id)
        change.rely_on(file.path)
        for path in paths:
            if str(path.parent) not in keep and path not in gone:  # two transcripts of one id share places
                gone.add(path)
                _remove(change, path, result)
        if file.session_id in staying:
            result.notes.append(
                f"{file.path} goes alone: {staying[file.session_id]} has the same id and stays, with file history, tasks "
                "and all else that is named by it"
            )
    by_folder: dict[Path, set[str]] = {}
    for file in sessions:
        if file.path.is_symlink():
            result.notes.append(
                f"{file.path} is a link: only the link is taken out, {os.path.realpath(file.path)} stays as it is"
            )
        if str(file.path.parent) not in keep:
            by_folder.setdefault(file.path.parent, set()).add(file.session_id)
    for folder, forgotten in by_folder.items():
        _forget_in_index(change, folder / INDEX, forgotten, result)


def _forget_in_index(change: Change, path: Path, gone: set[str], result: DeleteResult) -> None:
    """Remove deleted sessions from the session index, which holds their first prompts."""
    data = _read(change.home, path, result)
    known = index_entries(data) if data is not None else None
    if known is None:
        return
    rest = [entry for entry in known[1] if listed_session(entry) not in gone]
    if rest != known[1]:
        change.write(path, [index_bytes(known[0], rest)], replace=True)


def _remove(change: Change, path: Path, result: DeleteResult) -> None:
    change.remove(path)
    result.paths.append(str(path))
    result.bytes += _size(path)


def _size(path: Path) -> int:
    files = [Path(folder, name) for folder, _, names in os.walk(path) for name in names] if path.is_dir() else [path]
    total = 0
    for file in files:
        try:
            total += file.lstat().st_size
        except OSError:
            continue
    return total


def _remove_history(change: Change, drop: Callable[[str], bool], force: bool, result: DeleteResult) -> None:
    path = change.home.root / "history.jsonl"
    if not path.is_file() or not is_inside(change.home, path):
        return
    edits, result.history_lines = history_lines_without(change.home, path, drop)
    if edits:
        refuse_shared_file(change.home, path, force=force)
        change.write(path, with_edits(change.home, path, edits), replace=True)


def _read(home: Home, path: Path, result: DeleteResult) -> bytes | None:
    if not path.exists():
        return None
    try:
        return read_inside(home, path)
    except (RecollectError, OSError) as problem:
        result.notes.append(f"{path} is left as it is: {problem}")
        return None
