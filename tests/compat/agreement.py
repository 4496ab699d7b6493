"""Hold what Recollect calls the conversation against what the client really sent.

Both sides become a list of (role, kind, value): texts by their words, calls and results by their ids. What the
client adds of its own accord is taken out, and results are put before words inside one user message, as the API
demands and the client does. Thoughts are left out: whether they are sent depends on the model of the day, not on the
transcript.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.compat.wire import Block, content_blocks, is_added_by_client

Said = tuple[str, str, str]

FILLERS = (
    "No response requested.",
    "Continue from where you left off.",
    "(no content)",
    "[Tool use interrupted]",
    "[Orphaned tool result removed due to conversation resume]",
)
"""What the client says in place of something that is missing."""

SYNTHETIC_RESULTS = ("[Tool result missing", "[Tool use interrupted]", "[Tool call interrupted:")
"""How the results begin that the client makes up for calls that have none."""
UNCOMPARED = {"thinking", "redacted_thinking", "None"}
"""Thoughts, and blocks without a type, which are never sent."""


NOTIFICATION = re.compile(r"<task-notification>.*</task-notification>", re.DOTALL)
"""A row that the client wraps into a reminder when it sends it."""


def readable(text: str) -> str:
    """Lone surrogates and bad bytes become U+FFFD on their way to the API, however many."""
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    while "\ufffd\ufffd" in clean:
        clean = clean.replace("\ufffd\ufffd", "\ufffd")
    return clean.strip()


def spoken(blocks: Iterable[Block], left_out: frozenset[str] = frozenset()) -> list[Said]:
    """What is said by a list of blocks, but for the texts in ``left_out``."""
    said: list[Said] = []
    for block in blocks:
        notification = NOTIFICATION.search(block.text) if block.kind == "text" and block.role == "user" else None
        if notification:
            said.append((block.role, block.kind, readable(notification.group())))
            continue
        if block.kind in UNCOMPARED or is_added_by_client(block):
            continue
        if block.kind == "tool_result" and block.text.strip().startswith(SYNTHETIC_RESULTS):
            continue
        value = block.ident or readable(block.text)
        if block.kind == "text" and (not value or value in FILLERS or value in left_out):
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


class Transcript:
    """What the rows of a transcript say, read with the standard library: a second opinion on the reader under test."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.contents: dict[str, tuple[Block, ...]] = {}
        self.system_texts: set[str] = set()
        """Words of system rows: some are sent as the user's, but they are no user or assistant rows."""
        for line in lines:
            entry = parsed(line)
            message = entry.get("message")
            if entry.get("type") in ("user", "assistant") and isinstance(message, dict):
                blocks = tuple(content_blocks(entry["type"], message.get("content")))
                self.contents[str(entry.get("uuid"))] = blocks  # of two copies the last
            elif entry.get("type") == "system" and isinstance(entry.get("content"), str):
                self.system_texts.add(readable(entry["content"]))

    def said(self, uuids: Iterable[str]) -> list[Said]:
        """What is said by these rows, in this order."""
        return spoken(block for uuid in uuids for block in self.contents.get(uuid, ()))

    def sent(self, blocks: Iterable[Block]) -> list[Said]:
        """What the client sent, as far as it comes from user and assistant rows."""
        return spoken(blocks, frozenset(self.system_texts))


def read_transcript(path: Path) -> Transcript:
    return Transcript(path.read_bytes().split(b"\n"))


def parsed(line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}
