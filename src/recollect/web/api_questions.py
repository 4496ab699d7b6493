"""Answer the endpoints that query all sessions: search, usage, SQL, checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..export.search_text import found_data
from ..export.sql_answer import answer_fields
from ..library.background import StillIndexing
from ..library.checking import check_sessions
from ..library.searching import SORTS
from ..library.service import Service
from ..library.usage import DIMENSIONS, Ledger, Selection
from .api_accounts import PATIENCE, not_yet
from .api_description import ANYTHING, TIME, Endpoint, Parameter, integer, listed, nullable, record, rows_of, text
from .routes.sql import ask as ask_sql
from .usage_views import SPANS, since

Values = Mapping[str, Any]
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
        report = next(check_sessions([session.file]))
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
    ]  # fmt: skip
