"""Show whether everything is whole and kept: checks of sessions and homes, the vault, what Claude Code deletes soon."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ...errors import NotFound
from ...library.background import Job
from ...library.service import Service
from ..changing import read_form, refuse_if_read_only
from ..pages import is_fragment, page, service_of

SHOWN = 300
PLANNED = 8


def health(request: Request) -> Response:
    service = service_of(request)
    service.sessions()
    status = service.library.vault.status()
    values: dict[str, Any] = {
        "guards": status.homes, "vault": str(status.folder), "kept_files": status.files, "raw": status.bytes,
        "stored": status.stored, "last": status.last_kept, "other_machine": status.other_machine,
        "check": service.jobs.get("check"), "verify": service.jobs.get("verify"), "keep": service.jobs.get("keep"),
    }  # fmt: skip
    return page(request, "health_parts.html" if is_fragment(request) else "health.html", **values)


def plan_keeping(request: Request) -> Response:
    """Show what keeping would copy into the vault, and ask before it begins."""
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
    """Start a job: check, verify or keep. Only keep writes, and only into the vault."""
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


def _noted(job: Job) -> Callable[[int, int], None]:
    """Return a progress function that updates a job, so that the page shows its progress."""

    def note(done: int, total: int) -> None:
        job.done, job.total = done, total

    return note


def _check(service: Service, job: Job) -> dict[str, Any]:
    result = service.library.check(progress=_noted(job))
    findings = [item.as_dict() for item in result.at_least("warning")]
    findings.sort(key=lambda item: (item["severity"] != "error", item["code"]))
    return {
        "findings": findings[:SHOWN], "hidden": max(len(findings) - SHOWN, 0), "counts": dict(result.counts),
        "unwell": result.checked - result.whole, "checked": result.checked,
    }  # fmt: skip


def _verify(service: Service) -> dict[str, Any]:
    report = service.library.vault.verify(deep=True)
    return {"sound": report.is_sound, "findings": [item.as_dict() for item in report.findings[:SHOWN]]}


def _keep(service: Service, job: Job) -> dict[str, Any]:
    return {"reports": [asdict(item) for item in service.library.keep(progress=_noted(job))]}


routes = [
    Route("/health", health),
    Route("/health/keep", plan_keeping, methods=["GET"]),
    Route("/health/{job}", start, methods=["POST"]),
]
