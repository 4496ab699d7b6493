"""Serve the JSON interface: check requests by its description, and answer in JSON that is always valid."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...errors import QueryError, RecollectError
from ..api_description import COMPONENTS, PREFIX, Endpoint, bad_parameter, check, check_body, document
from ..api_endpoints import ENDPOINTS
from ..pages import error_data, service_of, status_of


def answer(value: Any, status: int = 200) -> Response:
    """Answer in ASCII JSON: lone surrogates stay as escapes; numbers that JSON does not have become null."""
    try:
        text = json.dumps(value, allow_nan=False, default=str)
    except ValueError:
        text = json.dumps(_finite(value), allow_nan=False, default=str)
    return Response(text, status, media_type="application/json")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, (list, tuple)) else value


def error(problem: RecollectError) -> Response:
    return answer({"error": error_data(problem)}, status_of(problem))


def handler(endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    known = {item.name: item for item in endpoint.parameters}

    async def handle(request: Request) -> Response:
        try:
            values = {name: check(known[name], value) for name, value in request.path_params.items()}
            for name, value in request.query_params.multi_items():
                if name not in known or known[name].place == "path":
                    raise bad_parameter(f"{name[:80]!r} is not known here", f"known: {', '.join(known) or 'none'}")
                values[name] = check(known[name], value)
            for item in endpoint.parameters:
                if item.required and item.name not in values:
                    raise bad_parameter(f"{item.name} is missing", item.description)
            if endpoint.body is not None:
                values["body"] = check_body(endpoint.body, await _json(request))
            return answer(await run_in_threadpool(endpoint.handle, service_of(request), values))
        except RecollectError as problem:
            return error(problem)

    return handle


async def _json(request: Request) -> Any:
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/json":
        raise QueryError(
            "the body must be JSON, and say so", hint="Content-Type: application/json", slug="wrong-content-type"
        )
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as problem:
        raise bad_parameter("the body is not JSON") from problem


def openapi(_: Request) -> Response:
    return answer(document(ENDPOINTS, COMPONENTS))


def nothing(request: Request) -> Response:
    error = {"slug": "no-such-endpoint", "message": "there is no such endpoint", "nearest": []}
    return answer({"error": error | {"hint": f"see {PREFIX}/openapi.json"}}, 404)


routes = [
    Route(f"{PREFIX}/openapi.json", openapi),
    *(Route(PREFIX + item.path, handler(item), methods=[item.method]) for item in ENDPOINTS),
]
last_routes = [Route("/api/{rest:path}", nothing)]
