"""The price table: every model, the right price on the right day, one explicit rule for each exception."""

from __future__ import annotations

import json
import tomllib
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.analysis.cost import PARTS, Counts, cost_of, dollars, micro_dollars, parts, rounded, without_cache
from recollect.analysis.prices import plain_name, price_book
from recollect.analysis.prices.book import PriceBook
from recollect.analysis.prices.refresh import TABLE

BOOK = price_book()
MILLION = 1_000_000


def at(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * MILLION


def rates(
    model: str, day: str, prompt: int = 0, speed: str | None = None, tier: str | None = None, geo: str | None = None
) -> Any:
    tariff = BOOK.tariff(model, at(day), prompt, speed, tier, geo)
    assert tariff is not None
    return tariff.dollars()


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("claude-opus-4@20250514", "claude-opus-4"),
        ("claude-opus-4-0", "claude-opus-4"),
        ("claude-3-5-haiku-20241022", "claude-haiku-3-5"),
        ("claude-3-7-sonnet-latest", "claude-sonnet-3-7"),
        ("claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5"),
        ("anthropic/claude-opus-4.6", "claude-opus-4-6"),
        ("claude-v1", "claude-1"),
        ("claude-2.1", "claude-2-1"),
        ("claude-2.0", "claude-2"),
        ("claude-1.3", "claude-1"),
        ("claude-1.2", "claude-1"),
        ("claude-instant-1.1", "claude-instant-1"),
        ("claude-instant-1.2", "claude-instant-1-2"),
        ("anthropic.claude-v2", "claude-2"),
        ("anthropic.claude-v2:1", "claude-2-1"),
        ("anthropic.claude-v2:1:200k", "claude-2-1"),
        ("anthropic.claude-instant-v1", "claude-instant-1"),
        ("ca.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("us-gov.anthropic.claude-3-7-sonnet-20250219-v1:0", "claude-sonnet-3-7"),
        (
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-5-20251101-v1:0",
            "claude-opus-4-5",
        ),
        ("arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/anthropic.claude-v2:1", "claude-2-1"),
        (
            "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3",
            "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3",
        ),
        ("gpt-5", "gpt-5"),
    ],
)
def test_names(written: str, plain: str) -> None:
    assert plain_name(written) == plain


@pytest.mark.parametrize(
    "model",
    ["claude-2.0", "claude-1.3", "claude-instant-1.1", "anthropic.claude-v2:1", "anthropic.claude-instant-v1",
     "ca.anthropic.claude-haiku-4-5-20251001-v1:0",
     "arn:aws:bedrock:eu-central-1::foundation-model/anthropic.claude-sonnet-4-20250514-v1:0"],
)  # fmt: skip
def test_every_way_to_write_a_model_has_a_price(model: str) -> None:
    assert BOOK.tariff(model, at("2026-01-01"), 0, None, None, None) is not None


def test_no_override_says_what_the_package_says() -> None:
    """An override that makes no difference has lost its reason."""
    genai_prices = pytest.importorskip("genai_prices.data")
    from recollect.analysis.prices.refresh import OVERRIDES, build

    overrides = tomllib.loads(OVERRIDES.read_text("utf-8"))
    models = [model for provider in genai_prices.providers if provider.id == "anthropic" for model in provider.models]
    whole = build(overrides, "x", models)["models"]

    def prices(table: dict[str, Any], name: str) -> Any:
        return [{**row, "source": ""} for row in table[name]["periods"]] if name in table else None

    for name in {row["model"] for row in overrides["period"]}:
        without = overrides | {"period": [row for row in overrides["period"] if row["model"] != name]}
        assert prices(build(without, "x", models)["models"], name) != prices(whole, name), name


def test_every_model_has_a_start_and_whole_rates() -> None:
    table = json.loads(TABLE.read_bytes())
    assert len(table["models"]) >= 33
    for name, model in table["models"].items():
        starts = [period["from"] for period in model["periods"]]
        assert starts == sorted(set(starts)), name
        for period in [*model["periods"], *model.get("fast", [])]:
            assert len(period["rates"]) == 5 and all(isinstance(rate, int) and rate > 0 for rate in period["rates"])
            assert period["source"].startswith(("genai-prices", "overrides: "))
            assert ("above" in period) == ("long_rates" in period)


def test_table_is_what_the_package_and_the_overrides_give() -> None:
    pytest.importorskip("genai_prices")
    from recollect.analysis.prices.refresh import current

    table = json.loads(TABLE.read_bytes())
    assert {key: value for key, value in table.items() if key != "version"} == current(), (
        "run `make prices`, and pin what it used"
    )


def test_price_of_the_day_of_use() -> None:
    assert rates("claude-3-5-haiku-20241022", "2024-11-20")[:2] == ("1", "5")
    assert rates("claude-3-5-haiku-20241022", "2025-06-01")[:2] == ("0.8", "4")
    assert rates("claude-sonnet-5-5", "2026-10-06")[4] == "0.2"
    assert rates("claude-sonnet-5-5", "2026-10-07")[4] == "0.1"


def test_prices_of_today_for_everything() -> None:
    book = price_book(at("2026-11-16"))
    tariff = book.tariff("claude-sonnet-5-5", at("2026-09-29"), 0, None, None, None)
    assert tariff is not None and tariff.dollars()[4] == "0.1"


def test_long_prompts_pay_more_for_every_token() -> None:
    below, above = rates("claude-sonnet-4-5", "2025-11-01", 200_000), rates("claude-sonnet-4-5", "2025-11-01", 200_001)
    assert below == ("3", "15", "3.75", "6", "0.3")
    assert above == ("6", "22.5", "7.5", "12", "0.6")
    counts = Counts(input=241_000, output=100)
    cost, _ = cost_of(BOOK, "claude-sonnet-4-5", at("2025-11-01"), counts, None, None, None)
    assert cost == 241_000 * 6 + 100 * 45 // 2


def test_long_prompts_cost_the_same_since_the_window_is_open() -> None:
    assert rates("claude-opus-4-6", "2026-03-12", 300_000)[0] == "10"
    assert rates("claude-opus-4-6", "2026-03-13", 300_000)[0] == "5"
    assert rates("claude-sonnet-4", "2025-07-01", 300_000)[0] == "3"
    assert rates("claude-sonnet-4", "2025-08-12", 300_000)[0] == "6"


def test_cached_tokens_count_to_the_length_of_a_prompt() -> None:
    counts = Counts(input=1, cache_write_5m=100_000, cache_read=100_000)
    assert counts.prompt == 200_001
    assert cost_of(BOOK, "claude-sonnet-4-5", at("2025-11-01"), counts, None, None, None)[1].rule.startswith(  # type: ignore[union-attr]
        "standard, prompt above 200,000"
    )


def test_fast_mode_geography_and_batch() -> None:
    assert rates("claude-opus-4-6", "2026-04-01", speed="fast") == ("30", "150", "37.5", "60", "3")
    assert rates("claude-opus-5-5", "2026-10-01", speed="fast")[:2] == ("8", "40")
    assert rates("claude-opus-4-6", "2026-04-01", geo="us") == ("5.5", "27.5", "6.875", "11", "0.55")
    assert rates("claude-opus-4-6", "2026-04-01", tier="batch")[:2] == ("2.5", "12.5")
    assert rates("claude-opus-4-6", "2026-04-01", tier="batch", geo="us")[0] == "2.75"


def test_web_searches_have_no_factor() -> None:
    assert cost_of(BOOK, "claude-opus-4-6", at("2026-04-01"), Counts(web_searches=3), None, "batch", "us")[0] == 30_000


def test_what_had_to_be_assumed_is_said() -> None:
    early = BOOK.tariff("claude-opus-4-5", at("2025-01-01"), 0, None, None, None)
    timeless = BOOK.tariff("claude-opus-4-5", None, 0, None, None, None)
    slow = BOOK.tariff("claude-haiku-4-5", at("2026-01-01"), 0, "fast", None, None)
    known = BOOK.tariff("claude-opus-4-5", at("2025-12-01"), 0, None, None, None)
    assert early and "before the first price" in early.assumed
    assert timeless and "no time" in timeless.assumed
    assert slow and "fast mode" in slow.assumed
    assert known and not known.assumed


def test_an_unknown_model_has_no_price() -> None:
    assert cost_of(BOOK, "claude-nobody-9", at("2026-01-01"), Counts(1, 1), None, None, None) == (None, None)
    assert cost_of(BOOK, "", None, Counts(1, 1), None, None, None) == (None, None)


def test_window() -> None:
    assert BOOK.window("claude-sonnet-4-5-20250929") == 200_000
    assert BOOK.window("claude-sonnet-4-5[1m]") == BOOK.window("claude-opus-5-5") == 1_000_000
    assert BOOK.window("gpt-5") is None


COUNTS = st.builds(Counts, *(st.integers(0, 3_000_000) for _ in range(6)), st.integers(0, 20))


@given(COUNTS, st.sampled_from(BOOK.models), st.sampled_from([None, "batch"]), st.sampled_from([None, "us"]))
def test_parts_add_up_exactly(counts: Counts, model: str, tier: str | None, geo: str | None) -> None:
    tariff = BOOK.tariff(model, at("2026-11-10"), counts.prompt, None, tier, geo)
    assert tariff is not None
    found = parts(counts, tariff, BOOK.search)
    assert len(found) == len(PARTS) and min(found) >= 0
    assert sum(found) == micro_dollars(counts, tariff, BOOK.search)


@given(st.integers(0, 10**18))
def test_rounding_is_at_most_a_half(exact: int) -> None:
    unit = 10**10
    assert abs(rounded(exact) * unit - exact) * 2 <= unit


def test_halves_go_to_the_even_side() -> None:
    assert [rounded(half * 10**10 // 2) for half in (1, 3, 5, 7)] == [0, 2, 2, 4]


def test_saving_by_the_cache() -> None:
    tariff = BOOK.tariff("claude-opus-4-5", at("2026-01-01"), 0, None, None, None)
    assert tariff is not None
    assert without_cache(Counts(cache_read=1_000_000), tariff, 0) == 5_000_000
    assert micro_dollars(Counts(cache_read=1_000_000), tariff, 0) == 500_000


def test_dollars_in_words() -> None:
    assert [dollars(value) for value in (0, 1, 150, 5_000, 1_234_567, 1_234_567_890, -2_500_000)] == [
        "$0.00", "$0.000001", "$0.0002", "$0.0050", "$1.23", "$1,234.57", "-$2.50",
    ]  # fmt: skip
    assert dollars(None) == "?"


def test_two_tiers_are_not_taken_for_one() -> None:
    table = json.loads(TABLE.read_bytes())
    assert PriceBook(table).version == table["version"]
