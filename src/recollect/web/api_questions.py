"""Answer the endpoints that query all sessions: search, usage, SQL, checks."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..errors import Unavailable
from ..export.search_text import found_data
from ..export.sql_answer import answer_fields
from ..library.background import StillIndexing
from ..library.checking import check_session
from ..library.searching import SORTS
from ..library.service import Service
from ..library.usage import DIMENSIONS, Ledger, Selection
from .api_description import ANYTHING, TIME, Endpoint, Parameter, integer, listed, nullable, record, rows_of, text
from .routes.sql import ask as ask_sql
from .session_choice import first_and_last_day
from .usage_views import SPANS, since

# Answer the endpoints about counts: days with activity, blocks of five hours, the cache, budgets, retention.

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
    state = f"{progress.done:,} of {progress.total:,} bytes are in it"
    return Unavailable("the index is being built for the first time", slug="still-indexing", hint=state)


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


def _endpoints_of_figures() -> list[Endpoint]:
    span = Parameter("span", "How many days back.", text(enum=[name for name, _ in SPANS]))
    return [
        Endpoint(
            "/activity", "Days, and how many sessions were worked in", rows_of(ACTIVE_DAY), activity, errors=(503,)
        ),
        Endpoint("/blocks", "Blocks of five hours, newest first", rows_of(BLOCK), blocks, (span,), errors=(503,)),
        Endpoint("/cache", "What the cache saved, by model", rows_of(CACHE), cache, (span,), errors=(503,)),
        Endpoint("/budgets", "Budgets, and how they stand", rows_of(BUDGET), budgets, errors=(422, 503)),
        Endpoint(
            "/retention", "What Claude Code deletes soon, and whether the vault has it", rows_of(GUARD), retention
        ),
    ]


HIT = record(
    {
        "line": integer(), "uuid": nullable("string"), "role": nullable("string"), "subagent_id": nullable("string"),
        "time": TIME, "score": {"type": "number"}, "snippet": text(), "marks": listed(listed(integer())), "command": text(),
    }
)  # fmt: skip
FOUND = record(
    {
        "session_id": text(), "title": nullable("string"), "project": nullable("string"), "home": text(), "path": text(),
        "modified": TIME, "hit_count": integer(), "hits": listed(HIT),
    }
)  # fmt: skip
FINDING = record(
    {
        "code": text(), "severity": text(), "session_id": nullable("string"), "subagent_id": nullable("string"),
        "line": nullable("integer"), "offset": nullable("integer"), "length": nullable("integer"),
        "uuid": nullable("string"), "detail": text(), "count": integer(), "title": text(), "client": text(), "remedy": text(),
        "fix": nullable("string"), "path": text(),
    }
)  # fmt: skip


def search(service: Service, values: Values) -> Any:
    try:
        found = service.index.ask(
            lambda library: library.search(
                values.get("q", ""), sort=values.get("sort", "relevance"), limit=values.get("limit") or 10,
                offset=values.get("offset", 0), facets=False,
            ),
            patience=PATIENCE,
        )  # fmt: skip
    except StillIndexing as progress:
        raise not_yet(progress) from None
    return found_data(found)


def usage(service: Service, values: Values) -> Any:
    by, span = values.get("by", "day"), values.get("span", "30")

    def count(ledger: Ledger) -> Any:
        report = ledger.usage(by, Selection(since=since(ledger, span)))
        rows = [{"key": group.key, **group.data(by)} for group in report.groups]
        return {
            "rows": rows,
            "total": len(rows),
            "totals": report.totals.data(),
            "timezone": report.zone,
            "prices": report.prices,
        }

    try:
        return service.usage.ask(("api usage", by, span), count, patience=PATIENCE)
    except StillIndexing as progress:
        raise not_yet(progress) from None


def sql(service: Service, values: Values) -> Any:
    try:
        found = ask_sql(service, values["body"]["sql"])
    except StillIndexing as progress:
        raise not_yet(progress) from None
    return {
        "columns": answer_fields(found),
        "rows": found.rows,
        "total": len(found.rows),
        "cut": found.cut,
        "seconds": found.seconds,
    }


def check(service: Service, values: Values) -> Any:
    session = service.session(values["id"])
    with service.reading(session):
        report = check_session(session.file)
    return {
        "rows": [item.as_dict() for item in report.findings],
        "total": len(report.findings),
        "reachable_share": report.reachable_share,
        "found": report.found,
    }


def bookmarks(service: Service, values: Values) -> Any:
    found = service.library.bookmarks.rows()
    start, limit = values.get("offset", 0), values.get("limit", 100)
    rows = found[start : start + limit]
    return {"rows": rows, "total": len(found)}


BOOKMARK = record(
    {
        "session_id": text(),
        "message": nullable("string"),
        "note": text(),
        "title": text(),
        "time": TIME,
        "gone": {"type": "boolean"},
    }
)


def endpoints(session_id: Parameter, limit: Parameter, offset: Parameter) -> list[Endpoint]:
    ranked = Parameter("limit", "Sessions at most.", integer(1, 100))
    return [
        Endpoint(
            "/search", "Find anything that was said or seen",
            rows_of(FOUND, total=integer(), exact={"type": "boolean"}, more={"type": "boolean"}, mode=text(),
                notes=listed(text()), excluded=listed(text()), advice=listed(text())), search,
            (
                Parameter("q", "The query, as for `recollect search`.", text(minLength=1, maxLength=2000), needed=True),
                Parameter("sort", "The order.", text(enum=list(SORTS))), ranked,
                Parameter("offset", "Leave so many sessions out.", integer(0, 10_000)),
            ),
            errors=(503,),
        ),
        Endpoint("/bookmarks", "Bookmarks, newest first", rows_of(BOOKMARK), bookmarks, (limit, offset), errors=(422,)),
        Endpoint(
            "/usage", "Tokens and money",
            rows_of(
                {"type": "object"}, total=integer(), totals={"type": "object"}, timezone=text(), prices=text(),
            ),
            usage,
            (
                Parameter("by", "What to group by.", text(enum=[name for name in DIMENSIONS if name != "version"])),
                Parameter("span", "How many days back.", text(enum=[name for name, _ in SPANS])),
            ),
            errors=(503,),
        ),
        Endpoint(
            "/sql", "Ask in SQL",
            record(
                {
                    "columns": listed(record({"name": text(), "type": text()})), "rows": listed(listed(ANYTHING)),
                    "total": integer(), "cut": text(), "seconds": {"type": "number"},
                }
            ),
            sql, method="POST", body=record({"sql": text(minLength=1, maxLength=20_000)}),
            description="One SELECT over the documented tables. It runs in a process that can open no file but its own.",
            errors=(403, 503),
        ),
        Endpoint(
            "/sessions/{id}/check", "What is wrong with a session",
            rows_of(
                FINDING, total=integer(), reachable_share=nullable("number"), found={"type": "boolean"},
            ),
            check, (session_id,), errors=(404,),
        ),
        *_endpoints_of_figures(),
    ]  # fmt: skip
