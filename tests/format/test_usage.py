"""Token counts of a response."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.format.usage import Usage, parse_usage
from recollect.format.versions import is_placeholder


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
    assert usage == Usage(10, 20, 100, 200, 4000, 2, service_tier="standard", whole=True)
    assert usage is not None
    assert usage.total == 4330
    assert not usage.odd and not usage.is_odd


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
    assert parse_usage({"input_tokens": value, "output_tokens": 7}) == Usage(output_tokens=7, odd=True, whole=True)


def test_a_whole_number_with_a_point_is_a_count() -> None:
    found = parse_usage({"input_tokens": 10.0, "output_tokens": 7})
    assert found == Usage(10, 7, whole=True) and not found.is_odd


def test_counts_are_missing_where_no_line_has_them() -> None:
    lines = [{"input_tokens": 10}, {"output_tokens": 7}, {"input_tokens": 10, "output_tokens": 7}]
    found = [parse_usage(line) or Usage() for line in lines]
    assert [item.is_odd for item in found] == [True, True, False]
    assert found[0].maximum(found[1]).is_odd and not found[0].maximum(found[2]).is_odd


def test_null_is_zero_and_not_odd() -> None:
    assert parse_usage({"input_tokens": None, "output_tokens": 7}) == Usage(output_tokens=7)


def test_lines_of_one_response_are_joined_by_the_larger_count() -> None:
    placeholder, final = Usage(10, 1, 0, 0, 500), Usage(10, 420, 0, 0, 500, odd=True)
    assert placeholder.maximum(final) == final.maximum(placeholder) == Usage(10, 420, 0, 0, 500, odd=True)


def test_terms_and_thinking() -> None:
    usage = parse_usage(
        {
            "output_tokens_details": {"thinking_tokens": 80}, "speed": "fast", "service_tier": "batch",
            "inference_geo": "us",
        }
    )  # fmt: skip
    assert usage == Usage(thinking=80, speed="fast", service_tier="batch", geo="us")
    assert Usage(speed="fast").maximum(Usage(geo="us")) == Usage(speed="fast", geo="us")
    assert parse_usage({"inference_geo": "not_available", "speed": 5}) == Usage()


def test_a_breakdown_that_is_less_than_the_sum() -> None:
    parts = {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 40}
    usage = parse_usage({"cache_creation_input_tokens": 300, "cache_creation": parts})
    assert usage == Usage(cache_write_5m=260, cache_write_1h=40)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.2.126", False), ("1.0.29", False), ("1.0.30", True), ("2.0.77", True), ("2.1.96", True), ("2.1.197", True),
        (None, True), (5, True),
    ],
)  # fmt: skip
def test_which_clients_wrote_placeholders(version: Any, expected: bool) -> None:
    assert is_placeholder(version, None) is expected
    assert not is_placeholder(version, "end_turn")
