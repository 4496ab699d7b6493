"""Count matching entries by project, tool, model and month, which shows how to narrow a search down."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tantivy import Query, Searcher

MOST = 20
"""The most names of each kind, the most frequent first."""
_DAY = 86_400_000_000
_KINDS = {"projects": "project", "tools": "tool", "models": "model"}


def count_facets(searcher: Searcher, query: Query) -> dict[str, dict[str, int]]:
    """Count matching entries: {"projects": {path: count}, "tools": ..., "models": ..., "months": {"2026-03": count}}.

    Months are in UTC, newest first.
    """
    request: dict[str, Any] = {
        name: {"terms": {"field": field, "size": MOST, "order": {"_count": "desc"}}} for name, field in _KINDS.items()
    }
    request["days"] = {"histogram": {"field": "time", "interval": float(_DAY), "min_doc_count": 1}}
    answer = searcher.aggregate(query, request)
    facets = {
        name: {
            str(bucket["key"]): int(bucket["doc_count"]) for bucket in answer[name]["buckets"] if bucket["key"] != ""
        }
        for name in _KINDS
    }
    facets["months"] = _months(answer["days"]["buckets"])
    return facets


def _months(days: list[dict[str, Any]]) -> dict[str, int]:
    from datetime import UTC, datetime

    counts: dict[str, int] = {}
    for day in days:
        try:
            month = datetime.fromtimestamp(float(day["key"]) / 1_000_000, UTC).strftime("%Y-%m")
        except (OverflowError, ValueError, OSError):
            continue  # a time outside of the calendar
        counts[month] = counts.get(month, 0) + int(day["doc_count"])
    return dict(sorted(counts.items(), reverse=True))
