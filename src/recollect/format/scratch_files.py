"""Parse working files of Claude Code: shell snapshots, debug logs, pastes, editor locks, backups of its config."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import msgspec

from recollect.format.json_file import Fields, decode_json_file, moment_of_iso, moment_of_ms
from recollect.format.masking import mask_secrets

DEBUG_LATEST_NAME = "latest"

_SHELL_SNAPSHOT = re.compile(r"snapshot-(?P<shell>[^-]+)-(?P<ms>[0-9]{1,16})(?:-(?P<id>.+))?\.sh", re.ASCII)
_CONFIG_BACKUP = re.compile(r"\.claude\.json\.(?:backup|corrupted)(?:\.(?P<ms>[0-9]{1,16}))?", re.ASCII)
_LOG_TIME = re.compile(rb"^\[?(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z)", re.MULTILINE)


class ShellSnapshotName(msgspec.Struct, frozen=True, kw_only=True):
    """`snapshot-<shell>-<ms>-<id>.sh`: the user's shell set-up, sourced before each command; deleted at exit."""

    shell: str
    taken_at: datetime | None = None
    id: str | None = None


class LogTimes(msgspec.Struct, frozen=True, kw_only=True):
    first: datetime | None = None
    last: datetime | None = None


class IdeLock(msgspec.Struct, frozen=True, kw_only=True):
    """`ide/<port>.lock`: an editor to which Claude Code can connect. Its token is dropped while parsing."""

    port: int | None = None
    pid: int | None = None
    ide_name: str | None = None
    workspace_folders: tuple[str, ...] = ()
    transport: str | None = None
    running_in_windows: bool | None = None
    extra: dict[str, Any] = {}
    problem: str | None = None


def parse_shell_snapshot_name(name: str) -> ShellSnapshotName | None:
    match = _SHELL_SNAPSHOT.fullmatch(name)
    if match is None:
        return None
    return ShellSnapshotName(shell=match["shell"], taken_at=moment_of_ms(int(match["ms"])), id=match["id"])


def config_backup_time(name: str) -> tuple[bool, datetime | None]:
    """Return whether a file name is that of a backup of `.claude.json`, and its time (part of the name since 2.1.50)."""
    match = _CONFIG_BACKUP.fullmatch(name)
    if match is None:
        return False, None
    return True, moment_of_ms(int(match["ms"])) if match["ms"] else None


def debug_log_session(name: str) -> str | None:
    """Return the session of `debug/<session>.txt`; None for any other name."""
    stem = name.removesuffix(".txt")
    return stem if stem != name and stem else None


def debug_log_times(head: bytes, tail: bytes) -> LogTimes:
    """Return the first and the last timestamp of a log, from its first and its last bytes."""
    first = _LOG_TIME.search(head)
    last = None
    for last in _LOG_TIME.finditer(tail):  # noqa: B007  the last match is what is wanted
        pass
    return LogTimes(
        first=moment_of_iso(first["time"].decode("ascii")) if first else None,
        last=moment_of_iso(last["time"].decode("ascii")) if last else None,
    )


def paste_hash(name: str) -> str | None:
    """Return the hash in `paste-cache/<hash>.txt`, to which `history.jsonl` refers; None for any other name."""
    stem = name.removesuffix(".txt")
    return stem if stem != name and stem else None


def parse_ide_lock(data: bytes, name: str) -> IdeLock:
    stem = name.removesuffix(".lock")
    port = int(stem) if stem.isascii() and stem.isdigit() and len(stem) <= 5 else None
    file = decode_json_file(data, expect=dict)
    fields = Fields(file.value)
    fields.rest.pop("authToken", None)
    folders = fields.texts("workspaceFolders")
    return IdeLock(
        port=port,
        pid=fields.whole("pid"),
        ide_name=fields.text("ideName"),
        workspace_folders=folders,
        transport=fields.text("transport"),
        running_in_windows=fields.flag("runningInWindows"),
        extra=mask_secrets(fields.rest),
        problem=file.problem,
    )
