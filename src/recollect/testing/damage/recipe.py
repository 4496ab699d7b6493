"""A kind of damage as a value: how to inflict it, what a reader reports, and what Claude Code makes of it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from ..encoding import encode_line
from ..identifiers import uuid_from
from ..toolcalls import bash
from ..transcript import TranscriptBuilder

Inflict = Callable[[bytes, int], bytes]
SAMPLE_ROWS = 18
"""Rows of the tree in the sample."""

Target = Literal["text", "use", "result"]
"""Which row of the sample is hit: a plain message inside the chain, a tool call, or its result."""


class Outcome(Enum):
    """What 2.1.326 sends when it resumes the damaged sample, whose rows are 30 s apart."""

    WHOLE = "every row"
    AFTER_TARGET = "only the rows after the one that was hit"
    FROM_TARGET = "the row that was hit and those after it"
    UP_TO_TARGET = "the rows up to and including the one that was hit"
    WITHOUT_TARGET = "every row but the one that was hit"
    WITHOUT_CALL_AND_TARGET = "every row but the result that was hit and the call before it"
    WITHOUT_TARGET_AND_RESULT = "every row but the call that was hit and the result behind it"
    WITHOUT_LAST = "every row but the last"
    LAST = "only the last row"
    NONE = "no conversation is found, or it is empty"

    def of(self, thread: Sequence[str], target: str | None) -> list[str]:
        """The rows of the healthy `thread` that are left."""
        place = thread.index(target) if target is not None else 0
        return {
            Outcome.WHOLE: list(thread),
            Outcome.AFTER_TARGET: list(thread[place + 1 :]),
            Outcome.FROM_TARGET: list(thread[place:]),
            Outcome.UP_TO_TARGET: list(thread[: place + 1]),
            Outcome.WITHOUT_TARGET: [uuid for uuid in thread if uuid != target],
            Outcome.WITHOUT_CALL_AND_TARGET: [*thread[: max(place - 1, 0)], *thread[place + 1 :]],
            Outcome.WITHOUT_TARGET_AND_RESULT: [*thread[:place], *thread[place + 2 :]],
            Outcome.WITHOUT_LAST: list(thread[:-1]),
            Outcome.LAST: list(thread[-1:]),
            Outcome.NONE: [],
        }[self]


@dataclass(frozen=True)
class DamageRecipe:
    """One kind of damage.

    `kinds` must be among what the line reader reports. `lost` counts rows of the sample whose object no reader of lines
    can get back. `outcome` is None where Claude Code's answer was not measured. `rename` gives the damaged file's name.
    """

    name: str
    description: str
    inflict: Inflict
    kinds: frozenset[str] = frozenset()
    lost: int = 0
    outcome: Outcome | None = None
    target: Target = "text"
    rename: Callable[[str], str] | None = None

    def apply(self, data: bytes, seed: int = 0) -> bytes:
        """Damage any transcript. One that lacks what the recipe needs (four lines, a tool call) comes back as it is."""
        return self.inflict(data, seed) if data.count(b"\n") >= 4 else data

    def make(self, seed: int = 0) -> bytes:
        """The damaged sample."""
        return self.apply(sample_session().to_bytes(), seed)

    def expected_thread(self, seed: int = 0) -> list[str] | None:
        """What Claude Code sends of the damaged sample; None where that was not measured."""
        if self.outcome is None:
            return None
        sample = sample_session()
        lines = split_lines(sample.to_bytes())
        row = parse(lines[find_target(lines, seed, self.target)]) or {}
        return self.outcome.of(sample.thread, row.get("uuid"))


def sample_session() -> TranscriptBuilder:
    """The healthy file that recipes start from: plain messages 30 s apart, and one tool call near the end."""
    t = TranscriptBuilder(uuid_from("damage", "sample"), "/home/dev/orchard", step=30.0)
    t.state("mode", mode="normal")
    for number in range(1, 7):
        t.user(f"Question {number}: how are the trees in row {number}? Ärger mit Äpfeln? \N{RED APPLE}")
        t.assistant(f"Answer {number}: row {number} bears {number * 10} apples.")
    t.user("Count them all.")
    t.call(bash("wc -l apples.txt", "210 apples.txt\n"))
    t.assistant("There are 210.")
    t.user("Thank you.")
    t.assistant("You are welcome.")
    return t


# -- tools for recipes ------------------------------------------------------------------------------------------------
def split_lines(data: bytes) -> list[bytes]:
    """Lines without their line feed; a file that ends in one has no empty line after it."""
    lines = data.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def join_lines(lines: Sequence[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def parse(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def block_types(entry: dict[str, Any] | None) -> set[str]:
    """Kinds of content of a message row; a text that stands for the content counts as `text`."""
    message = entry.get("message") if entry is not None and entry.get("type") in ("user", "assistant") else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return {"text"}
    return {block["type"] for block in content if isinstance(block, dict) and "type" in block} if content else set()


def find_target(lines: Sequence[bytes], seed: int, target: Target = "text") -> int:
    """Index of the line to hit: a plain one, with plain neighbours if there is such; -1 where no tool call is there."""
    kinds = [block_types(parse(line)) for line in lines]
    if target != "text":
        wanted = "tool_use" if target == "use" else "tool_result"
        return next((index for index, found in enumerate(kinds) if wanted in found), -1)
    inner = range(2, len(lines) - 2)
    plain = [index for index in inner if kinds[index] == {"text"}]
    among_plain = [index for index in plain if kinds[index - 1] == kinds[index + 1] == {"text"}]
    return random.Random(seed).choice(among_plain or plain or [len(lines) // 2])


def change_row(data: bytes, index: int, change: Callable[[dict[str, Any]], None]) -> bytes:
    """Rewrite one line's object; an unreadable line stays."""
    lines = split_lines(data)
    entry = parse(lines[index]) if lines else None
    if entry is not None:
        change(entry)
        lines[index] = encode_line(entry)
    return join_lines(lines)


def change_rows(data: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """Rewrite every row of the tree."""
    lines = split_lines(data)
    for index, line in enumerate(lines):
        entry = parse(line)
        if entry is not None and "uuid" in entry:
            change(entry)
            lines[index] = encode_line(entry)
    return join_lines(lines)


def rows(lines: Sequence[bytes]) -> list[int]:
    """Indices of the lines that are rows of the tree."""
    return [index for index, line in enumerate(lines) if "uuid" in (parse(line) or {})]


DAMAGES: dict[str, DamageRecipe] = {}
"""Every kind of damage by its name."""


def recipe(
    name: str,
    description: str,
    *kinds: str,
    lost: int = 0,
    outcome: Outcome | None = None,
    target: Target = "text",
    rename: Callable[[str], str] | None = None,
) -> Callable[[Inflict], Inflict]:
    """Register the decorated function under `name`; `kinds` are those that the line reader must report."""

    def register(inflict: Inflict) -> Inflict:
        if name in DAMAGES:
            raise ValueError(f"damage {name!r} is registered twice")
        DAMAGES[name] = DamageRecipe(name, description, inflict, frozenset(kinds), lost, outcome, target, rename)
        return inflict

    return register
