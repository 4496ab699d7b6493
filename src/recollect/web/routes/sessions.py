"""Show the list of sessions with its filter."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..pages import is_fragment, page, service_of
from ..session_choice import SORTS, Chooser, asked_of, choose, facets

ROWS = 60


def sessions(request: Request) -> Response:
    service = service_of(request)
    asked = asked_of(request.query_params)
    everything = service.sessions()
    chooser = Chooser(service)
    found = choose(everything, chooser, asked)
    uncounted = sum(item.messages is None and not item.problem for item in found)
    if uncounted:
        service.index.begin()
    start = _start(request.query_params.get("start", ""))
    rows = found[start : start + ROWS]
    query = asked.query()
    following = f"{query}{'&' if query else ''}start={start + ROWS}" if start + ROWS < len(found) else None
    values: dict[str, Any] = {
        "asked": asked, "asked_words": asked.words, "rows": rows, "total": len(found), "all": len(everything),
        "bytes": sum(item.file.size for item in found), "sorts": SORTS, "running_ids": chooser.running,
        "next_query": following, "costs": chooser.accounts.costs, "uncounted": uncounted,
    }  # fmt: skip
    if is_fragment(request) and start:
        return page(request, "sessions_rows.html", **values)
    values["facets"] = facets(everything, chooser, asked)
    return page(request, "sessions_found.html" if is_fragment(request) else "sessions.html", **values)


def _start(text: str) -> int:
    return min(int(text), 10_000_000) if text.isascii() and text.isdigit() and len(text) < 9 else 0


routes = [Route("/sessions", sessions)]
