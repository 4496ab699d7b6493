"""Parse the token counts of one API response, as Claude Code wrote them.

Odd values (missing, negative, not a number) count as zero, and the result is marked as odd.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

LARGEST_COUNT: Final = 1_000_000_000
"""The largest count that is accepted, a thousand times the context of the largest model. A larger one is damage. Sums of
accepted counts fit into a database."""
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
    """Whether a field was not a plain count."""
    thinking: int = 0
    """How many of the output tokens were spent on thinking, where Claude Code recorded it."""
    service_tier: str | None = None
    speed: str | None = None
    geo: str | None = None
    whole: bool = False
    """Whether some line of the response has both its input and its output count."""

    @property
    def is_odd(self) -> bool:
        """Whether a count is missing or invalid; such a count is read as zero."""
        return self.odd or not self.whole

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens + self.cache_write_5m + self.cache_write_1h + self.cache_read

    def maximum(self, other: Usage) -> Usage:
        """Return the larger count of each field: the usage of a response that was written as several lines."""
        return Usage(*(_larger(getattr(self, item.name), getattr(other, item.name)) for item in fields(Usage)))


def _larger(one: Any, other: Any) -> Any:
    """Return the larger of two counts; of two texts the first that is not None."""
    if isinstance(one, int) and isinstance(other, int):
        return max(one, other)
    return other if one is None else one


def parse_usage(value: Any) -> Usage | None:
    """Parse the `usage` of a message; None where it is not an object."""
    if not isinstance(value, dict):
        return None
    counter = _Counter()
    written = counter.count(value.get("cache_creation_input_tokens"))
    parts = value.get("cache_creation")
    short = long = 0
    if isinstance(parts, dict):
        short = counter.count(parts.get("ephemeral_5m_input_tokens"))
        long = counter.count(parts.get("ephemeral_1h_input_tokens"))
    short = max(short, written - long)  # older versions write only the sum; all of it was cached for five minutes
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
        if type(value) is int and 0 <= value <= largest:
            return value
        found = whole_count(value, largest)
        if found is None:
            self.odd = True
        return found or 0


def whole_count(value: Any, largest: int = LARGEST_COUNT) -> int | None:
    """Return a count as an integer (some programs write it as 10.0); None where the value is not a count."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= largest:
        return None
    return value
