"""Find and read the files of a home beside the transcripts: todos, tasks, plans, prompts, logs, memory.

Every function returns a list or a stream of values. A folder that does not exist gives an empty one; a file that cannot
be read gives a value with the reason in its `problem`. Nothing outside the home, and no secret, is opened (see
paths.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec

from recollect.errors import NotFound, RecollectError
from recollect.format.documents import Document, parse_document
from recollect.format.history import HistoryEntry, parse_history_line
from recollect.format.line import read_lines
from recollect.format.running import RunningSession, parse_running_session, pid_of
from recollect.format.tasks import HIGH_WATER_MARK_NAME, Task, parse_high_water_mark, parse_task, task_number
from recollect.format.todos import TodoList, parse_todos
from recollect.store.home import Home
from recollect.store.layout import HISTORY, MEMORY, TASKS, TODOS, ids_in_todo_name
from recollect.store.parsed_file import SIZE_LIMIT, FileInfo, info_of, is_folder, read_parsed, walk_files
from recollect.store.paths import list_inside, open_inside, read_inside


@dataclass(frozen=True, slots=True)
class SubagentTodos:
    """The todo list of one subagent of a session; `subagent_id` is None for the session's main list."""

    session_id: str
    subagent_id: str | None
    file: FileInfo
    todos: TodoList


@dataclass(frozen=True, slots=True)
class SessionTasks:
    """The task list of a session, or of a team, whose name is then the id."""

    session_id: str
    tasks: tuple[Task, ...]
    high_water_mark: int | None
    modified: datetime | None


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A Markdown file of the home; `name` is its path below its folder, without `.md`."""

    name: str
    file: FileInfo
    document: Document


def todo_lists(home: Home, session_id: str | None = None) -> list[SubagentTodos]:
    """Return the todo lists of all sessions or of one: the main list first, then by subagent."""
    found = []
    for path in list_inside(home, home.root / TODOS):
        ids = ids_in_todo_name(path.name)
        if ids is None or (session_id is not None and ids[0] != session_id):
            continue
        owner, subagent_id = ids
        main_or_subagent = None if subagent_id == owner else subagent_id
        found.append(SubagentTodos(owner, main_or_subagent, info_of(path), read_parsed(home, path, parse_todos)))
    return sorted(found, key=lambda todos: (todos.session_id, todos.subagent_id is not None, todos.subagent_id or ""))


def task_lists(home: Home, session_id: str | None = None) -> list[SessionTasks]:
    """Return the task lists of all sessions or of one; tasks in the order of their numbers."""
    found = []
    for folder in list_inside(home, home.root / TASKS):
        if (session_id is not None and folder.name != session_id) or not is_folder(home, folder):
            continue
        files = [(number, path) for path in list_inside(home, folder) if (number := task_number(path.name)) is not None]
        times = [info.modified for _, path in files if (info := info_of(path)).modified is not None]
        found.append(
            SessionTasks(
                session_id=folder.name,
                tasks=tuple(_task(home, number, path) for number, path in sorted(files)),
                high_water_mark=_high_water_mark(home, folder),
                modified=max((time for time in times if time is not None), default=None),
            )
        )
    return found


def _task(home: Home, number: int, path: Path) -> Task:
    task = read_parsed(home, path, parse_task)
    return task if task.id is not None else msgspec.structs.replace(task, id=str(number))


def _high_water_mark(home: Home, folder: Path) -> int | None:
    try:
        return parse_high_water_mark(read_inside(home, folder / HIGH_WATER_MARK_NAME, 64))
    except (RecollectError, OSError):
        return None


def documents_in(home: Home, folder: Path) -> list[StoredDocument]:
    """Return the Markdown files below a folder."""
    found = []
    for path in walk_files(home, folder):
        relative = path.relative_to(folder).as_posix()
        if path.suffix == ".md" or _is_broken_link_to_folder(path):
            name = relative.removesuffix("/SKILL.md").removesuffix(".md")
            found.append(
                StoredDocument(
                    name, info_of(path), read_parsed(home, path, partial(parse_document, file_name=relative))
                )
            )
    return found


def _is_broken_link_to_folder(path: Path) -> bool:
    """Return whether this is a link that leads nowhere or out of the home, such as a skill kept elsewhere.

    Such a link is listed with its problem.
    """
    return path.is_symlink() and not path.suffix


def plans(home: Home) -> list[StoredDocument]:
    """Return the plans, the newest first."""
    oldest = datetime.min.replace(tzinfo=UTC)
    return sorted(documents_in(home, home.root / "plans"), key=lambda plan: plan.file.modified or oldest, reverse=True)


def memories(home: Home) -> dict[str, list[StoredDocument]]:
    """Return the memory files by the name of the project folder; `""` for those of the home itself."""
    found = {"": [*documents_in(home, home.root / "agent-memory")]}
    for folder in list_inside(home, home.projects):
        if documents := documents_in(home, folder / MEMORY):
            found[folder.name] = documents
    return {name: documents for name, documents in found.items() if documents}


def prompt_history(home: Home) -> Iterator[HistoryEntry]:
    """Yield every line of `history.jsonl` as it is read, the oldest first."""
    try:
        with open_inside(home, home.root / HISTORY) as stream:
            for line in read_lines(stream):
                if (
                    not line.more
                ):  # a line too long for memory comes in pieces; the last one is not JSON and is reported
                    yield from parse_history_line(line.data, number=line.number, offset=line.offset)
    except NotFound:
        return
    except (RecollectError, OSError) as error:
        yield HistoryEntry(line=0, offset=0, problem=str(error))


def paste_text(home: Home, content_hash: str) -> str | None:
    """Return the text of a paste that the history only names; None if it is gone."""
    if not content_hash.isalnum():
        return None
    try:
        data = read_inside(home, home.root / "paste-cache" / f"{content_hash}.txt", SIZE_LIMIT)
    except (RecollectError, OSError):
        return None
    return data.decode("utf-8", "replace")


def pastes(home: Home) -> list[FileInfo]:
    return [info_of(path) for path in list_inside(home, home.root / "paste-cache")]


def running_sessions(home: Home) -> list[RunningSession]:
    """Parse `sessions/<pid>.json`. Whether the process is still alive is for the caller to check."""
    found = []
    for path in list_inside(home, home.root / "sessions"):
        pid = pid_of(path.name)
        if pid is not None:
            running = read_parsed(home, path, parse_running_session)
            found.append(running if running.pid is not None else msgspec.structs.replace(running, pid=pid))
    return found
