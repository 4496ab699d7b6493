"""Every file that a real client of three ages wrote is read, given back byte for byte, and its subagents are found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.compat import clients, reader, stores
from tests.compat.told import Store

pytestmark = [
    pytest.mark.compat,
    pytest.mark.timeout(900),
    pytest.mark.parametrize("version", [clients.NEWEST, *clients.OLDER]),
]

LAYOUTS = {clients.NEWEST: "subagents", "2.0.77": "beside", "1.0.128": "inside"}


def subagents_of(config: Path, session: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = reader.recollect(config, "subagents", session, "--json").json()["rows"]
    return rows


def calls_of_subagents(path: Path) -> set[str]:
    """Ids of the calls in a main transcript that started a subagent, read without Recollect."""
    found = set()
    for line in path.read_bytes().split(b"\n"):
        entry = json.loads(line) if line.strip() else {}
        content = (entry.get("message") or {}).get("content") if entry.get("type") == "assistant" else None
        if isinstance(content, list) and not entry.get("isSidechain"):
            found |= {
                block["id"] for block in content if block["type"] == "tool_use" and block["name"] in ("Agent", "Task")
            }
    return found


def test_every_session_is_listed(version: str, captured: Callable[[str], Store]) -> None:
    config = captured(version).config
    listed = {row["session_id"]: row for row in reader.recollect(config, "list", "--json").json()["rows"]}
    files = {path.stem: path for path in stores.transcripts(config)}
    assert set(listed) == set(files)
    for session, path in files.items():
        assert Path(listed[session]["path"]) == path
        assert listed[session]["problem"] == ("empty file" if path.stat().st_size == 0 else None)


def test_what_the_client_wrote_needs_no_repair(version: str, captured: Callable[[str], Store]) -> None:
    """Prompts taken back, rewinds, interruptions, compactions, forks and all: Claude Code resumes them whole."""
    config = captured(version).config
    plans = reader.recollect(config, "repair", "--all", "--json").json()["rows"]
    assert [(plan["session_id"], [fix["fix"] for fix in plan["fixes"]]) for plan in plans] == []
    lost = reader.recollect(config, "check", "--rule", "second-root", "--rule", "history-out-of-reach", "--json")
    assert lost.json()["rows"] == []


def test_cat_gives_the_bytes_back(version: str, captured: Callable[[str], Store]) -> None:
    config = captured(version).config
    for path in stores.transcripts(config):
        assert reader.recollect(config, "cat", path.stem).data == path.read_bytes(), path.name


def test_cat_gives_the_bytes_of_subagents_back(version: str, captured: Callable[[str], Store]) -> None:
    config = captured(version).config
    given = {}
    for path in stores.transcripts(config):
        for row in subagents_of(config, path.stem):
            if row["layout"] in ("subagents", "beside"):
                output = reader.recollect(config, "cat", path.stem, "--subagent", row["subagent_id"])
                given[Path(row["path"])] = output.data
    assert set(given) == set((config / "projects").rglob("agent-*.jsonl"))
    assert all(data == path.read_bytes() for path, data in given.items())


def test_subagents_hang_on_their_calls(version: str, captured: Callable[[str], Store]) -> None:
    store = captured(version)
    for scene in ("subagent", "agents2"):
        calls = calls_of_subagents(store.transcript(scene))
        hung = [row for row in subagents_of(store.config, store.scenes[scene]) if row["tool_use_id"]]
        assert {row["tool_use_id"] for row in hung} == calls
        assert {row["layout"] for row in hung} == {LAYOUTS[version]}
        assert all(row["messages"] > 0 for row in hung)


def test_the_lines_are_all_understood(version: str, captured: Callable[[str], Store]) -> None:
    config = captured(version).config
    for row in reader.recollect(config, "list", "--json").json()["rows"]:
        path = Path(row["path"])
        assert row["lines"] == path.read_bytes().count(b"\n"), path.name
