"""Parse file checkpoints: `file-history-snapshot` and `file-history-delta` lines of a transcript, and names of backups.

What Claude Code writes (and what its rewind relies on):
  - At every prompt it writes a snapshot with one backup per tracked file. The snapshot's own `messageId` is the
    prompt's uuid, and the backups hold the files as they were when the prompt was sent.
  - When a tool is about to change a file that is not tracked yet, the file is added to the snapshot of the current
    prompt: up to about 2.1.200 by writing the whole snapshot again (`isSnapshotUpdate: true`; the outer `messageId` is
    the assistant row that calls the tool), later by a delta for the one file (`snapshotMessageId` is the prompt).
  - `backupFileName: null` means that the file did not exist.
  - Paths are relative to the session's working directory where they can be.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from recollect.format.json_file import Fields

SNAPSHOT_TYPE = "file-history-snapshot"
DELTA_TYPE = "file-history-delta"

_BACKUP_NAME = re.compile(r"(?P<hash>[0-9a-f]{16})@v(?P<version>[0-9]{1,9})", re.ASCII)


class BackupName(msgspec.Struct, frozen=True, kw_only=True):
    """The name of a file in `file-history/<session>/`: `<hash of the path>@v<version>`."""

    path_hash: str
    version: int


class FileBackup(msgspec.Struct, frozen=True, kw_only=True):
    """One version of one file in a snapshot or a delta. `file_name` is None where the file did not exist."""

    file_name: str | None = None
    version: int | None = None
    time: datetime | None = None
    real_parent_dir: str | None = None
    extra: dict[str, Any] = {}

    @property
    def absent(self) -> bool:
        return self.file_name is None


class FileSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """All tracked files at one prompt (`snapshot_message_id`). `message_id` is the row that caused the line."""

    message_id: str | None = None
    snapshot_message_id: str | None = None
    timestamp: datetime | None = None
    is_update: bool = False
    backups: dict[str, FileBackup] = {}
    extra: dict[str, Any] = {}
    problem: str | None = None


class FileDelta(msgspec.Struct, frozen=True, kw_only=True):
    """One file added to the snapshot of a prompt (since about 2.1.200)."""

    message_id: str | None = None
    snapshot_message_id: str | None = None
    timestamp: datetime | None = None
    path: str | None = None
    backup: FileBackup | None = None
    extra: dict[str, Any] = {}
    problem: str | None = None


def hash_of_path(absolute_path: str) -> str:
    """Return the first half of a backup's name: 16 hex digits of the SHA-256 of the absolute path."""
    return hashlib.sha256(absolute_path.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def parse_backup_name(name: str) -> BackupName | None:
    """Parse the file name of a backup; None for any other name."""
    match = _BACKUP_NAME.fullmatch(name)
    return BackupName(path_hash=match["hash"], version=int(match["version"])) if match else None


def parse_file_history_entry(entry: Mapping[str, Any]) -> FileSnapshot | FileDelta | None:
    """Parse a decoded snapshot or delta line; None for an entry of any other type."""
    match entry.get("type"):
        case "file-history-snapshot":
            return parse_snapshot(entry)
        case "file-history-delta":
            return parse_delta(entry)
        case _:
            return None


def parse_snapshot(entry: Mapping[str, Any]) -> FileSnapshot:
    fields = Fields(entry)
    fields.text("type")
    message_id = fields.text("messageId")
    inner = Fields(fields.mapping("snapshot"))
    tracked = inner.mapping("trackedFileBackups")
    backups = {path: _parse_backup(value) for path, value in tracked.items() if isinstance(value, dict)}
    strange = {path: value for path, value in tracked.items() if path not in backups}
    prompt_id = inner.text("messageId") or message_id
    timestamp = inner.moment_iso("timestamp")
    if strange:
        inner.rest["trackedFileBackups"] = strange
    if inner.rest:
        fields.rest["snapshot"] = inner.rest
    return FileSnapshot(
        message_id=message_id,
        snapshot_message_id=prompt_id,
        timestamp=timestamp,
        is_update=fields.flag("isSnapshotUpdate") or False,
        backups=backups,
        extra=fields.rest,
        problem=f"{len(strange)} of {len(tracked)} tracked files are not objects" if strange else None,
    )


def parse_delta(entry: Mapping[str, Any]) -> FileDelta:
    fields = Fields(entry)
    fields.text("type")
    backup = fields.rest.get("backup")
    return FileDelta(
        message_id=fields.text("messageId"),
        snapshot_message_id=fields.text("snapshotMessageId"),
        timestamp=fields.moment_iso("timestamp"),
        path=fields.text("trackingPath"),
        backup=_parse_backup(fields.mapping("backup")) if isinstance(backup, dict) else None,
        extra=fields.rest,
        problem=None if isinstance(backup, dict) else "the delta names no backup",
    )


def _parse_backup(value: Mapping[str, Any]) -> FileBackup:
    fields = Fields(value)
    file_name = fields.text("backupFileName")
    if file_name is None and fields.rest.get("backupFileName", "") is None:
        del fields.rest["backupFileName"]
    return FileBackup(
        file_name=file_name,
        version=fields.whole("version"),
        time=fields.moment_iso("backupTime"),
        real_parent_dir=fields.text("realParentDir"),
        extra=fields.rest,
    )
