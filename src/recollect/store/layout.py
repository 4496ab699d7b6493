"""Map paths below a Claude home to what they name and back: kind, project folder, session, subagent, workflow.

Every module that needs the owner or the place of a file asks this one; no other module spells these names.

    projects/<folder>/<session>.jsonl                                               a session's transcript
    projects/<folder>/agent-<subagent>.jsonl                                        a subagent's (2.0.28 - 2.1.8)
    projects/<folder>/<session>/subagents/agent-<subagent>.jsonl, .meta.json        a subagent's (2.1.9 and later)
    projects/<folder>/<session>/subagents/workflows/<run>/agent-<subagent>.jsonl    a subagent's in a workflow
    projects/<folder>/<session>/tool-results/..., custom-title.json, resume-head.jsonl
    projects/<folder>/memory/..., sessions-index.json
    todos/<session>.json, <session>-agent-<subagent>.json                           to-do lists (until 2.1.50)
    tasks/<session>/<number>.json, file-history/<session>/<hash>@v<number>

No file is opened or searched for: names alone decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from ..format.path_text import UUID
from .opening import is_secret_file_name

PROJECTS: Final = "projects"
SUBAGENTS: Final = "subagents"
WORKFLOWS: Final = "workflows"
TOOL_RESULTS: Final = "tool-results"
MEMORY: Final = "memory"
TODOS: Final = "todos"
TASKS: Final = "tasks"
FILE_HISTORY: Final = "file-history"
HISTORY: Final = "history.jsonl"
SESSIONS_INDEX: Final = "sessions-index.json"
CUSTOM_TITLE: Final = "custom-title.json"
_TRANSCRIPT: Final = ".jsonl"
_META: Final = ".meta.json"
_SUBAGENT: Final = "agent-"
_OF_SUBAGENT: Final = "-agent-"
_DEEPEST: Final = 5
"""How many parts `<folder>/<session>/subagents/workflows/<run>` has."""


class FileKind(StrEnum):
    """What a file of a home holds."""

    TRANSCRIPT = "transcript"
    SUBAGENT_TRANSCRIPT = "subagent transcript"
    SUBAGENT_META = "subagent meta"
    TOOL_RESULT = "tool result"
    CUSTOM_TITLE = "custom title"
    RESUME_HEAD = "resume head"
    SESSIONS_INDEX = "sessions index"
    MEMORY = "memory"
    TODOS = "todos"
    TASK = "task"
    PLAN = "plan"
    HISTORY = "history"
    FILE_BACKUP = "file backup"
    RUNNING_SESSION = "running session"
    SESSION_ENV = "session environment"
    SHELL_SNAPSHOT = "shell snapshot"
    DEBUG_LOG = "debug log"
    PASTE = "paste"
    IDE_LOCK = "editor lock"
    STATS_CACHE = "stats cache"
    STATSIG = "feature flags"
    DEFINITION = "command, agent or skill"
    PLUGIN = "plugin"
    SETTINGS = "settings"
    CLIENT_CONFIG = "global config"
    CONFIG_BACKUP = "config backup"
    INSTRUCTIONS = "instructions"
    CLIENT_STATE = "other state"
    SECRET = "secret"  # never read
    UNKNOWN = "unknown"


_BY_TOP_FOLDER = {
    "todos": FileKind.TODOS,
    "tasks": FileKind.TASK,
    "plans": FileKind.PLAN,
    "file-history": FileKind.FILE_BACKUP,
    "session-env": FileKind.SESSION_ENV,
    "shell-snapshots": FileKind.SHELL_SNAPSHOT,
    "debug": FileKind.DEBUG_LOG,
    "paste-cache": FileKind.PASTE,
    "ide": FileKind.IDE_LOCK,
    "statsig": FileKind.STATSIG,
    "commands": FileKind.DEFINITION,
    "agents": FileKind.DEFINITION,
    "skills": FileKind.DEFINITION,
    "output-styles": FileKind.DEFINITION,
    "rules": FileKind.INSTRUCTIONS,
    "plugins": FileKind.PLUGIN,
    "agent-memory": FileKind.MEMORY,
    "agent-memory-local": FileKind.MEMORY,
    "agent-memory-project": FileKind.MEMORY,
    "backups": FileKind.CONFIG_BACKUP,
}
_IN_SESSION_FOLDER = {CUSTOM_TITLE: FileKind.CUSTOM_TITLE, "resume-head.jsonl": FileKind.RESUME_HEAD}
_BY_TOP_NAME = {
    "history.jsonl": FileKind.HISTORY,
    "settings.json": FileKind.SETTINGS,
    "settings.local.json": FileKind.SETTINGS,
    ".claude.json": FileKind.CLIENT_CONFIG,
    "config.json": FileKind.CLIENT_CONFIG,
    "stats-cache.json": FileKind.STATS_CACHE,
    "CLAUDE.md": FileKind.INSTRUCTIONS,
    "CLAUDE.local.md": FileKind.INSTRUCTIONS,
    ".last-cleanup": FileKind.CLIENT_STATE,
    "keybindings.json": FileKind.SETTINGS,
}
# Folders that Claude Code uses and whose files Recollect does not parse.
_OTHER_CLIENT_FOLDERS = frozenset(
    """
    api-dumps cache chrome cowork_plugins daemon downloads dump-prompts feedback feedback-bundles file-transfers hooks
    image-cache jobs local local-settings logs mcp-discovery-cache mcp-skill-archives project-settings remote
    remote-control scratch seed-admin shares startup-perf state storage-v2 systemd teams telemetry traces uploads
    usage-data
    """.split()  # noqa: SIM905  a list of forty quoted names is harder to read
)
_BY_TOP_FOLDER.update(dict.fromkeys(_OTHER_CLIENT_FOLDERS, FileKind.CLIENT_STATE))


class HomeFile(NamedTuple):
    """What the path of a file says about it. Names are as on disk; None if the path does not say it."""

    kind: FileKind
    folder: str | None = None
    """The name of the project folder."""
    session_id: str | None = None
    """None for a subagent beside the sessions (2.0.28 - 2.1.8): only its lines name the session."""
    subagent_id: str | None = None
    workflow: str | None = None
    rest: str = ""
    """What remains of the path; the whole path for files that belong to no session and no project."""


def file_at(parts: Sequence[str]) -> HomeFile:
    """Parse the path of a file below a home, given as its parts (`("todos", "x.json")`)."""
    kind = FileKind.UNKNOWN
    if parts and is_secret_file_name(parts[-1]):
        kind = FileKind.SECRET
    elif len(parts) == 1:
        kind = _BY_TOP_NAME.get(parts[0], FileKind.UNKNOWN)
        if kind is FileKind.UNKNOWN and parts[0].startswith(".claude.json."):
            from ..format.settings import config_backup_time  # imports much, for one kind of name

            kind = FileKind.CONFIG_BACKUP if config_backup_time(parts[0])[0] else kind
    elif parts:
        known = _named_by_session(parts)
        if known is not None:
            return known
        kind = _BY_TOP_FOLDER.get(parts[0], FileKind.UNKNOWN)
        if parts[0] == "sessions" and parts[-1].endswith(".json"):
            kind = FileKind.RUNNING_SESSION
    return HomeFile(kind, session_id=_session_in(parts), rest="/".join(parts))


def path_of(file: HomeFile) -> str:
    """Return the path of a file below the home: the inverse of `file_at`."""
    kind, folder, session_id, subagent_id, workflow, rest = file
    project = f"{PROJECTS}/{folder}"
    own = f"{project}/{session_id}"
    match kind:
        case FileKind.TRANSCRIPT:
            return f"{own}{_TRANSCRIPT}"
        case FileKind.SUBAGENT_TRANSCRIPT | FileKind.SUBAGENT_META:
            name = f"{_SUBAGENT}{subagent_id}{_TRANSCRIPT if kind is FileKind.SUBAGENT_TRANSCRIPT else _META}"
            if session_id is None:
                return f"{project}/{name}"
            return (
                f"{own}/{SUBAGENTS}/{name}" if workflow is None else f"{own}/{SUBAGENTS}/{WORKFLOWS}/{workflow}/{name}"
            )
        case FileKind.TOOL_RESULT:
            return f"{own}/{TOOL_RESULTS}/{rest}"
        case FileKind.CUSTOM_TITLE | FileKind.RESUME_HEAD:
            return f"{own}/{rest}"
        case FileKind.SESSIONS_INDEX:
            return f"{project}/{SESSIONS_INDEX}"
        case FileKind.MEMORY if folder is not None:
            return f"{project}/{MEMORY}/{rest}"
        case FileKind.TODOS if session_id is not None:
            return (
                f"{TODOS}/{session_id}.json" if subagent_id is None else f"{TODOS}/{todo_name(session_id, subagent_id)}"
            )
        case FileKind.TASK if session_id is not None:
            return f"{TASKS}/{session_id}/{rest}"
        case FileKind.FILE_BACKUP if session_id is not None:
            return f"{FILE_HISTORY}/{session_id}/{rest}"
    return rest


def kind_of_file(parts: Sequence[str]) -> FileKind:
    """Return the kind of a file from the parts of its path below a home."""
    return file_at(parts).kind


def _named_by_session(parts: Sequence[str]) -> HomeFile | None:
    """Parse a path that has a project, session or subagent at a fixed place; return None for other paths."""
    top, name = parts[0], parts[-1]
    if top == PROJECTS:
        return _in_project(parts) if len(parts) > 2 else None
    if top == TODOS and len(parts) == 2:
        ids = ids_in_todo_name(name)
        return None if ids is None else HomeFile(FileKind.TODOS, None, *ids)
    if top in (TASKS, FILE_HISTORY) and len(parts) > 2:
        return HomeFile(_BY_TOP_FOLDER[top], session_id=parts[1], rest="/".join(parts[2:]))
    return None


def _in_project(parts: Sequence[str]) -> HomeFile:
    folder, first, name = parts[1], parts[2], parts[-1]
    if len(parts) == 3:
        if name == SESSIONS_INDEX:
            return HomeFile(FileKind.SESSIONS_INDEX, folder)
        if name.endswith(_TRANSCRIPT):
            subagent_id = subagent_id_of(name)
            if subagent_id is not None:
                return HomeFile(FileKind.SUBAGENT_TRANSCRIPT, folder, subagent_id=subagent_id)
            return HomeFile(FileKind.TRANSCRIPT, folder, name[: -len(_TRANSCRIPT)])
        owner = name.partition(_TRANSCRIPT)[0] if _TRANSCRIPT in name else None  # a copy such as <session>.jsonl.bak
        return HomeFile(FileKind.UNKNOWN, folder, owner or None, rest="/".join(parts))
    if first == MEMORY:
        return HomeFile(FileKind.MEMORY, folder, rest="/".join(parts[3:]))
    if len(parts) == 4 and name in _IN_SESSION_FOLDER:
        return HomeFile(_IN_SESSION_FOLDER[name], folder, first, rest=name)
    if len(parts) > 4 and parts[3] == TOOL_RESULTS:
        return HomeFile(FileKind.TOOL_RESULT, folder, first, rest="/".join(parts[4:]))
    if parts[3] == SUBAGENTS and (len(parts) == 5 or (len(parts) == 7 and parts[4] == WORKFLOWS)):
        workflow = parts[5] if len(parts) == 7 else None
        subagent_id = subagent_id_of(name)
        if subagent_id is not None:
            kind = FileKind.SUBAGENT_META if name.endswith(_META) else FileKind.SUBAGENT_TRANSCRIPT
            return HomeFile(kind, folder, first, subagent_id, workflow)
    return HomeFile(FileKind.UNKNOWN, folder, first, rest="/".join(parts))


def holds_transcripts(parts: Sequence[str]) -> bool:
    """Return whether a folder may hold transcripts, or folders with them, from the parts of its path below `projects/`."""
    return (
        len(parts) <= _DEEPEST
        and (len(parts) < 2 or parts[1] != MEMORY)
        and (len(parts) < 3 or parts[2] == SUBAGENTS)
        and (len(parts) < 4 or parts[3] == WORKFLOWS)
    )


def _session_in(parts: Sequence[str]) -> str | None:
    """Return the session id in a path outside of `projects/`, such as `debug/<session>.txt`."""
    return next((match[0] for part in parts[1:] if (match := UUID.match(part)) is not None), None)


# --- names of files ---------------------------------------------------------------------------------------------------


def is_session_id(text: object) -> bool:
    """Return whether Claude Code accepts this name of a session: a UUID in lower case."""
    return isinstance(text, str) and UUID.fullmatch(text) is not None


def subagent_id_of(name: str) -> str | None:
    """Return the subagent's id in `agent-<id>.jsonl` or `agent-<id>.meta.json`; None for any other name."""
    if not name.startswith(_SUBAGENT):
        return None
    for ending in (_TRANSCRIPT, _META):
        if name.endswith(ending):
            return name[len(_SUBAGENT) : -len(ending)] or None
    return None


def is_subagent_name(name: str) -> bool:
    """Return whether a file of this name is the transcript of a subagent."""
    return name.startswith(_SUBAGENT) and name.endswith(_TRANSCRIPT) and len(name) > len(_SUBAGENT) + len(_TRANSCRIPT)


def subagent_name(subagent_id: str) -> str:
    """Return the file name of a subagent's transcript."""
    return f"{_SUBAGENT}{subagent_id}{_TRANSCRIPT}"


def without_prefix(subagent: str) -> str:
    """Return a subagent's id without the `agent-` of its file name, which users may have copied with it."""
    return subagent.removeprefix(_SUBAGENT)


def ids_in_todo_name(name: str) -> tuple[str, str | None] | None:
    """Return the session and the subagent of a file in `todos/`; None for a name of another kind.

    Since 1.0.30 the name of the main list has the session's id in both places; before, it had no second part.
    """
    stem = name.removesuffix(".json")
    if stem == name or not stem:
        return None
    session_id, marker, subagent_id = stem.partition(_OF_SUBAGENT)
    if not session_id or (marker and not subagent_id):
        return None
    return session_id, subagent_id or None


def todo_name(session_id: str, subagent_id: str) -> str:
    """Return the file name of a to-do list since 1.0.30; the main list has the session's id in both places."""
    return f"{session_id}{_OF_SUBAGENT}{subagent_id}.json"


# --- places of files and folders --------------------------------------------------------------------------------------


def subagents_folder(transcript: Path) -> Path:
    """Return the folder of the subagents of a session (2.1.9 and later)."""
    return transcript.with_suffix("") / SUBAGENTS


def meta_of(transcript: Path) -> Path:
    """Return the path of the description beside a subagent's transcript."""
    return transcript.with_suffix(_META)


def tool_results_folder(transcript: Path) -> Path:
    """Return the folder of the outputs that were too long for a session's transcript."""
    return transcript.with_suffix("") / TOOL_RESULTS


def backups_folder(root: Path, session_id: str) -> Path:
    """Return the folder of the checkpoints of files that a session changed."""
    return root / FILE_HISTORY / session_id


def tasks_folder(root: Path, session_id: str) -> Path:
    """Return the folder of a session's tasks."""
    return root / TASKS / session_id
