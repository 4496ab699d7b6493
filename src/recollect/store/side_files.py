"""Find and read the files of a home beside the transcripts: todos, tasks, plans, prompts, logs, memory, backups, outputs.

Every one is read into a typed value by `read_parsed`; `walk_files` walks the folders of a home.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from recollect.errors import NotFound, RecollectError
from recollect.format.documents import Document, parse_document
from recollect.format.file_history import parse_backup_name
from recollect.format.history import HistoryEntry, parse_history_line
from recollect.format.line import read_lines
from recollect.format.session_meta import (
    CustomTitle,
    RunningSession,
    SessionsIndex,
    SubagentMeta,
    parse_custom_title,
    parse_running_session,
    parse_sessions_index,
    parse_subagent_meta,
    pid_of,
)
from recollect.format.todos import (
    HIGH_WATER_MARK_NAME,
    Task,
    TodoList,
    parse_high_water_mark,
    parse_task,
    parse_todos,
    task_number,
)
from recollect.store.home import Home, is_inside, list_inside, open_inside, read_inside
from recollect.store.layout import (
    CUSTOM_TITLE,
    HISTORY,
    MEMORY,
    SESSIONS_INDEX,
    TASKS,
    TODOS,
    TOOL_RESULTS,
    FileKind,
    backups_folder,
    ids_in_todo_name,
    kind_of_file,
    meta_of,
)

SIZE_LIMIT = 64 << 20
"""Side files are small. A larger one is reported and not read, so that memory stays bounded."""
MAX_DEPTH = 32

Parsed = TypeVar("Parsed", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class FileInfo:
    """Path, size and last modification of a file; None if the system does not report them."""

    path: Path
    size: int | None = None
    modified: datetime | None = None


def info_of(path: Path) -> FileInfo:
    try:
        found = path.lstat()
    except OSError:
        return FileInfo(path)
    return FileInfo(path, found.st_size, datetime.fromtimestamp(found.st_mtime, UTC))


def read_parsed(home: Home, path: Path, parse: Callable[[bytes], Parsed]) -> Parsed:
    """Read a file and parse it. If it cannot be read, return an empty value with the reason in `problem`."""
    try:
        data = read_inside(home, path, SIZE_LIMIT + 1)
    except RecollectError as error:
        return msgspec.structs.replace(parse(b""), problem=error.message)
    except OSError as error:
        return msgspec.structs.replace(parse(b""), problem=f"cannot be read: {error.strerror or error}")
    if len(data) > SIZE_LIMIT:
        return msgspec.structs.replace(parse(b""), problem=f"larger than {SIZE_LIMIT >> 20} MB, not read")
    return parse(data)


def read_if_there(home: Home, path: Path, parse: Callable[[bytes], Parsed]) -> Parsed | None:
    """Read a file and parse it as `read_parsed` does; return None if it does not exist."""
    return read_parsed(home, path, parse) if os.path.lexists(path) else None


def walk_files(home: Home, folder: Path) -> Iterator[Path]:
    """Yield every file below a folder, by name. A link to a folder is followed if it ends in the home.

    No folder is entered twice, so circular links end.
    """
    yield from _walk(home, folder, MAX_DEPTH, {os.path.realpath(folder)})


def _walk(home: Home, folder: Path, depth: int, entered: set[str]) -> Iterator[Path]:
    for path in list_inside(home, folder):
        if not is_folder(home, path):
            yield path
        elif depth > 0 and (real := os.path.realpath(path)) not in entered:
            entered.add(real)
            yield from _walk(home, path, depth - 1, entered)


def is_folder(home: Home, path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
        return stat.S_ISDIR(mode) or (stat.S_ISLNK(mode) and is_inside(home, path) and path.is_dir())
    except OSError:
        return False


def survey(home: Home) -> dict[FileKind, tuple[int, int]]:
    """Count the files of each kind in a home, and their bytes. Opens none of them."""
    counts: Counter[FileKind] = Counter()
    sizes: Counter[FileKind] = Counter()
    for path in walk_files(home, home.root):
        kind = kind_of_file(path.relative_to(home.root).parts)
        counts[kind] += 1
        sizes[kind] += info_of(path).size or 0
    return {kind: (counts[kind], sizes[kind]) for kind in FileKind if counts[kind]}


def file_backups(home: Home, session_id: str) -> dict[str, FileInfo]:
    """Return the file backups of a session by file name."""
    folder = backups_folder(home.root, session_id)
    return {path.name: info_of(path) for path in list_inside(home, folder) if parse_backup_name(path.name) is not None}


def backup_reader(home: Home, session_id: str) -> Callable[[str], bytes | None]:
    """Return a function that reads a backup of this session by name; it returns None if the backup cannot be read."""
    folder = backups_folder(home.root, session_id)

    def read(name: str) -> bytes | None:
        if parse_backup_name(name) is None:  # the name comes from a transcript: it must not lead out of the folder
            return None
        try:
            return read_inside(home, folder / name)
        except (RecollectError, OSError):
            return None

    return read


def sessions_index(home: Home, project_folder: Path) -> SessionsIndex | None:
    return read_if_there(home, project_folder / SESSIONS_INDEX, parse_sessions_index)


def custom_title(home: Home, session_folder: Path) -> CustomTitle | None:
    return read_if_there(home, session_folder / CUSTOM_TITLE, parse_custom_title)


def subagent_meta(home: Home, transcript: Path) -> SubagentMeta | None:
    """Return the description beside a subagent's transcript."""
    return read_if_there(home, meta_of(transcript), parse_subagent_meta)


def tool_results(home: Home, session_folder: Path) -> dict[str, FileInfo]:
    """Return the outputs that were too long for the transcript, by their id."""
    return {path.stem: info_of(path) for path in list_inside(home, session_folder / TOOL_RESULTS)}


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
                # A line too long for memory comes in pieces; the last one is not JSON and is reported.
                if not line.more:
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
