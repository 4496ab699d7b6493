"""Checkpoints of files: names of backups, snapshots, deltas."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.format.file_history import (
    BackupName,
    FileBackup,
    FileDelta,
    FileSnapshot,
    hash_of_path,
    parse_backup_name,
    parse_file_history_entry,
)


def test_backup_names() -> None:
    assert parse_backup_name("0123456789abcdef@v12") == BackupName(path_hash="0123456789abcdef", version=12)


@pytest.mark.parametrize("name", ["0123456789abcde@v1", "0123456789ABCDEF@v1", "0123456789abcdef@v", "x", "", "@v1"])
def test_other_names(name: str) -> None:
    assert parse_backup_name(name) is None


def test_hash_of_a_path() -> None:
    # printf %s /w/app/main.py | sha256sum
    assert hash_of_path("/w/app/main.py") == "50855f6276d2f931"


def test_snapshot() -> None:
    snapshot = parse_file_history_entry(
        {
            "type": "file-history-snapshot",
            "messageId": "call",
            "isSnapshotUpdate": True,
            "snapshot": {
                "messageId": "prompt",
                "timestamp": "2026-03-02T09:00:00.000Z",
                "trackedFileBackups": {
                    "a.py": {
                        "backupFileName": "0123456789abcdef@v1",
                        "version": 1,
                        "backupTime": "2026-03-02T09:00:01Z",
                    },
                    "new.py": {"backupFileName": None, "version": 1, "mood": "good"},
                },
                "later": 1,
            },
            "seen": 2,
        }
    )
    assert snapshot == FileSnapshot(
        message_id="call",
        snapshot_message_id="prompt",
        timestamp=datetime(2026, 3, 2, 9, tzinfo=UTC),
        is_update=True,
        backups={
            "a.py": FileBackup(
                file_name="0123456789abcdef@v1", version=1, time=datetime(2026, 3, 2, 9, 0, 1, tzinfo=UTC)
            ),
            "new.py": FileBackup(version=1, extra={"mood": "good"}),
        },
        extra={"snapshot": {"later": 1}, "seen": 2},
    )
    assert snapshot.backups["new.py"].absent


def test_delta() -> None:
    delta = parse_file_history_entry(
        {
            "type": "file-history-delta",
            "messageId": "call",
            "snapshotMessageId": "prompt",
            "trackingPath": "src/a.py",
            "backup": {"backupFileName": None, "version": 1, "realParentDir": "/w/app/src"},
            "timestamp": "2026-03-02T09:00:00Z",
        }
    )
    assert delta == FileDelta(
        message_id="call",
        snapshot_message_id="prompt",
        timestamp=datetime(2026, 3, 2, 9, tzinfo=UTC),
        path="src/a.py",
        backup=FileBackup(version=1, real_parent_dir="/w/app/src"),
    )


def test_broken_entries_are_values() -> None:
    snapshot = parse_file_history_entry(
        {"type": "file-history-snapshot", "snapshot": {"trackedFileBackups": {"a": "oops"}}}
    )
    assert isinstance(snapshot, FileSnapshot)
    assert snapshot.problem == "1 of 1 tracked files are not objects"
    assert snapshot.extra == {"snapshot": {"trackedFileBackups": {"a": "oops"}}}
    delta = parse_file_history_entry({"type": "file-history-delta", "backup": 5})
    assert isinstance(delta, FileDelta)
    assert delta.problem == "the delta names no backup"
    assert delta.extra == {"backup": 5}


def test_other_entries() -> None:
    assert parse_file_history_entry({"type": "user"}) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "a.py", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["", "a.py", "x"]), inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(["messageId", "snapshot", "trackedFileBackups", "backup", "trackingPath", "isSnapshotUpdate"])


@given(
    st.sampled_from(["file-history-snapshot", "file-history-delta"]), st.dictionaries(names, json_values, max_size=5)
)
def test_any_values_give_an_entry(type_: str, values: dict[str, object]) -> None:
    assert parse_file_history_entry({"type": type_, **values}) is not None
