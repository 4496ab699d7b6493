"""Is everything whole and kept: checks of sessions and homes, the vault, what the client deletes soon."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ...errors import NotFound
from ...library.background import Job
from ...library.checking import check_homes, check_sessions
from ...library.service import Service
from ...vault.capture import capture
from ...vault.verify import verify
from ..changing import refuse_if_read_only
from ..forms import read_form
from ..pages import is_fragment, page, service_of

SHOWN = 300
PLANNED = 8


def health(request: Request) -> Response:
    service = service_of(request)
    service.sessions()
    vault, guards = service.library.vault, service.guards(at_once=True)
    contents = vault.contents if vault.exists else None
    values: dict[str, Any] = {
        "guards": guards, "vault": str(vault.folder), "kept_files": len(contents.files) if contents else 0,
        "raw": contents.raw_bytes() if contents else 0, "stored": vault.stored_bytes() if contents else 0,
        "last": contents.last_time if contents else None,
        "check": service.jobs.get("check"), "verify": service.jobs.get("verify"), "keep": service.jobs.get("keep"),
    }  # fmt: skip
    return page(request, "health_parts.html" if is_fragment(request) else "health.html", **values)


def plan_keeping(request: Request) -> Response:
    """What keeping would take into the vault; it is asked for before it begins."""
    service = service_of(request)
    refuse_if_read_only(service)
    sessions = {item.session_id: item for item in service.sessions()}
    guards = service.guards(at_once=True)
    behind = [sessions[name] for item in guards for name in item.behind if name in sessions]
    values: dict[str, Any] = {
        "behind": behind[:PLANNED], "count": len(behind), "bytes": sum(item.file.size for item in behind),
        "vault": str(service.library.vault.folder), "homes": [item.home for item in guards],
    }  # fmt: skip
    return page(request, "keep_part.html" if is_fragment(request) else "keep.html", **values)


async def start(request: Request) -> Response:
    """Begin a job: check, verify or keep. Only the last one writes, and only into the vault."""
    await read_form(request)
    service = service_of(request)
    name = request.path_params["job"]
    if name == "check":
        service.jobs.start(name, lambda job: _check(service, job))
    elif name == "verify":
        service.jobs.start(name, lambda _: _verify(service))
    elif name == "keep":
        refuse_if_read_only(service)
        service.jobs.start(name, lambda job: _keep(service, job))
    else:
        raise NotFound(f"there is no job {name[:40]!r}", slug="no-such-page")
    return RedirectResponse("/health", 303)


def _check(service: Service, job: Job) -> dict[str, Any]:
    files = service.library.files()
    job.total = len(files)
    findings: list[dict[str, Any]] = []
    counts: Counter[str] = Counter()
    unwell = 0
    for report in check_sessions(files):
        job.done += 1
        unwell += report.worst in ("error", "warning")
        counts.update(item.severity for item in report.findings)
        findings.extend(finding_data(item) for item in report.findings if item.severity != "info")
    at_home = check_homes(service.library)
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


def _verify(service: Service) -> dict[str, Any]:
    report = verify(service.library.vault, deep=True)
    return {"sound": report.is_sound, "findings": [item.as_dict() for item in report.findings[:SHOWN]]}


def _keep(service: Service, job: Job) -> dict[str, Any]:
    def note(done: int, total: int) -> None:
        job.done, job.total = done, total

    reports = [
        capture(service.library.vault, home, cache=service.library.own_folder("cache") / "vault", progress=note)
        for home in service.library.homes
    ]
    return {"reports": [asdict(item) for item in reports]}


routes = [
    Route("/health", health),
    Route("/health/keep", plan_keeping, methods=["GET"]),
    Route("/health/{job}", start, methods=["POST"]),
]
