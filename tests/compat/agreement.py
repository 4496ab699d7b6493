"""Hold what Recollect calls the conversation against what the client really sent.

Both sides become a list of (role, kind, value): texts by their words, calls and results by their ids. What the client adds of
its own accord is taken out, and results are put before words inside one user message, as the API demands and the client does.
Thoughts are left out: whether they are sent depends on the model of the day, not on the transcript.
"""
from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from tests.compat.wire import Block, content_blocks, is_added_by_client

Said = tuple[str, str, str]

FILLERS = (
    "No response requested.",
    "(no content)",
    "[Tool use interrupted]",
    "[Orphaned tool result removed due to conversation resume]",
)
"""What the client says in place of something that is missing."""

SYNTHETIC_RESULTS = ("[Tool result missing", "[Tool use interrupted]", "[Tool call interrupted:")
"""How the results begin that the client makes up for calls that have none."""
UNCOMPARED = {"thinking", "redacted_thinking", "None"}
"""Thoughts, and blocks without a type, which are never sent."""


def readable(text: str) -> str:
    """Lone surrogates and bad bytes become U+FFFD on their way to the API, however many."""
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    while "\ufffd\ufffd" in clean:
        clean = clean.replace("\ufffd\ufffd", "\ufffd")
    return clean.strip()


def spoken(blocks: Iterable[Block]) -> list[Said]:
    """What is said by a list of blocks."""
    said: list[Said] = []
    for block in blocks:
        if block.kind in UNCOMPARED or is_added_by_client(block):
            continue
        if block.kind == "tool_result" and block.text.strip().startswith(SYNTHETIC_RESULTS):
            continue
        value = block.ident or readable(block.text)
        if block.kind == "text" and (not value or value in FILLERS):
            continue
        said.append((block.role, block.kind, value))
    return results_first(said)


def results_first(said: Sequence[Said]) -> list[Said]:
    ordered: list[Said] = []
    for _, run in groupby(said, key=lambda item: item[0]):
        items = list(run)
        ordered += [item for item in items if item[1] == "tool_result"]
        ordered += [item for item in items if item[1] != "tool_result"]
    return ordered


def contents_of(path: Path) -> dict[str, tuple[Block, ...]]:
    """What each row of an undamaged transcript says, by uuid; of two copies the last."""
    contents: dict[str, tuple[Block, ...]] = {}
    for line in path.read_bytes().split(b"\n"):
        if not line.strip():
            continue
        entry = json.loads(line)
        if isinstance(entry, dict) and entry.get("type") in ("user", "assistant") and isinstance(entry.get("message"), dict):
            contents[entry["uuid"]] = tuple(content_blocks(entry["type"], entry["message"].get("content")))
    return contents
