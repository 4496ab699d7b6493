"""What every path inside a Claude home is: one name per kind of file, to list what is there and what was skipped."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from recollect.format.scratch_files import config_backup_time
from recollect.format.secret_names import is_secret_file_name
from recollect.format.subagent_meta import subagent_id_of


class FileKind(StrEnum):
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
    CLIENT_CONFIG = "client config"
    CONFIG_BACKUP = "config backup"
    INSTRUCTIONS = "instructions"
    CLIENT_STATE = "other client state"
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
# Folders that the client knows by name and whose files have no typed form here.
_OTHER_CLIENT_FOLDERS = frozenset(
    """
    api-dumps cache chrome cowork_plugins daemon downloads dump-prompts feedback feedback-bundles file-transfers hooks
    image-cache jobs local local-settings logs mcp-discovery-cache mcp-skill-archives project-settings remote
    remote-control scratch seed-admin shares startup-perf state storage-v2 systemd teams telemetry traces uploads
    usage-data
    """.split()  # noqa: SIM905  a list of forty quoted names is harder to read
)


def kind_of_file(parts: Sequence[str]) -> FileKind:
    """The kind of the file at a path inside the home, given as its parts (`("todos", "x.json")`)."""
    if not parts:
        return FileKind.UNKNOWN
    name = parts[-1]
    if is_secret_file_name(name):
        return FileKind.SECRET
    if len(parts) == 1:
        if config_backup_time(name)[0]:
            return FileKind.CONFIG_BACKUP
        return _BY_TOP_NAME.get(name, FileKind.UNKNOWN)
    if parts[0] == "projects":
        return _kind_in_projects(parts[1:])
    if parts[0] == "sessions":
        return FileKind.RUNNING_SESSION if name.endswith(".json") else FileKind.UNKNOWN
    if parts[0] in _OTHER_CLIENT_FOLDERS:
        return FileKind.CLIENT_STATE
    return _BY_TOP_FOLDER.get(parts[0], FileKind.UNKNOWN)


def _kind_in_projects(parts: Sequence[str]) -> FileKind:
    """`parts` begins with the project's folder."""
    name = parts[-1]
    if len(parts) == 2:
        if name == "sessions-index.json":
            return FileKind.SESSIONS_INDEX
        if name.endswith(".jsonl"):
            return FileKind.SUBAGENT_TRANSCRIPT if subagent_id_of(name) else FileKind.TRANSCRIPT
        return FileKind.UNKNOWN
    if len(parts) > 2 and parts[1] == "memory":
        return FileKind.MEMORY
    if len(parts) == 3:
        return {"custom-title.json": FileKind.CUSTOM_TITLE, "resume-head.jsonl": FileKind.RESUME_HEAD}.get(
            name, FileKind.UNKNOWN
        )
    if len(parts) > 3 and parts[2] == "tool-results":
        return FileKind.TOOL_RESULT
    if len(parts) > 3 and parts[2] == "subagents":
        if name.endswith(".meta.json"):
            return FileKind.SUBAGENT_META
        return FileKind.SUBAGENT_TRANSCRIPT if name.endswith(".jsonl") else FileKind.UNKNOWN
    return FileKind.UNKNOWN
