"""Search the prompts and slash commands that were typed into Claude Code (`library.history()`)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from ..format.history import HistoryEntry, PastedContent
from ..format.project_key import repository_of
from ..store.home import Home
from ..store.side_files import paste_text, prompt_history
from .project_paths import ProjectFilter

if TYPE_CHECKING:
    from .library import Library


class Paste(Struct):
    """Something pasted into a prompt; `text` is None if Claude Code stored it elsewhere and it is gone."""

    id: str | int | None
    type: str | None
    text: str | None


class TypedPrompt(Struct, kw_only=True):
    """A line of the prompt history. A damaged line has a `problem` and no text."""

    timestamp: datetime | None
    display: str | None
    project: str | None
    session_id: str | None
    pasted: list[Paste]
    home: str
    line: int
    problem: str | None


class TypedPrompts(Struct):
    """Prompts, newest first, and how many there are in all."""

    rows: list[TypedPrompt]
    total: int


def typed_prompts(
    library: Library,
    *,
    grep: str | None = None,
    project: str | None = None,
    session: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
) -> TypedPrompts:
    """Find prompts by a text in them or in a paste (ignoring case), by project, start of a session's id, or time."""
    wanted = None if project is None else ProjectFilter(project)
    found: list[tuple[Home, HistoryEntry]] = []
    for home in library.homes:
        for entry in prompt_history(home):
            if (
                _in_time(entry, since, until)
                and (session is None or (entry.session_id or "").startswith(session))
                and (wanted is None or wanted.fits(entry.project, repository_of(entry.project)))
                and (grep is None or _holds(home, entry, grep.casefold()))
            ):
                found.append((home, entry))
    found.sort(key=lambda pair: (pair[1].timestamp is not None, pair[1].timestamp, pair[1].line), reverse=True)
    return TypedPrompts([_prompt(home, entry) for home, entry in found[:limit]], len(found))


def _in_time(entry: HistoryEntry, since: datetime | None, until: datetime | None) -> bool:
    if since is None and until is None:
        return True
    if entry.timestamp is None:
        return False
    return (since is None or entry.timestamp >= since) and (until is None or entry.timestamp < until)


def _holds(home: Home, entry: HistoryEntry, text: str) -> bool:
    if text in (entry.display or "").casefold():
        return True
    return any(text in (_paste(home, paste) or "").casefold() for paste in entry.pasted)


def _paste(home: Home, paste: PastedContent) -> str | None:
    if paste.content is not None or paste.content_hash is None:
        return paste.content
    return paste_text(home, paste.content_hash)


def _prompt(home: Home, entry: HistoryEntry) -> TypedPrompt:
    return TypedPrompt(
        timestamp=entry.timestamp,
        display=entry.display,
        project=entry.project,
        session_id=entry.session_id,
        pasted=[Paste(paste.id or paste.key, paste.type, _paste(home, paste)) for paste in entry.pasted],
        home=str(home.root),
        line=entry.line,
        problem=entry.problem,
    )
