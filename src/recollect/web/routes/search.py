"""Show a search over everything, in the query language of the command line."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...errors import QueryError, RecollectError
from ...export.wording import model_name
from ...library.background import StillIndexing
from ...library.searching import SearchResults
from ..pages import error_data, is_fragment, page, service_of, status_of

SESSIONS = 20
HITS = 4
ORDERS = (("relevance", "Best first"), ("date", "Newest first"))
_FILTERS = {"projects": "project", "tools": "tool", "models": "model"}


def search(request: Request) -> Response:
    service = service_of(request)
    words = request.query_params.get("q", "")[:2000]
    order = "date" if request.query_params.get("sort") == "date" else "relevance"
    start = _start(request.query_params.get("start", ""))
    values: dict[str, Any] = {"words": words, "order": order, "orders": ORDERS, "found": None, "facets": []}
    values |= {"error": None, "indexing": None, "next_query": None, "start": start, "place": None}
    status = 200
    if words.strip():
        try:
            found = service.index.ask(
                lambda library: library.search(
                    words, sort=order, limit=SESSIONS, offset=start, hits_per_session=HITS, facets=not start
                )
            )
            values |= {"found": found, "facets": _facets(found, words, order)}
            if found.more:
                values["next_query"] = urlencode(
                    {"q": words, "sort": order, "start": start + SESSIONS}, errors="replace"
                )
        except StillIndexing as progress:
            values["indexing"] = progress
        except QueryError as problem:
            status, values["error"] = 400, error_data(problem) | {"message": _words(problem)}
            values["place"] = _place(words, problem)
        except RecollectError as problem:
            status, values["error"] = status_of(problem), error_data(problem)
    if is_fragment(request):
        return page(request, "search_rows.html" if start else "search_found.html", status, **values)
    return page(request, "search.html", status, **values)


def _start(text: str) -> int:
    return min(int(text), 100_000) if text.isascii() and text.isdigit() and len(text) < 7 else 0


def _words(problem: QueryError) -> str:
    """Return what is wrong; the caret that a terminal needs is left out, since the page marks the position."""
    first, mark, rest = problem.message.partition("^")
    return f"{first.splitlines()[0]}: {rest.strip()}" if mark and problem.place is not None else problem.message


def _place(words: str, problem: QueryError) -> tuple[str, str, str] | None:
    """Split the query into three pieces: before, what is wrong, after."""
    if problem.place is None:
        return None
    start, end = problem.place
    return words[:start], words[start : max(end, start + 1)] or "…", words[max(end, start + 1) :]


def _facets(found: SearchResults, words: str, order: str) -> list[dict[str, Any]]:
    shown = []
    for name, counts in (found.facets or {}).items():
        choices = []
        ranked = (
            sorted(counts.items(), reverse=True)
            if name == "months"
            else sorted(counts.items(), key=lambda pair: -pair[1])
        )
        for value, count in ranked[:12]:
            term = _term(name, value)
            query = urlencode({"q": f"{words} {term}".strip(), "sort": order}, errors="replace") if term else ""
            choices.append({"words": model_name(value) if name == "models" else value, "count": count, "query": query})
        shown.append({"words": name.capitalize(), "choices": choices})
    return shown


def _term(name: str, value: str) -> str:
    """Write a value of a facet as a filter of the query language."""
    if re.fullmatch(r"\d{4}-\d{2}", value):
        year, month = int(value[:4]), int(value[5:])
        following = f"{year + month // 12}-{month % 12 + 1:02d}-01"
        return f"after:{value}-01 before:{following}"
    filter_name = _FILTERS.get(name, name.rstrip("s"))
    if not value:
        return ""
    return f"{filter_name}:{value}" if re.fullmatch(r"[\w./:@~+-]+", value) else f'{filter_name}:"{value}"'


routes = [Route("/search", search)]
