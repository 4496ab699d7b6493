"""The other pages of a session: tokens, files, tasks, findings."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...check.session import check_session
from ...format.line import DAMAGE_KINDS
from ...library.session import Session
from ..context_window import context_of
from ..differences import unified
from ..pages import page, service_of
from ..session_files import file_rows, files_of, one_file, tasks_of
from ..session_view import around
from .health import finding_data


def tokens(request: Request) -> Response:
    service = service_of(request)
    found = service.session(request.path_params["id"])
    answers = context_of(service, found)
    return page(request, "session_tokens.html", **around(service, found, "/tokens"), answers=answers)


def files(request: Request) -> Response:
    service = service_of(request)
    found = service.session(request.path_params["id"])
    path = request.query_params.get("path")
    values: dict[str, Any] = {"path": path, "rows": [], "versions": [], "difference": []}
    with service.reading(found):
        if path:
            versions, difference = one_file(found, path)
            values["versions"] = [item | {"diff": unified(item["diff"])} for item in versions]
            values["difference"] = unified(difference)
        else:
            values["rows"] = file_rows(files_of(found))
        return page(request, "session_files.html", **around(service, found, "/files"), **values)


def tasks(request: Request) -> Response:
    service = service_of(request)
    found = service.session(request.path_params["id"])
    with service.reading(found):
        return page(request, "session_tasks.html", **around(service, found, "/tasks"), tasks=tasks_of(found))


def findings(request: Request) -> Response:
    service = service_of(request)
    found = service.session(request.path_params["id"])
    with service.reading(found):
        return page(request, "session_findings.html", **around(service, found, "/findings"), **_findings(found))


def _findings(session: Session) -> dict[str, Any]:
    graph = session.conversation
    found = [finding_data(item) for item in check_session(session.file).findings]
    return {
        "findings": found[:300],
        "repairable": any(item["fix"] for item in found) and session.home.kept_from is None,
        "damage": [
            {"kind": item.kind, "line": item.line, "words": DAMAGE_KINDS.get(item.kind, ""), "detail": item.detail}
            for item in session.damage[:500]
        ],
        "damage_count": len(session.damage),
        "share": graph.thread.reachable_share,
        "leaf_reason": graph.thread.leaf_reason,
        "unreachable": [item for item in graph.branches if item.status == "unreachable"][:200],
        "orphans": len(graph.tree.orphans),
        "orphan_results": len(graph.tools.orphan_results),
        "mended": len(graph.thread.mended),
        "unknown_types": dict(session.transcript.unknown_types.most_common(20)),
    }


routes = [
    Route("/sessions/{id}/tokens", tokens),
    Route("/sessions/{id}/files", files),
    Route("/sessions/{id}/tasks", tasks),
    Route("/sessions/{id}/findings", findings),
]
