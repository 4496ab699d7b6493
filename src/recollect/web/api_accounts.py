"""Answer the endpoints about counts: days with activity, blocks of five hours, the cache, budgets, retention."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..errors import Unavailable
from ..library.background import StillIndexing
from ..library.service import Service
from ..library.usage import Ledger, Selection
from .api_description import TIME, Endpoint, Parameter, integer, listed, nullable, record, rows_of, text
from .session_choice import first_and_last_day
from .usage_views import SPANS, since

T = TypeVar("T")
Values = Mapping[str, Any]
PATIENCE = 20.0
ACTIVE_DAY = record({"day": text(), "sessions": integer()})
_NUMBER = {"type": "number"}
BLOCK = {
    "type": "object",
    "properties": {
        "start": TIME, "end": TIME, "first": TIME, "last": TIME, "active": {"type": "boolean"}, "calls": integer(),
        "tokens": integer(), "cost_micro_usd": integer(), "tokens_per_minute": _NUMBER, "micro_usd_per_hour": integer(),
        "projected_micro_usd": integer(),
    },
    "required": ["start", "end", "active", "calls", "cost_micro_usd", "projected_micro_usd"],
}  # fmt: skip
CACHE = record(
    {
        "model": text(), "calls": integer(), "prompt_tokens": integer(), "cache_read": integer(), "cache_written": integer(),
        "hit_rate": nullable("number"), "cost_micro_usd": integer(), "without_cache_micro_usd": integer(),
        "saved_micro_usd": {"type": "integer"}, "unpriced_calls": integer(), "lower_bound_calls": integer(),
    }
)  # fmt: skip
BUDGET = {"type": "object", "required": ["period", "amount_micro_usd", "used_micro_usd", "state"]}
GUARD = record(
    {
        "home": text(), "cleanup_days": integer(), "sessions": integer(), "kept": integer(), "only_in_the_vault": integer(),
        "expiring": listed(text()), "expiring_not_kept": listed(text()),
    }
)  # fmt: skip


def not_yet(progress: StillIndexing) -> Unavailable:
    told = f"{progress.done:,} of {progress.total:,} bytes are in it"
    return Unavailable("the index is being built for the first time", slug="still-indexing", hint=told)


def counted(service: Service, name: object, count: Callable[[Ledger], T]) -> T:
    """Return the ledger's answer to a question, waiting for it."""
    try:
        return service.usage.ask(("api", name), count, patience=PATIENCE)
    except StillIndexing as progress:
        raise not_yet(progress) from None


def activity(service: Service, values: Values) -> Any:
    days = counted(service, "activity", lambda ledger: ledger.session_days())
    found = Counter(
        day for item in service.sessions() for day in first_and_last_day(item) | days.get(item.session_id, set())
    )
    rows = [{"day": day, "sessions": count} for day, count in sorted(found.items())]
    return {"rows": rows, "total": len(rows)}


def blocks(service: Service, values: Values) -> Any:
    span = values.get("span", "30")

    def count(ledger: Ledger) -> Any:
        now = time.time_ns() // 1000
        found = ledger.blocks(Selection(since=since(ledger, span)))
        return [item.data(now) for item in reversed(found)]

    return _rows(counted(service, ("blocks", span), count))


def cache(service: Service, values: Values) -> Any:
    span = values.get("span", "30")

    def count(ledger: Ledger) -> Any:
        models, _ = ledger.cache(Selection(since=since(ledger, span)))
        return [{"model": model, **use.data()} for model, use in models.items()]

    return _rows(counted(service, ("cache", span), count))


def budgets(service: Service, values: Values) -> Any:
    def count(ledger: Ledger) -> Any:
        return [item.data() for item in ledger.library.budgets.states(ledger=ledger)]

    return _rows(counted(service, "budgets", count))


def retention(service: Service, values: Values) -> Any:
    service.sessions()
    rows = [
        {
            "home": item.home, "cleanup_days": item.cleanup_days, "sessions": item.sessions, "kept": item.kept,
            "only_in_the_vault": item.lost, "expiring": item.expiring, "expiring_not_kept": item.expiring_not_kept,
        }
        for item in service.guards(at_once=True)
    ]  # fmt: skip
    return _rows(rows)


def _rows(rows: list[Any]) -> dict[str, Any]:
    return {"rows": rows, "total": len(rows)}


def endpoints() -> list[Endpoint]:
    span = Parameter("span", "How many days back.", text(enum=[name for name, _ in SPANS]))
    return [
        Endpoint(
            "/activity", "Days, and how many sessions were worked in", rows_of(ACTIVE_DAY), activity, errors=(503,)
        ),
        Endpoint("/blocks", "Blocks of five hours, newest first", rows_of(BLOCK), blocks, (span,), errors=(503,)),
        Endpoint("/cache", "What the cache saved, by model", rows_of(CACHE), cache, (span,), errors=(503,)),
        Endpoint("/budgets", "Budgets, and how they stand", rows_of(BUDGET), budgets, errors=(422, 503)),
        Endpoint("/retention", "What the client deletes soon, and whether the vault has it", rows_of(GUARD), retention),
    ]
