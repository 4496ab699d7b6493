"""Answer SQL questions: an editor with the tables beside it, answers as table and chart, saved queries."""

from __future__ import annotations

import json
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ...errors import NotFound, QueryError, RecollectError
from ...export.rendering import plain
from ...export.sql_answer import answer_csv
from ...library.background import StillIndexing
from ...library.questions import TABLES, Answer, Limits, SavedQueries, answer, prepare
from ...library.service import Service
from ..changing import read_form, refuse_if_read_only
from ..pages import error_data, is_fragment, page, service_of, status_of

SHOWN = 500
LIMITS = Limits(seconds=10.0, rows=20_000, bytes=16 << 20)
EXAMPLES = (
    (
        "Sessions by project",
        "SELECT project, count(*) AS sessions, sum(bytes) AS bytes\nFROM sessions GROUP BY project ORDER BY sessions DESC",
    ),
    (
        "Tools by use",
        "SELECT name, count(*) AS calls, count(*) FILTER (is_error) AS failed\n"
        "FROM tool_calls GROUP BY name ORDER BY calls DESC",
    ),
    (
        "Prompts by day",
        "SELECT time::DATE AS day, count(*) AS prompts\nFROM messages WHERE kind = 'prompt' GROUP BY day ORDER BY day",
    ),
)


def ask(service: Service, sql: str) -> Answer:
    """Return the answer to one question, from a process that can do nothing else."""
    asked = service.index.ask(lambda library: prepare(library, sql, limits=LIMITS))
    return answer(service.index.library, asked)


def show(request: Request) -> Response:
    service = service_of(request)
    sql = request.query_params.get("sql", "")[:20_000]
    name = request.query_params.get("saved")
    if name and not sql:
        sql = _saved(service).get(name).sql
    return page(request, "sql.html", **_values(service, sql))


def _saved(service: Service) -> SavedQueries:
    return SavedQueries(service.library.own_folder("config") / "queries")


def _values(service: Service, sql: str) -> dict[str, Any]:
    return {
        "sql": sql, "tables": TABLES, "examples": EXAMPLES, "saved": _saved(service).all(), "result": None, "error": None,
        "place": None, "indexing": None, "chart": None, "shown": SHOWN, "numeric": set(),
    }  # fmt: skip


async def run(request: Request) -> Response:
    form = await read_form(request)
    return await run_in_threadpool(_run, request, form)


def _run(request: Request, form: dict[str, str]) -> Response:
    service = service_of(request)
    sql = form.get("sql", "").strip()[:20_000]
    values = _values(service, sql)
    status = 200
    try:
        if form.get("save"):
            refuse_if_read_only(service)
            _saved(service).save(form["save"].strip(), sql)
            values["saved"] = _saved(service).all()
        if not sql:
            raise QueryError("there is no question yet", hint="try one of the examples", slug="empty-query")
        found = ask(service, sql)
        if form.get("as") == "csv":
            return Response(
                "".join(answer_csv(found)), media_type="text/csv; charset=utf-8",
                headers={"Content-Disposition": 'attachment; filename="answer.csv"'},
            )  # fmt: skip
        if form.get("as") == "json":
            names = [column.name for column in found.columns]
            answer = {"columns": names, "rows": [list(row) for row in found.rows], "cut": found.cut}
            return Response(
                json.dumps(answer, default=str), media_type="application/json",
                headers={"Content-Disposition": 'attachment; filename="answer.json"'},
            )  # fmt: skip
        values |= {"result": found, "rows": [[cell(item) for item in row] for row in found.rows[:SHOWN]]}
        values |= {"chart": chart_of(found), "numeric": numeric_columns(found)}
    except StillIndexing as progress:
        values["indexing"] = progress
    except RecollectError as problem:
        status, values["error"] = status_of(problem), error_data(problem)
        values["place"] = getattr(problem, "place", None)
    return page(request, "sql_result.html" if is_fragment(request) else "sql.html", status, **values)


async def forget(request: Request) -> Response:
    form = await read_form(request)
    service = service_of(request)
    refuse_if_read_only(service)
    name = form.get("name", "")
    if not name:
        raise NotFound("which query is meant?", slug="no-such-query")
    await run_in_threadpool(_saved(service).remove, name)
    return RedirectResponse("/sql", 303)


def cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (dict, list)):
        return plain(json.dumps(value, default=str))[:2000]
    return plain(str(value))[:2000]


def numeric_columns(found: Answer) -> set[int]:
    """Return the columns that hold only numbers."""
    return {
        at
        for at in range(len(found.columns))
        if any(row[at] is not None for row in found.rows)
        and all(
            row[at] is None or (isinstance(row[at], (int, float)) and not isinstance(row[at], bool))
            for row in found.rows
        )
    }


def chart_of(found: Answer) -> str | None:
    """Return the data of a chart: the first column of text or dates against the first of numbers; None without both."""
    if not 2 <= len(found.rows) <= 400:
        return None
    first = found.rows[0]
    numbers = [at for at, value in enumerate(first) if isinstance(value, (int, float)) and not isinstance(value, bool)]
    labels = [at for at, value in enumerate(first) if at not in numbers]
    if not numbers or not labels:
        return None
    values = [row[numbers[0]] if isinstance(row[numbers[0]], (int, float)) else None for row in found.rows]
    chart = {
        "labels": [cell(row[labels[0]])[:60] for row in found.rows], "values": values,
        "name": found.columns[numbers[0]].name, "label": found.columns[labels[0]].name,
    }  # fmt: skip
    return json.dumps(chart)


routes = [
    Route("/sql", show, methods=["GET"]),
    Route("/sql", run, methods=["POST"]),
    Route("/sql/forget", forget, methods=["POST"]),
]
