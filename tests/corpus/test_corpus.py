"""Real transcripts: every byte comes back, nothing raises, and no entry type is unknown without a reason."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.reading import read, transcript_of

from recollect.format.entries import KNOWN_TYPES
from recollect.format.line import DAMAGE_KINDS
from recollect.graph.thread import STATUSES, find_thread

CORPUS = Path(os.environ.get("RECOLLECT_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real transcripts is not here"),
]

FILES = sorted(CORPUS.rglob("*.jsonl")) if CORPUS.is_dir() else []

Json = dict[str, Any]

#: Other agents that write JSON lines, and an object by which their files are known.
OTHER_AGENTS: dict[str, Callable[[Json], bool]] = {
    "antigravity": lambda o: "step_index" in o,
    "codex": lambda o: "payload" in o,
    "codex, before its rollouts": lambda o: (
        o.get("type") in ("function_call", "function_result", None)
        and "role" in o
        and bool({"timestamp", "created_at"} & set(o))
    ),
    "copilot": lambda o: isinstance(o.get("data"), dict) and "parentId" in o,
    "cursor": lambda o: o.get("type") is None and {"role", "message"} <= set(o),
    "cursor, nothing but an error": lambda o: set(o) == {"type", "error"},
    "droid": lambda o: o.get("type") == "session_start" and "owner" in o,
    "droid, as a stream": lambda o: o.get("type") == "completion" and "finalText" in o,
    "gemini": lambda o: "projectHash" in o,
    "grok": lambda o: o.get("type") == "assistant" and "model_fingerprint" in o,
    "kimi": lambda o: "protocol_version" in o or str(o.get("role", "")).startswith("_"),
    "kimi, its wire": lambda o: isinstance(o.get("timestamp"), float) and "message" in o,
    "pi and its relatives": lambda o: o.get("type") == "session" and isinstance(o.get("version"), int),
    "qwen": lambda o: isinstance(o.get("message"), dict) and "parts" in o["message"],
    "vibe": lambda o: {"role", "content", "message_id"} <= set(o),
}

#: Objects in files of Claude Code that no client wrote: other projects made them up for their own tests.
MADE_UP: dict[str, Callable[[Json], bool]] = {
    "a line that is meant to be silly": lambda o: set(o) == {"silly"},
    "responses without a type, for counting tokens": lambda o: {"costUSD", "requestId", "message"} <= set(o),
    "calls and results as entries": lambda o: o.get("type") in ("tool_use", "tool_result") and o.get("version") is None,
}


def objects_of(path: Path) -> list[Json]:
    found = []
    for line in path.read_bytes().split(b"\n"):
        try:
            value = json.loads(line.decode("utf-8", "replace"), strict=False)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def subagent_of(objects: list[Json]) -> str | None:
    """The other agent that wrote a file; None where it is Claude Code's."""
    return next((name for name, marks in OTHER_AGENTS.items() if any(marks(value) for value in objects)), None)


def name(path: Path) -> str:
    return str(path.relative_to(CORPUS))


def test_there_is_something_to_read() -> None:
    ours = [path for path in FILES if subagent_of(objects_of(path)) is None]
    assert len(FILES) > 100
    assert len(ours) > 80


def test_every_byte_comes_back_and_every_place_is_right() -> None:
    for path in FILES:
        reading = read(path.read_bytes())
        assert b"".join(line.data for line in reading.lines) == reading.data, name(path)
        for item in reading.found:
            value = json.loads(reading.at(item).decode("utf-8", "replace"), strict=False)
            assert isinstance(value, dict), name(path)
        assert all(item.kind in DAMAGE_KINDS for item in reading.damage), name(path)


def test_nothing_raises_and_every_row_has_a_status() -> None:
    rows = 0
    for path in FILES:
        transcript = transcript_of(path.read_bytes())
        thread = find_thread(transcript)
        assert len(thread.placements) == len(transcript.rows), name(path)
        assert all(item.status in STATUSES for item in thread.placements), name(path)
        indexes = [row.index for row in thread.chain]
        assert len(indexes) == len(set(indexes)), name(path)
        rows += len(indexes)
    assert rows > 1_000


def test_no_file_of_claude_code_is_taken_for_another_subagents() -> None:
    for path in FILES:
        objects = objects_of(path)
        rows = [o for o in objects if {"parentUuid", "sessionId", "cwd"} <= set(o) and o.get("type") == "assistant"]
        if any("content" in o["message"] for o in rows):
            assert subagent_of(objects) is None, name(path)


def test_no_type_is_unknown_without_a_reason(record_testsuite_property: Callable[[str, object], None]) -> None:
    """The drift report: a new client that writes new kinds of lines shows here first."""
    unexplained: Counter[str] = Counter()
    explained: Counter[str] = Counter()
    for path in FILES:
        objects = objects_of(path)
        subagent = subagent_of(objects)
        for value in objects:
            kind = value.get("type")
            if kind in KNOWN_TYPES:
                continue
            reason = subagent or next((words for words, marks in MADE_UP.items() if marks(value)), None)
            if reason is None:
                unexplained[f"{kind} in {name(path)}"] += 1
            else:
                explained[reason] += 1
    for reason, count in sorted(explained.items()):
        print(f"{count:6} unknown entries: {reason}")
        record_testsuite_property(f"drift: {reason}", count)
    assert not unexplained


def test_what_the_reader_counts_as_unknown_is_what_is_unknown() -> None:
    for path in FILES:
        objects = objects_of(path)
        kinds = Counter(value.get("type") for value in objects if value.get("type") not in KNOWN_TYPES)
        counted = transcript_of(path.read_bytes()).unknown_types
        # Glued objects are found by the reader alone, so it may know of more.
        for kind, count in kinds.items():
            assert counted[kind if isinstance(kind, str) else "(no type)"] >= count, name(path)


def test_every_explanation_is_needed() -> None:
    """A reason that explains nothing any more would hide the next drift."""
    every = [objects_of(path) for path in FILES]
    for words, marks in (OTHER_AGENTS | MADE_UP).items():
        assert any(marks(value) for objects in every for value in objects), words
