"""Show the other pages of a session: tokens, files, tasks, findings."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...export.differences import diff_lines
from ...library.session import Session
from ..context_window import context_of
from ..hiding import shown_session
from ..pages import page, service_of
from ..session_view import around


def tokens(request: Request) -> Response:
    service = service_of(request)
    found = shown_session(request)
    answers = context_of(service, found)
    return page(request, "session_tokens.html", **around(service, found, "/tokens"), answers=answers)


def files(request: Request) -> Response:
    service = service_of(request)
    found = shown_session(request)
    path = request.query_params.get("path")
    values: dict[str, Any] = {"path": path, "rows": [], "versions": [], "difference": []}
    with service.reading(found), found:
        touched = found.files()
        if path:
            values["versions"] = [
                {"row": row, "diff": diff_lines(lines), "note": note}
                for row, lines, note in touched.version_changes(path)
            ]
            values["difference"] = diff_lines(touched.differences(path)[0].diff)
        else:
            values["rows"] = touched.rows
        return page(request, "session_files.html", **around(service, found, "/files"), **values)


def tasks(request: Request) -> Response:
    service = service_of(request)
    found = shown_session(request)
    with service.reading(found), found:
        return page(request, "session_tasks.html", **around(service, found, "/tasks"), tasks=found.todos)


def findings(request: Request) -> Response:
    service = service_of(request)
    found = shown_session(request)
    with service.reading(found), found:
        return page(request, "session_findings.html", **around(service, found, "/findings"), **_findings(found))


def _findings(session: Session) -> dict[str, Any]:
    graph = session.conversation
    found = [item.as_dict() for item in session.check().findings]
    return {
        "findings": found[:300],
        "repairable": any(item["fix"] for item in found) and session.home.kept_from is None,
        "damage": [
            {"kind": item.kind, "line": item.line, "words": item.meaning, "detail": item.detail}
            for item in session.damage[:500]
        ],
        "damage_count": len(session.damage),
        "share": graph.thread.reachable_share,
        "leaf_reason": graph.thread.leaf_reason,
        "unreachable": [item for item in graph.branches if item.status == "unreachable"][:200],
        "orphans": len(graph.tree.orphans),
        "orphan_results": len(graph.tools.orphan_results),
        "repaired_links": len(graph.thread.repaired_links),
        "unknown_types": dict(session.transcript.unknown_types.most_common(20)),
    }


routes = [
    Route("/sessions/{id}/tokens", tokens),
    Route("/sessions/{id}/files", files),
    Route("/sessions/{id}/tasks", tasks),
    Route("/sessions/{id}/findings", findings),
]
