"""Export a session from its page: choose what and how, see what is redacted, download the file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, cast

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from ...errors import Refused
from ...export.document import DEPTHS
from ...export.formats import FORMATS, Format, format_named
from ...library.redaction import PROFILES
from ...library.service import Service
from ...library.session import Session
from ..pages import is_fragment, page, service_of
from ..security import SEALED_POLICY

_AT_ONCE: Final = 1 << 18
DEPTH_WORDS: Final = {
    "prompts": "Prompts only", "conversation": "Prompts and answers", "tools": "With tool calls and subagents",
    "all": "Everything, with thinking",
}  # fmt: skip
PROFILE_WORDS: Final = {
    "secrets": "Secrets", "personal": "Secrets, user and host names, home paths, mail addresses",
    "all": "Those, and addresses, phones and cards", "none": "Nothing: it is exported as it is",
}  # fmt: skip


def ask(request: Request) -> Response:
    """Show the choices. The preview of what is redacted is loaded by the dialog, or stands on the page."""
    service = service_of(request)
    found = service.session(request.path_params["id"])
    values = _choices(request, service, found)
    if not is_fragment(request):
        values["told"] = _redaction(service, found, values["profile"])
    return page(request, "export_part.html" if is_fragment(request) else "export.html", **values)


def preview(request: Request) -> Response:
    """Show how many values of which kinds would be redacted."""
    service = service_of(request)
    found = service.session(request.path_params["id"])
    values = _choices(request, service, found)
    values["told"] = _redaction(service, found, values["profile"])
    return page(request, "export_preview.html" if is_fragment(request) else "export.html", **values)


def _choices(request: Request, service: Service, found: Session) -> dict[str, Any]:
    asked = request.query_params
    chosen = format_named(asked.get("format", "html"))
    return {
        "session": found, "summary": found.summary, "formats": FORMATS.values(), "chosen": chosen, "told": None,
        "depth": _known(asked.get("depth") or chosen.depth, DEPTHS, "depth"), "depths": DEPTH_WORDS,
        "profile": _profile(asked.get("redact"), chosen), "profiles": PROFILE_WORDS,
        "branches": asked.get("branches") == "1", "costs": asked.get("costs") == "1",
    }  # fmt: skip


def _profile(asked: str | None, chosen: Format) -> str:
    """Return what is redacted. A page offers nothing that is not redacted unless somebody asks for it."""
    return _known(asked or ("secrets" if chosen.redact == "none" else chosen.redact), PROFILES, "profile")


def _known(value: str, known: tuple[str, ...], what: str) -> str:
    if value not in known:
        raise Refused(f"no such {what}: {value[:40]}", hint=f"one of {', '.join(known)}", slug="bad-option")
    return value


def _redaction(service: Service, found: Session, profile: str) -> dict[str, Any] | None:
    """Return what would be redacted; None for nothing to search for. Found once while the session is unchanged."""
    if profile == "none":
        return None

    def make() -> dict[str, Any]:
        with found.redacted(profile) as (_, redaction):
            return redaction.as_dict()

    return service.cached(found, ("redaction", profile), make, lambda _: 2000)


def download(request: Request) -> Response:
    """Send the export as a file."""
    service = service_of(request)
    found = service.session(request.path_params["id"])
    values = _choices(request, service, found)
    chosen: Format = values["chosen"]
    made = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115  # closed when it was sent
    try:
        options = {} if chosen.name == "jsonl" else {"depth": values["depth"], "costs": values["costs"]}
        if values["branches"]:
            options["branches"] = True
        with service.reading(found):
            service.library.export(found, made, format=chosen.name, redact=values["profile"], **options)
    except BaseException:
        made.close()
        raise
    length = made.tell()
    made.seek(0)
    name = f"recollect-{found.id[:8]}{chosen.suffix}"
    return StreamingResponse(
        _pieces(made), media_type=chosen.media_type,
        headers={
            "Content-Disposition": f'attachment; filename="{name}"', "Content-Length": str(length),
            "Content-Security-Policy": SEALED_POLICY,
        },
    )  # fmt: skip


def _pieces(made: BinaryIO) -> Iterator[bytes]:
    with made:
        while piece := made.read(_AT_ONCE):
            yield piece


routes = [
    Route("/sessions/{id}/export", ask),
    Route("/sessions/{id}/export/preview", preview),
    Route("/sessions/{id}/export/file", download),
]
