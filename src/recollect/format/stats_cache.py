"""Parse `stats-cache.json`: Claude Code's sums for its /stats page. Recollect computes its own from the transcripts."""

from __future__ import annotations

from typing import Any

import msgspec

from recollect.format.json_file import Fields, decode_json_file
from recollect.format.settings import ModelUsage, parse_model_usage


class DayOfActivity(msgspec.Struct, frozen=True, kw_only=True):
    """The activity of one day; `tokens_by_model` comes from `dailyModelTokens`, the rest from `dailyActivity`."""

    date: str
    message_count: int | None = None
    session_count: int | None = None
    tool_call_count: int | None = None
    tokens_by_model: dict[str, Any] = {}
    extra: dict[str, Any] = {}


class StatsCache(msgspec.Struct, frozen=True, kw_only=True):
    version: int | None = None
    last_computed_date: str | None = None
    first_session_date: str | None = None
    total_sessions: int | None = None
    total_messages: int | None = None
    days: tuple[DayOfActivity, ...] = ()
    model_usage: dict[str, ModelUsage] = {}
    hour_counts: dict[str, Any] = {}
    longest_session: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    problem: str | None = None


def parse_stats_cache(data: bytes) -> StatsCache:
    file = decode_json_file(data, expect=dict)
    fields = Fields(file.value)
    usage = fields.mapping("modelUsage")
    if strange := {name: value for name, value in usage.items() if not isinstance(value, dict)}:
        fields.rest["modelUsage"] = strange
    return StatsCache(
        version=fields.whole("version"),
        last_computed_date=fields.text("lastComputedDate"),
        first_session_date=fields.text("firstSessionDate"),
        total_sessions=fields.whole("totalSessions"),
        total_messages=fields.whole("totalMessages"),
        days=_days(fields),
        model_usage={name: parse_model_usage(value) for name, value in usage.items() if isinstance(value, dict)},
        hour_counts=fields.mapping("hourCounts"),
        longest_session=fields.mapping("longestSession"),
        extra=fields.rest,
        problem=file.problem,
    )


def _days(fields: Fields) -> tuple[DayOfActivity, ...]:
    """Join the two lists by date; items without a date stay in the rest."""
    activity, tokens = _by_date(fields, "dailyActivity"), _by_date(fields, "dailyModelTokens")
    days = []
    for date in sorted({*activity, *tokens}):
        values = Fields(activity.get(date))
        values.text("date")
        day_tokens = Fields(tokens.get(date))
        day_tokens.text("date")
        days.append(
            DayOfActivity(
                date=date,
                message_count=values.whole("messageCount"),
                session_count=values.whole("sessionCount"),
                tool_call_count=values.whole("toolCallCount"),
                tokens_by_model=day_tokens.mapping("tokensByModel"),
                extra={**values.rest, **day_tokens.rest},
            )
        )
    return tuple(days)


def _by_date(fields: Fields, key: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    undated = []
    for item in fields.items(key):
        date = item.get("date") if isinstance(item, dict) else None
        if isinstance(date, str) and date not in found:
            found[date] = item
        else:
            undated.append(item)
    if undated:
        fields.rest[key] = undated
    return found
