"""Token counts of a response."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.format.usage import Usage, parse_usage


def test_all_counts() -> None:
    usage = parse_usage(
        {
            "input_tokens": 10,
            "output_tokens": 20,
            "cache_creation_input_tokens": 300,
            "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200},
            "cache_read_input_tokens": 4000,
            "server_tool_use": {"web_search_requests": 2},
            "service_tier": "standard",
        }
    )
    assert usage == Usage(10, 20, 100, 200, 4000, 2)
    assert usage is not None
    assert usage.total == 4330
    assert not usage.odd


def test_older_clients_tell_only_the_sum_of_what_was_cached() -> None:
    assert parse_usage({"cache_creation_input_tokens": 300}) == Usage(cache_write_5m=300)


def test_a_breakdown_of_zeros_does_not_hide_the_sum() -> None:
    parts = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}
    assert parse_usage({"cache_creation_input_tokens": 300, "cache_creation": parts}) == Usage(cache_write_5m=300)


@pytest.mark.parametrize("value", [None, [], "12", 5, True])
def test_no_usage_at_all(value: Any) -> None:
    assert parse_usage(value) is None


def test_an_empty_usage_is_zero_and_not_odd() -> None:
    assert parse_usage({}) == Usage()


@pytest.mark.parametrize("value", ["12", -1, 1.5, True, [], {}, 1 << 54, 2**70])
def test_what_is_no_count_is_zero_and_marked(value: Any) -> None:
    assert parse_usage({"input_tokens": value, "output_tokens": 7}) == Usage(output_tokens=7, odd=True)


def test_null_is_zero_and_not_odd() -> None:
    assert parse_usage({"input_tokens": None, "output_tokens": 7}) == Usage(output_tokens=7)


def test_lines_of_one_response_are_joined_by_the_larger_count() -> None:
    placeholder, final = Usage(10, 1, 0, 0, 500), Usage(10, 420, 0, 0, 500, odd=True)
    assert placeholder.maximum(final) == final.maximum(placeholder) == Usage(10, 420, 0, 0, 500, odd=True)
