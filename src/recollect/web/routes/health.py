"""Is everything whole and kept: checks of sessions and homes, the vault, what the client deletes soon."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ...errors import NotFound
from ...library.checking import check_homes, check_sessions
from ...vault.capture import capture
from ...vault.verify import verify
from ..changing import refuse_if_read_only
from ..desk import Desk
from ..forms import read_form
from ..pages import desk_of, is_fragment, page
from ..work import Chore

SHOWN = 300
PLANNED = 8


def health(request: Request) -> Response:
    desk = desk_of(request)
    desk.sessions()
    vault, guards = desk.vault, desk.guards(at_once=True)
    contents = vault.contents if vault.exists else None
    values: dict[str, Any] = {
        "guards": guards, "vault": str(vault.folder), "kept_files": len(contents.files) if contents else 0,
        "raw": contents.raw_bytes() if contents else 0, "stored": vault.stored_bytes() if contents else 0,
        "last": contents.last_time if contents else None,
        "check": desk.chores.get("check"), "verify": desk.chores.get("verify"), "keep": desk.chores.get("keep"),
    }  # fmt: skip
    return page(request, "health_parts.html" if is_fragment(request) else "health.html", **values)


def plan_keeping(request: Request) -> Response:
    """What keeping would take into the vault; it is asked for before it begins."""
    desk = desk_of(request)
    refuse_if_read_only(desk)
    sessions = {item.session_id: item for item in desk.sessions()}
    guards = desk.guards(at_once=True)
    behind = [sessions[name] for item in guards for name in item.behind if name in sessions]
    values: dict[str, Any] = {
        "behind": behind[:PLANNED], "count": len(behind), "bytes": sum(item.file.size for item in behind),
        "vault": str(desk.vault.folder), "homes": [item.home for item in guards],
    }  # fmt: skip
    return page(request, "keep_part.html" if is_fragment(request) else "keep.html", **values)


async def start(request: Request) -> Response:
    """Begin a chore: check, verify or keep. Only the last one writes, and only into the vault."""
    await read_form(request)
    desk = desk_of(request)
    name = request.path_params["chore"]
    if name == "check":
        desk.chores.start(name, lambda chore: _check(desk, chore))
    elif name == "verify":
        desk.chores.start(name, lambda _: _verify(desk))
    elif name == "keep":
        refuse_if_read_only(desk)
        desk.chores.start(name, lambda chore: _keep(desk, chore))
    else:
        raise NotFound(f"there is no chore {name[:40]!r}", slug="no-such-page")
    return RedirectResponse("/health", 303)


def _check(desk: Desk, chore: Chore) -> dict[str, Any]:
    files = desk.library.files()
    chore.total = len(files)
    findings: list[dict[str, Any]] = []
    counts: Counter[str] = Counter()
    unwell = 0
    for report in check_sessions(files):
        chore.done += 1
        unwell += report.worst in ("error", "warning")
        counts.update(item.severity for item in report.findings)
        findings.extend(finding_data(item) for item in report.findings if item.severity != "info")
    at_home = check_homes(desk.library)
    counts.update(item.severity for item in at_home)
    findings.extend(finding_data(item) for item in at_home if item.severity != "info")
    findings.sort(key=lambda item: (item["severity"] != "error", item["code"]))
    return {
        "findings": findings[:SHOWN], "hidden": max(len(findings) - SHOWN, 0), "counts": dict(counts), "unwell": unwell,
        "checked": len(files),
    }  # fmt: skip


def finding_data(item: Any) -> dict[str, Any]:
    return {
        "code": item.code, "severity": item.severity, "session_id": item.session_id, "line": item.line,
        "uuid": item.uuid, "detail": item.detail, "count": item.count, "title": item.rule.title, "client": item.rule.client,
        "remedy": item.rule.remedy, "fix": item.rule.fix, "path": str(item.path),
    }  # fmt: skip


def _verify(desk: Desk) -> dict[str, Any]:
    report = verify(desk.vault, deep=True)
    return {"sound": report.is_sound, "findings": [item.as_dict() for item in report.findings[:SHOWN]]}


def _keep(desk: Desk, chore: Chore) -> dict[str, Any]:
    def note(done: int, total: int) -> None:
        chore.done, chore.total = done, total

    reports = [
        capture(desk.vault, home, cache=desk.own_folders("cache") / "vault", progress=note)
        for home in desk.library.homes
    ]
    return {"reports": [asdict(item) for item in reports]}


routes = [
    Route("/health", health),
    Route("/health/keep", plan_keeping, methods=["GET"]),
    Route("/health/{chore}", start, methods=["POST"]),
]
