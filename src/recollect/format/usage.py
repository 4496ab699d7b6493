"""Token counts of one API response, as the client noted them.

Odd values (missing, negative, no number) count as zero and are marked.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

LARGEST_COUNT: Final = 1_000_000_000
"""No response has more of anything: a thousand times what the largest model reads. What is larger is damage, and sums of what
is not stay within what a database holds."""
LARGEST_SEARCHES: Final = 1_000_000


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
    thinking: int = 0
    """How many of the output tokens were thought, where the client says so."""
    service_tier: str | None = None
    speed: str | None = None
    geo: str | None = None
    whole: bool = False
    """Some line has both its input and its output."""

    @property
    def is_odd(self) -> bool:
        """Whether a count is missing or none: it is taken as nought."""
        return self.odd or not self.whole

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens + self.cache_write_5m + self.cache_write_1h + self.cache_read

    def maximum(self, other: Usage) -> Usage:
        """Field by field the larger count: how the lines of one response are joined."""
        return Usage(*(_larger(getattr(self, item.name), getattr(other, item.name)) for item in fields(Usage)))


def _larger(one: Any, other: Any) -> Any:
    """The larger of two counts; of two words the first that is there."""
    if isinstance(one, int) and isinstance(other, int):
        return max(one, other)
    return other if one is None else one


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
    short = max(short, written - long)  # older clients tell only the sum; all of it was written for five minutes
    server = value.get("server_tool_use")
    searches = counter.count(server.get("web_search_requests"), LARGEST_SEARCHES) if isinstance(server, dict) else 0
    details = value.get("output_tokens_details")
    thinking = counter.count(details.get("thinking_tokens")) if isinstance(details, dict) else 0
    geo = _text(value.get("inference_geo"))
    return Usage(
        counter.count(value.get("input_tokens")),
        counter.count(value.get("output_tokens")),
        short,
        long,
        counter.count(value.get("cache_read_input_tokens")),
        searches,
        counter.odd,
        thinking,
        _text(value.get("service_tier")),
        _text(value.get("speed")),
        None if geo == "not_available" else geo,
        value.get("input_tokens") is not None and value.get("output_tokens") is not None,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


class _Counter:
    def __init__(self) -> None:
        self.odd = False

    def count(self, value: Any, largest: int = LARGEST_COUNT) -> int:
        if value is None:
            return 0
        found = whole_count(value, largest)
        if found is None:
            self.odd = True
        return found or 0


def whole_count(value: Any, largest: int = LARGEST_COUNT) -> int | None:
    """A count, which some programs write as 10.0; None for what is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= largest:
        return None
    return value
