"""Build token counts as each version of Claude Code writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recollect.testing.dialect import Dialect

PLACEHOLDER_OUTPUT = 3
"""`output_tokens` of the stream's first event, which 1.0.128 to 2.1.96 leave on the lines."""


def whole_usage(number: int, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the true counts of the `number`-th response, overridden by `given`."""
    usage: dict[str, Any] = {
        "input_tokens": 4 + number % 7,
        "cache_creation_input_tokens": 400 + 37 * number,
        "cache_read_input_tokens": 12_000 + 500 * number,
        "output_tokens": 90 + 13 * number,
    }
    usage.update(given or {})
    return usage


def written_usage(dialect: Dialect, usage: Mapping[str, Any], *, final: bool) -> dict[str, Any]:
    """Return `usage` with the fields of the version; a placeholder for the output unless the line is `final`."""
    written = dict(usage)
    if not final:
        written["output_tokens"] = min(PLACEHOLDER_OUTPUT, usage["output_tokens"])
    creation = {
        "ephemeral_5m_input_tokens": usage["cache_creation_input_tokens"],
        "ephemeral_1h_input_tokens": 0,
    }
    if dialect.since("1.0.60"):
        written.setdefault("cache_creation", creation)
    written.setdefault("service_tier", "standard")
    if dialect.since("2.1.20"):
        written.setdefault("inference_geo", "not_available")
    if dialect.since("2.1.80"):
        written.setdefault("server_tool_use", {"web_search_requests": 0, "web_fetch_requests": 0})
        counted = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        iteration = {name: written[name] for name in counted}
        written.setdefault("iterations", [{**iteration, "cache_creation": creation, "type": "message"}])
        written.setdefault("speed", "standard")
    if dialect.since("2.1.230"):
        written.setdefault("output_tokens_details", {"thinking_tokens": 0})
    if dialect.since("2.1.325"):
        written.setdefault("fallback_credit", None)
    return written


def empty_usage() -> dict[str, Any]:
    """Return the zeros of a message that no model wrote."""
    return {
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": None,
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
    }
