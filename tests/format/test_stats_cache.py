from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recollect.format.settings import ModelUsage
from recollect.format.stats_cache import DayOfActivity, parse_stats_cache


def test_days_are_joined() -> None:
    stats = parse_stats_cache(
        b"""{"version": 1, "lastComputedDate": "2026-03-03", "totalSessions": 2, "hourCounts": {"9": 2},
        "dailyActivity": [{"date": "2026-03-02", "messageCount": 5, "sessionCount": 1, "toolCallCount": 2, "x": 1}, 7],
        "dailyModelTokens": [{"date": "2026-03-03", "tokensByModel": {"opus": 9}},
                             {"date": "2026-03-02", "tokensByModel": {"opus": 4}}],
        "modelUsage": {"opus": {"inputTokens": 1}, "odd": 3}, "speculation": true}"""
    )
    assert stats.days == (
        DayOfActivity(
            date="2026-03-02",
            message_count=5,
            session_count=1,
            tool_call_count=2,
            tokens_by_model={"opus": 4},
            extra={"x": 1},
        ),
        DayOfActivity(date="2026-03-03", tokens_by_model={"opus": 9}),
    )
    assert stats.model_usage == {"opus": ModelUsage(input_tokens=1)}
    assert stats.extra == {"dailyActivity": [7], "modelUsage": {"odd": 3}, "speculation": True}


@given(st.binary(max_size=80))
def test_no_bytes_raise(data: bytes) -> None:
    assert parse_stats_cache(data).problem is not None or data.strip().startswith(b"{")
