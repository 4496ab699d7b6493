"""Bookmark a session or a message, list all bookmarks, and remove one."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ..changing import read_form, refuse_if_read_only
from ..pages import is_fragment, page, service_of


def ask(request: Request) -> Response:
    service = service_of(request)
    refuse_if_read_only(service)
    found = service.session(request.path_params["id"])
    message = request.query_params.get("at") or None
    values: dict[str, Any] = {
        "session": found,
        "message": message or "",
        "known": service.library.bookmarks.find(found.id, message),
        "done": False,
    }
    return page(request, "bookmark_part.html" if is_fragment(request) else "bookmark.html", **values)


async def mark(request: Request) -> Response:
    form = await read_form(request)
    return await run_in_threadpool(_mark, request, form)


def _mark(request: Request, form: dict[str, str]) -> Response:
    service = service_of(request)
    refuse_if_read_only(service)
    found = service.session(request.path_params["id"])
    message = form.get("at") or None
    with service.reading(found):
        made = service.library.bookmarks.add(found.id, message, form.get("note", ""))
    values: dict[str, Any] = {"session": found, "message": message or "", "known": made, "done": True}
    return page(request, "bookmark_part.html" if is_fragment(request) else "bookmark.html", **values)


def listed(request: Request) -> Response:
    service = service_of(request)
    known = {item.session_id: item for item in service.sessions()}
    return page(request, "bookmarks.html", marks=service.library.bookmarks.all(), known=known)


async def remove(request: Request) -> Response:
    form = await read_form(request)
    service = service_of(request)
    refuse_if_read_only(service)
    await run_in_threadpool(service.library.bookmarks.remove, form.get("session", ""), form.get("at") or None)
    return RedirectResponse("/bookmarks", 303)


routes = [
    Route("/bookmarks", listed),
    Route("/bookmarks/remove", remove, methods=["POST"]),
    Route("/sessions/{id}/bookmark", ask, methods=["GET"]),
    Route("/sessions/{id}/bookmark", mark, methods=["POST"]),
]
