"""Show a session's conversation: pages of messages, links to messages, a search in it, its raw lines."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from ...errors import NotFound
from ...export.document import Document
from ...export.markdown import markdown_text, message_markdown
from ...library.reading import LONGEST_LINE, find_view
from ...library.service import Service
from ...library.session import Session
from ..finding import find_in
from ..hiding import shown_session
from ..message_links import PageLinks
from ..pages import is_fragment, page, service_of, templates
from ..reading import VIEWS, PageReading, PageView, find_place, read, show_page
from ..session_view import (
    MINIMAP_UNITS,
    TURNS_SHOWN,
    around,
    branches_of,
    facts_of,
    minimap,
    subagents_of,
    ways_of,
    where_words,
)
from ..usage_views import price_messages


def wanted_of(request: Request) -> PageView:
    asked = request.query_params
    subagent = asked.get("subagent")
    if subagent:
        return PageView(subagent=subagent[:200])
    branch = asked.get("branch", "")
    if branch:
        if not branch.isascii() or not branch.isdigit() or len(branch) > 6 or branch == "0":
            raise NotFound(f"there is no branch {branch[:40]!r}", slug="no-such-branch")
        return PageView(branch=int(branch))
    view = asked.get("view", "conversation")
    return PageView(view if view in VIEWS else "conversation")


def session(request: Request) -> Response:
    """Show the page of a session, or a part of it for the page's own script. The transcript is opened once."""
    service = service_of(request)
    wanted = wanted_of(request)
    with shown_session(request) as found:
        reading = read(service, found, wanted)
        number = _page_number(request, reading)
        if is_fragment(request):
            text = _fragment(request, service, reading, number)
            return Response(text, media_type="text/html", headers={"Vary": "HX-Request"})
        running = service.is_running(found.id)
        return service.cached(
            found,
            ("whole", wanted, number, running),
            lambda: _whole(request, service, reading, number),
            lambda made: len(made.body),
        )


def _whole(request: Request, service: Service, reading: PageReading, number: int) -> HTMLResponse:
    """Render the page around the messages. It depends only on the session, and is valid while that is unchanged."""
    found, wanted = reading.session, reading.wanted
    turns = reading.page_turns[:TURNS_SHOWN]
    with service.reading(found):
        side = service.cached(found, "side", lambda: _side(found), lambda _: 20_000)
        return page(
            request, "session.html", **around(service, found, ""), **side, wanted=wanted, reading=reading, page=number,
            turns_shown=turns, turns_hidden=len(reading.page_turns) - len(turns), minimap=minimap(reading, number),
            minimap_height=MINIMAP_UNITS, ways=ways_of(found, wanted), where=where_words(found, wanted),
            page_html=Markup(messages_html(service, reading, number)),
        )  # fmt: skip


def _side(found: Session) -> dict[str, Any]:
    return {"branches": branches_of(found), "subagents": subagents_of(found), "facts": facts_of(found)}


def _page_number(request: Request, reading: PageReading) -> int:
    text = request.query_params.get("page", "1")
    if text == "last":
        return reading.pages
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    if not 1 <= number <= reading.pages:
        raise NotFound(f"there is no page {text[:40]!r}; the last one is {reading.pages}", slug="no-such-page")
    return number


def _fragment(request: Request, service: Service, reading: PageReading, number: int) -> str:
    """Render a page of messages alone: the next one, the previous one, or a subagent's inside its call."""
    text = messages_html(service, reading, number)
    sid = reading.session.id
    if request.query_params.get("before") and number > 1:
        button = templates().get_template("before_page.html").render(sid=sid, wanted=reading.wanted, page=number - 1)
        return button + text.rpartition("<!-- end of page -->")[0]
    if request.query_params.get("before"):
        return text.rpartition("<!-- end of page -->")[0]
    return text


def messages_html(service: Service, reading: PageReading, number: int) -> str:
    def make() -> str:
        shown = show_page(service, reading, number)
        price_messages(shown)
        return templates().get_template("messages.html").render(
            shown=shown, sid=reading.session.id, wanted=reading.wanted, page=number, pages=reading.pages,
            links=PageLinks(reading.session.id, reading.wanted, read_only=service.read_only),
        )  # fmt: skip

    return service.cached(reading.session, ("page", reading.wanted, number), make, lambda text: len(text) + 200)


def to_message(request: Request) -> Response:
    """Redirect a link to a message to where it is shown: page, branch or subagent."""
    service = service_of(request)
    found = shown_session(request)
    uuid = request.path_params["uuid"]
    with service.reading(found), found:
        wanted, number = find_place(service, found, uuid)
    query = f"{wanted.query}{'&' if wanted.query else ''}page={number}"
    return RedirectResponse(f"/sessions/{quote(found.id, safe='')}?{query}#m-{quote(uuid, safe='')}", 303)


def find(request: Request) -> Response:
    service = service_of(request)
    found = shown_session(request)
    words = request.query_params.get("q", "")[:300]
    hits = find_in(service, read(service, found, wanted_of(request)), words) if words.strip() else None
    if is_fragment(request):
        return page(request, "finds.html", hits=hits, words=words, session=found)
    return page(request, "finds_page.html", hits=hits, words=words, **around(service, found, ""))


def as_markdown(request: Request) -> Response:
    service = service_of(request)
    found = shown_session(request)
    with service.reading(found), found:
        text = _markdown(found, request.query_params.get("message"))
    return Response(text.encode("utf-8", "replace"), media_type="text/plain; charset=utf-8")


def _markdown(session: Session, message: str | None) -> str:
    if message is None:
        return markdown_text(Document(session), limit=LONGEST_LINE)
    view = find_view(session, message)
    reading = session.read(view.view, branch=view.branch, subagent=view.subagent)
    shown = reading.shown(reading.reader(longest=LONGEST_LINE), reading.position[message], 1)
    return "".join(map(message_markdown, shown))


routes = [
    Route("/sessions/{id}", session),
    Route("/sessions/{id}/m/{uuid}", to_message),
    Route("/sessions/{id}/find", find),
    Route("/sessions/{id}/markdown", as_markdown),
]
