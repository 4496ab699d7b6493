"""Read files that belong to one session: backups, long outputs, titles, environment; also logs and shell snapshots."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recollect.errors import RecollectError
from recollect.format.file_history import parse_backup_name
from recollect.format.scratch_files import (
    LogTimes,
    ShellSnapshotName,
    debug_log_session,
    debug_log_times,
    parse_shell_snapshot_name,
)
from recollect.format.sessions_index import CustomTitle, SessionsIndex, parse_custom_title, parse_sessions_index
from recollect.format.subagent_meta import SubagentMeta, parse_subagent_meta
from recollect.store.home import Home
from recollect.store.layout import CUSTOM_TITLE, SESSIONS_INDEX, TOOL_RESULTS, backups_folder, meta_of
from recollect.store.parsed_file import FileInfo, info_of, read_if_there
from recollect.store.paths import list_inside, open_inside, read_inside

LOG_PIECE = 16 << 10


@dataclass(frozen=True, slots=True)
class DebugLog:
    session_id: str
    file: FileInfo
    times: LogTimes
    is_latest: bool
    problem: str | None = None


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


def session_environment(home: Home, session_id: str) -> list[FileInfo]:
    """List the files that hooks left for the environment of a session. They are not read: they may hold secrets."""
    return [info_of(path) for path in list_inside(home, home.root / "session-env" / session_id)]


def shell_snapshots(home: Home) -> list[tuple[FileInfo, ShellSnapshotName]]:
    named = ((path, parse_shell_snapshot_name(path.name)) for path in list_inside(home, home.root / "shell-snapshots"))
    return [(info_of(path), name) for path, name in named if name is not None]


def debug_logs(home: Home) -> list[DebugLog]:
    """Return the debug logs, with their first and last time, read from the two ends of each file."""
    folder = home.root / "debug"
    try:
        latest = Path(os.readlink(folder / "latest")).name
    except OSError:
        latest = None
    found = []
    for path in list_inside(home, folder):
        session_id = debug_log_session(path.name)
        if session_id is not None:
            times, problem = _log_times(home, path)
            found.append(DebugLog(session_id, info_of(path), times, path.name == latest, problem))
    return found


def _log_times(home: Home, path: Path) -> tuple[LogTimes, str | None]:
    try:
        with open_inside(home, path) as stream:
            head = stream.read(LOG_PIECE)
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(size - LOG_PIECE, 0))
            return debug_log_times(head, stream.read(LOG_PIECE)), None
    except (RecollectError, OSError) as error:
        return LogTimes(), str(error)


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
