"""Homes of every age: sound lines, the kinds and fields that clients of that version write, and true descriptions."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from recollect.testing import ALL_AGES, SECRET, AgeDescription, build_age
from recollect.testing.damage.recipe import block_types

REPOSITORY = Path(__file__).resolve().parents[2]
INVENTORY = (
    Path(os.environ.get("RECOLLECT_CORPUS", REPOSITORY.parent / "shared" / "corpus")).parent / "format-inventory.json"
)

NOT_CAPTURED = {"forkedFrom", "slug", "origin", "promptId", "explicit"}
"""Fields that depend on what the user did (branching, plans, typing in the terminal), not only on the version."""


@pytest.fixture(params=ALL_AGES)
def age(request: pytest.FixtureRequest, tmp_path: Path) -> AgeDescription:
    return build_age(tmp_path / "claude", request.param)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def kind_of(row: dict[str, Any]) -> str:
    match row["type"]:
        case "user" if row.get("isCompactSummary"):
            return "user/isCompactSummary"
        case "user" if row.get("isMeta"):
            return "user/isMeta"
        case "user":
            return "user/tool_result" if "tool_result" in block_types(row) else "user/prompt"
        case "assistant" if row.get("isApiErrorMessage"):
            return "assistant/api_error"
        case "assistant":
            return "assistant/" + "+".join(sorted(block_types(row)))
        case "system":
            return f"system/{row['subtype']}"
        case "attachment":
            return f"attachment/{row['attachment']['type']}"
        case "progress":
            return f"progress/{row['data']['type']}"
        case other:
            return str(other)


def test_every_json_file_and_line_parses(age: AgeDescription) -> None:
    files = [path for path in age.root.rglob("*") if path.is_file()]
    for path in files:
        if path.suffix == ".jsonl":
            data = path.read_bytes()
            assert data.endswith(b"\n")
            for line in data.splitlines():
                assert isinstance(json.loads(line), dict)
        elif path.suffix == ".json":
            json.loads(path.read_bytes())
    assert len(files) > 5


def test_description_counts_are_those_of_the_files(age: AgeDescription) -> None:
    for session in age.sessions:
        rows = rows_of(session.path)
        assert len(rows) == session.lines
        assert session.path.stem == session.session_id
        uuids = {row["uuid"] for row in rows if "uuid" in row}
        assert set(session.thread) <= uuids
        assert len(set(session.thread)) == len(session.thread) > 3
        assert set(session.abandoned) <= uuids - set(session.thread)
        for subagent in session.subagents:
            found = {row.get("uuid") for row in rows_of(subagent.path or session.path)}
            assert set(subagent.rows) <= found
            assert not set(subagent.rows) & set(session.thread)
    assert len(age.long.abandoned) == 2


def test_every_row_hangs_on_a_row_of_its_own_file(age: AgeDescription) -> None:
    for path in (age.root / "projects").rglob("*.jsonl"):
        rows = rows_of(path)
        uuids = {row["uuid"] for row in rows if "uuid" in row}
        assert {row["parentUuid"] for row in rows if row.get("parentUuid")} <= uuids


def test_secrets_are_there_to_be_kept_secret(age: AgeDescription) -> None:
    assert SECRET in (age.root / ".credentials.json").read_text()
    for session in age.sessions:
        assert SECRET not in session.path.read_text()


def test_layout_changes_with_the_ages(tmp_path: Path) -> None:
    homes = {version: build_age(tmp_path / version, version) for version in ALL_AGES}

    def having(pattern: str) -> list[str]:
        return [version for version, age in homes.items() if next(age.root.glob(pattern), None) is not None]

    assert having("config.json") == ["0.2.126", "1.0.0"]
    assert having("todos/*.json") == list(ALL_AGES[: ALL_AGES.index("2.1.80")])
    assert having("todos/*-agent-*.json") == list(ALL_AGES[2 : ALL_AGES.index("2.1.80")])
    assert having("projects/*/agent-*.jsonl") == ["2.0.77"]
    assert having("projects/*/*/subagents/agent-*.jsonl") == list(ALL_AGES[ALL_AGES.index("2.1.9") :])
    assert having("projects/*/*/subagents/agent-*.meta.json") == list(ALL_AGES[ALL_AGES.index("2.1.80") :])
    assert having("projects/*/sessions-index.json") == ["2.0.77", "2.1.9"]
    assert having("projects/*/*/subagents/workflows/*/agent-*.jsonl") == ["2.1.325", "2.1.326"]
    assert having("tasks/*/.lock") == ["2.1.325", "2.1.326"]
    assert having("sessions/*.key") == ["2.1.325", "2.1.326"]


@pytest.mark.skipif(not INVENTORY.exists(), reason="the inventory of captured clients is not on this machine")
def test_fields_are_those_that_the_captured_client_writes(age: AgeDescription) -> None:
    captured = json.loads(INVENTORY.read_text())["versions"].get(age.version)
    if captured is None:
        pytest.skip(f"no capture of {age.version}")
    wanted: dict[tuple[bool, str], list[set[str]]] = {}
    for file, entries in captured["entries"].items():
        if not file.endswith(".jsonl") or not file.startswith("projects/"):
            continue
        for kind, info in entries.items():
            short = "user/tool_result" if kind.startswith("user/tool_result") else kind
            always = {name for name in info["fields"] if not name.endswith("?")}
            known = {name.rstrip("?") for name in info["fields"]}
            entry = wanted.setdefault(("agent-" in file, short), [always, set()])
            entry[0] &= always
            entry[1] |= known
    checked = 0
    for path in (age.root / "projects").rglob("*.jsonl"):
        for row in rows_of(path):
            fields = wanted.get((path.name.startswith("agent-"), kind_of(row)))
            if fields is None or kind_of(row) in ("last-prompt", "attachment/plan_mode_exit"):
                continue
            assert fields[0] - set(row) <= NOT_CAPTURED, kind_of(row)
            assert set(row) - fields[1] <= NOT_CAPTURED, kind_of(row)
            checked += 1
    assert checked > 20


@pytest.mark.skipif(not INVENTORY.exists(), reason="the inventory of captured clients is not on this machine")
def test_the_main_kinds_of_lines_are_there(age: AgeDescription) -> None:
    captured = json.loads(INVENTORY.read_text())["versions"].get(age.version)
    if captured is None:
        pytest.skip(f"no capture of {age.version}")
    kinds = {
        kind for kind in captured["entries"]["projects/<project>/<uuid>.jsonl"] if not kind.startswith("attachment/")
    }
    ours = {kind_of(row) for session in age.sessions for row in rows_of(session.path)}
    assert {"user/tool_result" if kind.startswith("user/tool_result") else kind for kind in kinds} <= ours
