"""Change sessions from the page: a form, the plan, the result with its undo; and the list of changes."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...errors import RecollectError, StoreBusy
from ...library.service import Service
from ...library.shapes import change_shape, plain
from ..changing import action_of, carry_out, describe, read_form, refuse_if_read_only, undo
from ..pages import error_data, is_fragment, page, service_of, status_of

SHOWN = 200


def ask(request: Request) -> Response:
    """Show the form of an action."""
    service = service_of(request)
    refuse_if_read_only(service)
    action = action_of(request.path_params["action"])
    found = service.session(request.path_params["id"])
    values = {field.name: request.query_params.get(field.name, "")[:500] for field in action.fields}
    if action.name == "rename" and not values["title"]:
        values["title"] = " ".join((found.summary.title or "").split())[:500]
    if action.name == "tag" and not values["tag"]:
        values["tag"] = found.summary.tag or ""
    return _answer(request, found, action, values, step="form")


async def act(request: Request) -> Response:
    """Show the plan, or with `step=do` make the change."""
    values = await read_form(request)
    return await run_in_threadpool(_act, request, values)


def _act(request: Request, values: dict[str, str]) -> Response:
    service = service_of(request)
    refuse_if_read_only(service)
    action = action_of(request.path_params["action"])
    found = service.session(request.path_params["id"])
    doing = values.get("step") == "do"
    try:
        outcome = carry_out(service, found, action, values) if doing else describe(service, found, action, values)
    except RecollectError as problem:
        return _answer(
            request, found, action, values, step="form", status=status_of(problem), error=error_data(problem),
            may_force=isinstance(problem, StoreBusy) and action.can_force,
        )  # fmt: skip
    return _answer(request, found, action, values, step="done" if doing else "plan", outcome=outcome)


def _answer(
    request: Request,
    found: Any,
    action: Any,
    values: dict[str, str],
    *,
    step: str,
    status: int = 200,
    outcome: dict[str, Any] | None = None,
    error: dict[str, Any] | None = None,
    may_force: bool = False,
) -> Response:
    template = "action_part.html" if is_fragment(request) else "action.html"
    return page(
        request, template, status, session=found, action=action, values=values, step=step, outcome=outcome, error=error,
        may_force=may_force, summary=found.summary,
    )  # fmt: skip


def journal(request: Request) -> Response:
    service = service_of(request)
    records = service.library.changes.records()
    rows = [plain(change_shape(record)) | {"time": record.time} for record in records[:SHOWN]]
    return page(request, "changes.html", rows=rows, total=len(records))


async def undo_change(request: Request) -> Response:
    await read_form(request)
    return await run_in_threadpool(_undo, request, service_of(request))


def _undo(request: Request, service: Service) -> Response:
    try:
        outcome = undo(service, request.path_params["number"])
    except RecollectError as problem:
        template = "undone_part.html" if is_fragment(request) else "undone.html"
        return page(request, template, status_of(problem), outcome=None, error=error_data(problem))
    return page(request, "undone_part.html" if is_fragment(request) else "undone.html", outcome=outcome, error=None)


routes = [
    Route("/sessions/{id}/actions/{action}", ask, methods=["GET"]),
    Route("/sessions/{id}/actions/{action}", act, methods=["POST"]),
    Route("/changes", journal),
    Route("/changes/{number:int}/undo", undo_change, methods=["POST"]),
]
