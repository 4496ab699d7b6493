from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.format.scratch_files import (
    IdeLock,
    LogTimes,
    ShellSnapshotName,
    config_backup_time,
    debug_log_session,
    debug_log_times,
    parse_ide_lock,
    parse_shell_snapshot_name,
    paste_hash,
)

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_shell_snapshot_names() -> None:
    assert parse_shell_snapshot_name("snapshot-zsh-1772442000000-x1y2z3.sh") == ShellSnapshotName(
        shell="zsh", taken_at=NINE, id="x1y2z3"
    )
    assert parse_shell_snapshot_name("snapshot-bash-1772442000000.sh") == ShellSnapshotName(shell="bash", taken_at=NINE)
    assert parse_shell_snapshot_name("snapshot.sh") is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (".claude.json.backup", (True, None)),
        (".claude.json.backup.1772442000000", (True, NINE)),
        (".claude.json", (False, None)),
        (".claude.json.backup.x", (False, None)),
    ],
)
def test_config_backups(name: str, expected: tuple[bool, datetime | None]) -> None:
    assert config_backup_time(name) == expected


def test_debug_logs() -> None:
    assert debug_log_session("s-1.txt") == "s-1"
    assert debug_log_session("latest") is None
    log = (
        b"no time\n2026-03-02T09:00:00.000Z [DEBUG] start\nat 2026-01-01T00:00:00Z\n2026-03-02T09:00:05Z [ERROR] end\n"
    )
    assert debug_log_times(log, log) == LogTimes(first=NINE, last=NINE.replace(second=5))
    assert debug_log_times(b"", b"2026-99-99T99:99:99Z x") == LogTimes()


def test_pastes() -> None:
    assert paste_hash("ab12.txt") == "ab12"
    assert paste_hash("ab12") is None


def test_ide_lock_without_its_token() -> None:
    lock = parse_ide_lock(
        b'{"pid": 5, "workspaceFolders": ["/w"], "ideName": "E", "transport": "ws", "authToken": "t0ps3cret", "n": 1}',
        "8080.lock",
    )
    assert lock == IdeLock(port=8080, pid=5, ide_name="E", workspace_folders=("/w",), transport="ws", extra={"n": 1})
    assert parse_ide_lock(b"", "x.lock") == IdeLock(problem="the file is empty")


@given(st.binary(max_size=80))
def test_no_bytes_raise(data: bytes) -> None:
    debug_log_times(data, data)
    assert parse_ide_lock(data, "1.lock").problem is not None or data.strip().startswith(b"{")
