"""The generated store and its oracle: counted again by other means, and the same bytes every time."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from bench.generator.store import PRESETS, NotOurs, StoreRequest, write_store

TINY = StoreRequest(*PRESETS["tiny"])
# These two seeds give every feature at least once: forks and subagents without file; compactions and branches.
MODERN = StoreRequest(20, 1_000_000, seed=9, corrupt_p=0.02, modern=True)
LONG = StoreRequest(2, 4_000_000, seed=3)
TINY_DIGEST = "4b07d6e948d6c4961bef245fa1b96fd45de54608f1a9be75c1ad1c0c5c2b2668"


@pytest.fixture(scope="module", params=[TINY, MODERN, LONG], ids=["tiny", "modern", "long"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("generated") / "store"
    write_store(out, request.param, jobs=1)
    return out


def _truth(out: Path) -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((out / "truth.json").read_text())
    return truth


def _transcripts(out: Path) -> list[Path]:
    return sorted((out / "claude" / "projects").rglob("*.jsonl"))


def _objects(out: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Every line that is a whole object of its own, the damaged ones left out."""
    found = []
    for path in _transcripts(out):
        for line in path.read_bytes().split(b"\n"):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            found.append((path, value))
    return found


def _responses(out: Path) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The lines of each API response over the whole store, copies inside progress lines included."""
    responses = defaultdict(list)
    for _, entry in _objects(out):
        said = entry["data"]["message"] if entry.get("data", {}).get("type") == "agent_progress" else entry
        if said.get("type") == "assistant" and "requestId" in said:
            responses[said["message"]["id"], said["requestId"]].append(said)
    return responses


def test_counts_of_files_lines_and_bytes(store: Path) -> None:
    truth, paths = _truth(store), _transcripts(store)
    contents = [path.read_bytes() for path in paths]
    assert truth["files"] == len(paths)
    assert truth["bytes"] == sum(map(len, contents))
    assert truth["lines"] == sum(len(content.removesuffix(b"\n").split(b"\n")) for content in contents)
    subagents = [path for path in paths if path.name.startswith("agent-")]
    assert truth["subagents"] == len(subagents) + truth["subagents_without_file"]
    assert truth["sessions"] == len(paths) - len(subagents)


def test_counts_of_entries(store: Path) -> None:
    truth, objects = _truth(store), [entry for _, entry in _objects(store)]
    assert truth["compactions"] == sum(entry.get("subtype") == "compact_boundary" for entry in objects)
    echoes = {entry["uuid"] for entry in objects if entry.get("data", {}).get("type") == "agent_progress"}
    assert truth["progress_lines"] == len(echoes)
    # By uuid, since a fork repeats lines. The results of a subagent without file are nowhere on disk.
    results = {entry["uuid"] for entry in objects if "toolUseResult" in entry}
    if truth["subagents_without_file"]:
        assert truth["tool_results"] > len(results)
    else:
        assert truth["tool_results"] == len(results)


def test_the_chosen_seeds_hold_every_feature(tmp_path: Path) -> None:
    modern = write_store(tmp_path / "modern", MODERN, jobs=1)
    assert modern.forked_lines and modern.subagents_without_file and modern.advisor_calls and modern.corrupt_lines
    long = write_store(tmp_path / "long", LONG, jobs=1)
    assert long.compactions and long.branches and long.lone_surrogates and long.needles


def test_responses_and_tokens(store: Path) -> None:
    truth, responses = _truth(store), _responses(store)
    assert truth["messages"] == len(responses)
    total: dict[str, int] = defaultdict(int)
    for lines in responses.values():
        usages = [line["message"]["usage"] for line in lines]
        total["output"] += max(usage["output_tokens"] for usage in usages)
        total["input"] += usages[0]["input_tokens"]
        total["cache_read"] += usages[0]["cache_read_input_tokens"]
        total["cache_write_5m"] += usages[0]["cache_creation"]["ephemeral_5m_input_tokens"]
        total["cache_write_1h"] += usages[0]["cache_creation"]["ephemeral_1h_input_tokens"]
        advisors = {
            json.dumps(turn): turn
            for usage in usages
            for turn in usage.get("iterations", [])
            if turn["type"] == "advisor_message"
        }
        for turn in advisors.values():
            total["input"] += turn["input_tokens"]
            total["output"] += turn["output_tokens"]
    for name, amount in total.items():
        assert amount == sum(day[name] for day in truth["daily"].values()), name


def test_history_has_one_line_per_prompt_of_a_person(store: Path) -> None:
    prompts = {
        entry["uuid"]
        for path, entry in _objects(store)
        if entry.get("type") == "user"
        and isinstance(entry["message"]["content"], str)
        and not entry.get("isSidechain")
        and not entry.get("isCompactSummary")
        and "uuid" in entry
    }
    history = (store / "claude" / "history.jsonl").read_bytes().splitlines()
    assert len(history) == len(prompts)


def test_damage_is_there_when_asked_for(store: Path) -> None:
    truth = _truth(store)
    damaged = 0
    for path in _transcripts(store):
        for line in path.read_bytes().removesuffix(b"\n").split(b"\n"):
            try:
                json.loads(line)
            except ValueError:
                damaged += 1
    assert damaged == truth["corrupt_lines"]


@pytest.mark.parametrize("request_", [TINY, MODERN], ids=["tiny", "modern"])
def test_same_bytes_whatever_the_number_of_processes(request_: StoreRequest, tmp_path: Path) -> None:
    write_store(tmp_path / "one", request_, jobs=1)
    write_store(tmp_path / "two", request_, jobs=2)
    assert _digest(tmp_path / "one") == _digest(tmp_path / "two")


def test_seed_changes_the_bytes(tmp_path: Path) -> None:
    write_store(tmp_path / "one", StoreRequest(3, 50_000, seed=1), jobs=1)
    write_store(tmp_path / "two", StoreRequest(3, 50_000, seed=2), jobs=1)
    assert _digest(tmp_path / "one") != _digest(tmp_path / "two")


@pytest.mark.skipif(sys.platform != "linux", reason="another mathematical library may round the last bit otherwise")
def test_the_bytes_of_the_presets_stay_what_they_were(tmp_path: Path) -> None:
    """Published figures name a preset and a seed: whoever changes the bytes must know it, and measure again."""
    write_store(tmp_path / "store", TINY, jobs=1)
    assert _digest(tmp_path / "store", times=False) == TINY_DIGEST


def test_a_foreign_folder_is_not_deleted(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(NotOurs):
        write_store(tmp_path, StoreRequest(1, 10_000), jobs=1)
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


def _digest(out: Path, *, times: bool = True) -> str:
    """All files by name, content and, for transcripts, modification time."""
    digest = hashlib.sha256()
    for path in sorted(path for path in out.rglob("*") if path.is_file()):
        name = path.relative_to(out).as_posix()
        changed = path.stat().st_mtime_ns if times and "projects" in name and name.endswith(".jsonl") else 0
        digest.update(f"{name} {changed} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()
