"""Token counts of one API response, as the client noted them.

Odd values (missing, negative, no number) count as zero and are marked.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(slots=True, frozen=True)
class Usage:
    input_tokens: int = 0
    output_tokens: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    cache_read: int = 0
    web_searches: int = 0
    odd: bool = False
    """Some field was not a plain count."""

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens + self.cache_write_5m + self.cache_write_1h + self.cache_read

    def maximum(self, other: Usage) -> Usage:
        """Field by field the larger count: how the lines of one response are joined."""
        return Usage(*(max(getattr(self, item.name), getattr(other, item.name)) for item in fields(Usage)))


def parse_usage(value: Any) -> Usage | None:
    """The `usage` of a message; None where there is none."""
    if not isinstance(value, dict):
        return None
    counter = _Counter()
    written = counter.count(value.get("cache_creation_input_tokens"))
    parts = value.get("cache_creation")
    short = long = 0
    if isinstance(parts, dict):
        short = counter.count(parts.get("ephemeral_5m_input_tokens"))
        long = counter.count(parts.get("ephemeral_1h_input_tokens"))
    if short + long == 0:
        short = written  # older clients tell only the sum; all of it was written for five minutes
    server = value.get("server_tool_use")
    searches = counter.count(server.get("web_search_requests")) if isinstance(server, dict) else 0
    return Usage(
        counter.count(value.get("input_tokens")),
        counter.count(value.get("output_tokens")),
        short,
        long,
        counter.count(value.get("cache_read_input_tokens")),
        searches,
        counter.odd,
    )


class _Counter:
    def __init__(self) -> None:
        self.odd = False

    def count(self, value: Any) -> int:
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int) or value < 0 or value > 1 << 53:
            self.odd = True
            return 0
        return value
