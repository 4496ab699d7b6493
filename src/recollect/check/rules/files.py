"""Check the files of a home beside the transcripts, and where its files lie."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Final

from ...store import layout
from ...store.config_files import client_config, settings_files
from ...store.home import list_inside
from ...store.layout import FILE_HISTORY, SESSIONS_INDEX, TOOL_RESULTS, ids_in_todo_name, is_session_id, tasks_folder
from ...store.project_folders import copies_of_sessions
from ...store.side_files import sessions_index, subagent_meta, task_lists, todo_lists
from ..rule import ERROR, INFO, WARNING, Finding, HomeSubject, Rule

CORRUPT_CONFIG: Final = Rule(
    "corrupt-config", ERROR, "The global config cannot be read.",
    "Starts as on the first day: projects, permissions, servers and the account are forgotten.",
    "`recollect repair --home-files` restores the newest whole backup and merges what is still readable.", "config",
)  # fmt: skip
CORRUPT_SETTINGS: Final = Rule(
    "corrupt-settings", ERROR, "A settings file cannot be read.",
    "Ignores all of it, or refuses to start; with it the wish to keep transcripts longer than 30 days.",
    "Correct the file; the detail says where it breaks.",
)  # fmt: skip


def check_config_files(subject: HomeSubject) -> Iterator[Finding]:
    """Check whether the JSON files that configure Claude Code are whole."""
    config = client_config(subject.home)
    if config is not None and config.problem:
        yield Finding(CORRUPT_CONFIG, subject.home.config_file, config.problem)
    for name, settings in settings_files(subject.home).items():
        if settings.problem:
            yield Finding(CORRUPT_SETTINGS, subject.home.root / name, settings.problem)


SKIPPED_FILE: Final = Rule(
    "skipped-file", WARNING, "A file that no version of Claude Code and no reader takes for a session.", "Does not see it.",
    "Look at it; rename or remove it.",
)  # fmt: skip
SESSION_ID_TWICE: Final = Rule(
    "session-id-twice", WARNING, "Two project folders hold a session of the same id.",
    "Finds the one of the current folder; from elsewhere none.",
    "`recollect repair` gives an id of its own to the one that does not belong to its folder, or is older.", "name",
)  # fmt: skip


def check_placed_files(subject: HomeSubject) -> Iterator[Finding]:
    """Find files below `projects/` that Claude Code does not read, and sessions that exist twice."""
    for item in subject.scan.skipped:
        yield Finding(SKIPPED_FILE, item.path, item.why)
    for files in copies_of_sessions(subject.scan.sessions):
        for file in files:
            yield Finding(SESSION_ID_TWICE, file.path, session_id=file.session_id)


SHARED_FOLDER: Final = Rule(
    "shared-folder", INFO, "Two projects share a folder: their paths differ only in what its name leaves out.",
    "Tells their sessions apart by their lines since 2.1.325; older versions mix them, and all share the memory.",
    "`recollect split` parts them.",
)  # fmt: skip


def check_shared_folders(subject: HomeSubject) -> Iterator[Finding]:
    """Find folders below `projects/` with sessions of two projects, whose paths lead to the same name."""
    found: dict[str, set[str]] = {}
    for file in subject.scan.sessions:
        project = subject.project_of(file)
        if project is not None:
            found.setdefault(file.folder, set()).add(project)
    for name, projects in sorted(found.items()):
        if len(projects) > 1:
            yield Finding(SHARED_FOLDER, subject.home.projects / name, " and ".join(sorted(projects)))


STALE_SESSIONS_INDEX: Final = Rule(
    "stale-sessions-index", WARNING, "Claude Code's list of sessions does not say what is in the folder.",
    "2.0.77 - 2.1.20 do not list sessions that are missing in it; newer ones do not read it.",
    "`recollect repair --home-files` writes it anew.", "index",
)  # fmt: skip


def check_sessions_index(subject: HomeSubject) -> Iterator[Finding]:
    """Check `sessions-index.json`, Claude Code's own cache of its sessions (2.0.77 - 2.1.20), which is often out of date."""
    folders: dict[str, set[str]] = {}
    for file in subject.scan.sessions:
        if file.client_lists:
            folders.setdefault(file.folder, set()).add(file.session_id)
    for name, present in folders.items():
        folder = subject.home.projects / name
        index = sessions_index(subject.home, folder)
        if index is None:
            continue
        listed = {entry.session_id for entry in index.entries}
        missing, gone = len(present - listed), len(listed - present)
        if index.problem or missing or gone:
            detail = index.problem or f"{missing} sessions are missing in it, {gone} are gone"
            yield Finding(STALE_SESSIONS_INDEX, folder / SESSIONS_INDEX, detail)


_IGNORES: Final = "Never looks at it again."
_REMEDY: Final = "Bring the transcript back from a copy; or remove what is left."

ORPHAN_SUBAGENT: Final = Rule("orphan-subagent", WARNING, "A subagent's session is gone.", _IGNORES, _REMEDY)
ORPHAN_TOOL_RESULTS: Final = Rule(
    "orphan-tool-results", WARNING, "Long outputs of a session whose transcript is gone.", _IGNORES, _REMEDY
)
ORPHAN_TODOS: Final = Rule(
    "orphan-todos", INFO, "A to-do list of a session whose transcript is gone.", _IGNORES, _REMEDY, fold=True
)
ORPHAN_FILE_HISTORY: Final = Rule(
    "orphan-file-history", INFO, "Backups of files of a session whose transcript is gone.", _IGNORES, _REMEDY
)
ORPHAN_TASKS: Final = Rule("orphan-tasks", INFO, "Tasks of a session whose transcript is gone.", _IGNORES, _REMEDY)


def check_orphans(subject: HomeSubject) -> Iterator[Finding]:
    """Find what is left of sessions whose transcript is gone."""
    home, known = subject.home, subject.session_ids
    for subagent in subject.scan.orphan_subagents:
        yield Finding(ORPHAN_SUBAGENT, subagent.path, subagent_id=subagent.subagent_id)
    for folder in subject.scan.lone_folders:
        if folder.name not in known and (folder / TOOL_RESULTS).is_dir():
            yield Finding(ORPHAN_TOOL_RESULTS, folder / TOOL_RESULTS, session_id=folder.name)
    for path in list_inside(home, home.root / layout.TODOS):
        ids = ids_in_todo_name(path.name)
        if ids is not None and ids[0] not in known:
            # One finding for all of them: there is a file for each subagent of each session that ever was.
            yield Finding(ORPHAN_TODOS, path.parent, path.name)
    for rule, place in ((ORPHAN_FILE_HISTORY, FILE_HISTORY), (ORPHAN_TASKS, layout.TASKS)):
        for folder in list_inside(home, home.root / place):
            if is_session_id(folder.name) and folder.name not in known:
                yield Finding(rule, folder, session_id=folder.name)


CORRUPT_SIDE_FILE: Final = Rule(
    "corrupt-side-file", WARNING, "A to-do list, a task or the description of a subagent cannot be read.",
    "Goes on as if it were not there.", "Bring it back from a copy, or remove it.",
)  # fmt: skip


def check_side_files(subject: HomeSubject) -> Iterator[Finding]:
    """Check the small JSON files beside the transcripts: to-do lists, tasks, descriptions of subagents."""
    home = subject.home
    for todos in todo_lists(home):
        if todos.todos.problem:
            yield Finding(CORRUPT_SIDE_FILE, todos.file.path, todos.todos.problem, session_id=todos.session_id)
    for tasks in task_lists(home):
        for task in tasks.tasks:
            if task.problem:
                path = tasks_folder(home.root, tasks.session_id) / f"{task.id}.json"
                yield Finding(CORRUPT_SIDE_FILE, path, task.problem, session_id=tasks.session_id)
    for file in subject.scan.sessions:
        for subagent in file.subagents:
            meta = subagent_meta(home, subagent.path) if subagent.meta_path is not None else None
            if meta is not None and meta.problem:
                found = subagent.meta_path or subagent.path
                yield Finding(
                    CORRUPT_SIDE_FILE, found, meta.problem, session_id=file.session_id, subagent_id=subagent.subagent_id
                )


PERMISSIONS_TOO_OPEN: Final = Rule(
    "permissions-too-open", WARNING, "Others may read what is in the home.",
    "Writes transcripts with whatever the umask permits.", "`chmod -R go-rwx` the folder.",
)  # fmt: skip
_OPEN: Final = stat.S_IRGRP | stat.S_IROTH | stat.S_IWGRP | stat.S_IWOTH


def check_permissions(subject: HomeSubject) -> Iterator[Finding]:
    """Check whether other users of this machine may read the transcripts."""
    if os.name != "posix":
        return
    home = subject.home
    if not _is_open(home.root):
        return  # nobody gets in, whatever stands inside
    for path in (home.projects, home.config_file, home.root / "history.jsonl"):
        if _is_open(path):
            yield Finding(PERMISSIONS_TOO_OPEN, path, f"mode {stat.S_IMODE(os.stat(path).st_mode):o}")


def _is_open(path: os.PathLike[str]) -> bool:
    try:
        return bool(os.stat(path).st_mode & _OPEN)
    except OSError:
        return False
