"""The demo home: small, the same each time, and with something of everything to show."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.testing import SECRET, build_demo_home

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    build_demo_home(tmp_path / "demo", now=NOW)
    return tmp_path / "demo"


def transcripts(root: Path) -> list[Path]:
    return sorted(path for path in root.glob("projects/*/*.jsonl") if not path.name.startswith("agent-"))


def rows_of(path: Path) -> list[dict[str, Any]]:
    rows = []
    for line in path.read_bytes().splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def test_the_same_moment_gives_the_same_bytes(demo: Path, tmp_path: Path) -> None:
    build_demo_home(demo, now=NOW)
    first = {path: (path.read_bytes(), path.stat().st_mtime) for path in demo.rglob("*") if path.is_file()}
    build_demo_home(demo, now=NOW)
    assert {path: (path.read_bytes(), path.stat().st_mtime) for path in demo.rglob("*") if path.is_file()} == first
    assert list(tmp_path.iterdir()) == [demo]


def test_three_projects_a_worktree_and_a_dozen_sessions(demo: Path) -> None:
    paths = transcripts(demo)
    assert 12 <= len(paths) <= 15
    directories = {row["cwd"] for path in paths for row in rows_of(path) if "cwd" in row}
    repositories = {directory.split("/.claude/worktrees/")[0] for directory in directories}
    assert (len(repositories), len(directories)) == (3, 4)
    assert len({row["version"] for path in paths for row in rows_of(path) if "version" in row}) >= 7


def test_some_sessions_are_about_to_be_deleted_and_none_is_overdue(demo: Path) -> None:
    ages = [NOW - datetime.fromtimestamp(path.stat().st_mtime, UTC) for path in transcripts(demo)]
    assert all(timedelta(0) < age < timedelta(days=30) for age in ages)
    assert 2 <= sum(age > timedelta(days=23) for age in ages) < len(ages)


def test_it_shows_a_rewind_a_compaction_parallel_calls_subagents_and_damage(demo: Path) -> None:
    rows = [row for path in transcripts(demo) for row in rows_of(path)]
    assert any(row["type"] == "last-prompt" and row.get("explicit") for row in rows)
    assert any(row.get("subtype") == "compact_boundary" for row in rows)
    children: dict[str, int] = {}
    for row in rows:
        if "toolUseResult" in row and "sourceToolAssistantUUID" in row:
            parent = next(other for other in rows if other.get("uuid") == row["parentUuid"])
            message = parent["message"]["id"]
            children[message] = children.get(message, 0) + 1
    assert max(children.values()) >= 3
    assert len(list(demo.glob("projects/*/agent-*.jsonl"))) == 1
    assert len(list(demo.glob("projects/*/*/subagents/*.jsonl"))) >= 3
    assert any(row.get("isSidechain") for row in rows)
    damaged = [path for path in transcripts(demo) if b"\0" in path.read_bytes()]
    assert len(damaged) == 1
    for name in ("plans/*.md", "tasks/*/1.json", "todos/*.json", "file-history/*/*@v1", "history.jsonl"):
        assert list(demo.glob(name)), name


def test_a_running_session_only_where_asked(demo: Path, tmp_path: Path) -> None:
    assert not (demo / "sessions").exists()
    other = tmp_path / "other"
    build_demo_home(other, now=NOW, running_pid=12345)
    entry = json.loads((other / "sessions/12345.json").read_text())
    newest = max(transcripts(other), key=lambda path: path.stat().st_mtime)
    assert entry["sessionId"] == newest.stem


def test_no_transcript_holds_a_secret(demo: Path) -> None:
    holders = {path.name for path in demo.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()}
    assert ".credentials.json" in holders
    assert not any(name.endswith(".jsonl") for name in holders)
