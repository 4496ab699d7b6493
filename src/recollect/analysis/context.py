"""Trace how full the context window was over the course of a session, and where it was compacted.

What fills the window (prompts, answers, tool results and the rest) is estimated. The whole is what the API counted for the last
answer. No line records how these tokens are divided. So the system prompt and the definitions of tools are estimated as what the
first answer's prompt had beyond the text before it, at four characters per token; the rest is divided by length among all
messages. Parts are whole tokens and add up to the whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from ..format.blocks import Block, MediaBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock, parse_blocks
from ..format.times import to_iso
from ..format.usage import Usage
from ..index.api_calls.rows import ADVISOR, PROGRESS
from .api_calls import ApiCall
from .prices.book import PriceBook

if TYPE_CHECKING:
    from ..index.catalogue.catalogue import Catalogue


@dataclass(slots=True)
class ContextTimeline:
    """The prompt lengths of the main conversation of a session, in order."""

    session_id: str
    window: int | None = None
    steps: list[ApiCall] = field(default_factory=list)
    boundaries: list[tuple[int, int]] = field(default_factory=list)
    """Where the conversation was compacted: file and line."""

    @property
    def compactions(self) -> int:
        return len(self.boundaries)

    def after_compaction(self) -> list[bool]:
        """Return for each step whether the window was compacted since the step before."""
        places = [(item.file_id, item.line) for item in self.steps]
        return [
            any(before < boundary < place for boundary in self.boundaries)
            for before, place in zip([(place[0], 0) for place in places[:1]] + places, places, strict=False)
        ]

    @property
    def peak(self) -> int:
        return max((item.counts.prompt + item.counts.output for item in self.steps), default=0)

    @property
    def last(self) -> int:
        """The tokens in the window at the end. Answers recorded without counts are skipped."""
        return next((item.counts.tokens for item in reversed(self.steps) if item.counts.tokens), 0)

    def data(self, *, whole: bool = False) -> dict[str, Any]:
        peak = self.peak
        row: dict[str, Any] = {
            "session_id": self.session_id, "calls": len(self.steps), "window": self.window, "peak_tokens": peak,
            "last_tokens": self.last, "peak_share": round(peak / self.window, 4) if self.window else None,
            "compactions": self.compactions,
        }  # fmt: skip
        if whole:
            row["course"] = [
                {
                    "time": to_iso(None if item.time is None else item.time / 1e6), "line": item.line,
                    "prompt": item.counts.prompt, "output": item.counts.output, "cache_read": item.counts.cache_read,
                    "new": item.counts.input + item.counts.cache_write_5m + item.counts.cache_write_1h,
                    "after_compaction": compacted,
                }
                for item, compacted in zip(self.steps, self.after_compaction(), strict=True)
            ]  # fmt: skip
        return row


def context_timelines(
    found: Iterable[ApiCall], book: PriceBook, catalogue: Catalogue | None = None, *, since: int | None = None,
    until: int | None = None,
) -> list[ContextTimeline]:  # fmt: skip
    """Return one timeline per session, the most recently used first.

    With a catalogue that holds the entries, compactions in this time are included.
    """
    sessions: dict[tuple[str, str], ContextTimeline] = {}
    for item in sorted(found, key=lambda item: (item.file_id, item.line)):
        if item.session_id is None or item.subagent_id is not None or item.flags & (ADVISOR | PROGRESS):
            continue
        course = sessions.setdefault((item.home, item.session_id), ContextTimeline(item.session_id))
        course.steps.append(item)
    for course in sessions.values():
        known = book.window(course.steps[-1].model)
        # A prompt longer than the usual window shows that the long window was in use.
        course.window = 1_000_000 if known is not None and course.peak > known else known
    if catalogue is not None:
        rows = catalogue.connection.execute(
            "SELECT h.path, f.session_id, e.file_id, e.line FROM entries e JOIN files f ON f.id = e.file_id "
            "JOIN homes h ON h.id = f.home_id WHERE e.subtype = 'compact_boundary' AND f.kind = 'session' "
            "AND (?1 IS NULL OR e.time >= ?1) AND (?2 IS NULL OR e.time < ?2) ORDER BY 3, 4",
            (since, until),
        )
        for home, session_id, file_id, line in rows:
            if (home, session_id) in sessions:
                sessions[home, session_id].boundaries.append((file_id, line))
    return sorted(sessions.values(), key=lambda course: course.steps[-1].time or 0, reverse=True)


SYSTEM: Final = "system prompt and tools"
CALLS: Final = "tool calls"
RESULTS: Final = "tool results"
_BY_ROLE: Final = {
    "user": "prompts", "assistant": "answers", "tool": RESULTS, "summary": "summary", "attachment": "attachments",
}  # fmt: skip
_OTHER: Final = "other"
_PICTURE: Final = 6_000
"""A picture counts as so many characters: about 1,500 tokens, as pictures that Claude Code sends have."""
_LETTERS_A_TOKEN: Final = 4

#: The kind of content, and for tool results the tool.
Part = tuple[str, "str | None"]


class Said(Protocol):
    """A message of a conversation."""

    @property
    def role(self) -> str: ...
    @property
    def model(self) -> str | None: ...
    @property
    def blocks(self) -> Sequence[Block]: ...
    @property
    def usage(self) -> Usage | None: ...


def context_parts(messages: Iterable[Said]) -> list[dict[str, Any]]:
    """Return what the window held after the last answer, the largest part first. Empty if no answer has counts.

    `messages` are those that are sent: the live conversation, since its last compaction.
    """
    sizes: dict[Part, int] = {}
    until_answer: dict[Part, int] = {}
    tools: dict[str, str] = {}
    system = whole = 0
    for message in messages:
        for block in message.blocks:
            part, size = _weigh(block, message.role, tools)
            sizes[part] = sizes.get(part, 0) + size
        usage = message.usage
        if message.role == "assistant" and usage is not None and usage.total and message.model != "<synthetic>":
            if not whole:
                before = sum(until_answer.values()) // _LETTERS_A_TOKEN
                system = max(usage.total - usage.output_tokens - before, 0)
            whole = usage.total
            until_answer = dict(sizes)
        elif not whole:
            until_answer = dict(sizes)
    if not whole:
        return []
    shares = _shared_out(min(system, whole), whole, until_answer)
    return [
        {"what": what, "tool": tool, "tokens": tokens, "share": round(tokens / whole, 4)}
        for (what, tool), tokens in sorted(shares.items(), key=lambda item: (-item[1], item[0][0], item[0][1] or ""))
        if tokens
    ]


def _weigh(block: Block, role: str, tools: dict[str, str]) -> tuple[Part, int]:
    """Return the part that a block belongs to, and its length in characters."""
    if isinstance(block, ThinkingBlock):
        return ("thinking", None), len(block.thinking)
    if isinstance(block, ToolUseBlock):
        tools[block.id] = block.name
        return (CALLS, None), len(block.name) + len(json.dumps(block.input, ensure_ascii=False, default=str))
    if isinstance(block, ToolResultBlock):
        pictures = sum(isinstance(inner, MediaBlock) for inner in parse_blocks(block.content))
        return (RESULTS, tools.get(block.tool_use_id)), len(block.text()) + pictures * _PICTURE
    part = (_BY_ROLE.get(role, _OTHER), None)
    if isinstance(block, TextBlock):
        return part, len(block.text)
    if isinstance(block, MediaBlock):
        return part, _PICTURE
    return (_OTHER, None), len(json.dumps(block.value, ensure_ascii=False, default=str))


def _shared_out(system: int, whole: int, sizes: dict[Part, int]) -> dict[Part, int]:
    """Divide the tokens among the parts by size. The remainder of rounding down goes to the largest part."""
    total, rest = sum(sizes.values()), whole - system
    if not total:
        return {(SYSTEM, None): whole}
    found = {part: rest * size // total for part, size in sizes.items()}
    found[max(sizes, key=lambda part: sizes[part])] += rest - sum(found.values())
    return {(SYSTEM, None): system, **found}
