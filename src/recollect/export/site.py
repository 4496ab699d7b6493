"""Write a folder of pages for many sessions: an index by project and one by day, a page for each session, a search over all.

A session that did not change since the last run is not rendered again: the index is made from what was remembered of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from .document import Document, ExportOptions
from .formats import Pieces, SiteOutput, SiteSession
from .formatting import plural
from .html import Written, write_document
from .html_frame import Frame, policy, render
from .html_parts import segment
from .rendering import plain

LAYOUT: Final = 1
"""Pages that were written in another layout are written again."""
FOLDER: Final = "sessions"
_OPEN_GROUPS: Final = 3
"""How many groups of an index are unfolded."""


@dataclass
class _Within:
    """The files of one session within a site."""

    out: SiteOutput
    session_id: str
    files: list[str] = field(default_factory=list)

    @property
    def stem(self) -> str:
        return f"{FOLDER}/{self.session_id}"

    @property
    def name(self) -> str:
        return f"{self.stem}.html"

    @property
    def may_be_several(self) -> bool:
        return True

    def write(self, name: str, pieces: Pieces) -> int:
        self.files.append(name)
        return self.out.write(name, pieces)


@dataclass(frozen=True)
class _Line:
    """A session in an index."""

    title: str
    address: str
    project: str
    told: str
    when: str


@dataclass(frozen=True)
class _Group:
    words: str
    open: bool
    sessions: list[_Line]


def write_site(sessions: Iterable[SiteSession], out: SiteOutput, options: ExportOptions) -> None:
    """Write the pages of the sessions that changed, and both indexes."""
    known: list[dict[str, Any]] = []
    for session in sessions:
        facts = session.remembered
        if facts is None or facts.get("layout") != LAYOUT:
            within = _Within(out, session.id)
            with session.open() as document:
                written = write_document(document, within, options, site="../index.html")
                facts = {**_facts(document, written), "files": within.files}
        known.append(facts)
        out.remember(session.id, facts, facts["files"])
    known.sort(key=lambda facts: (-(facts["started"] or 0), facts["address"]))
    _write_index(known, out, options)


def _facts(document: Document, written: Written) -> dict[str, Any]:
    """Return what the indexes need of a session."""
    return {
        "layout": LAYOUT,
        "title": plain(document.title),
        "project": plain(document.project or "") or "(no project)",
        "started": document.started,
        "moment": document.moment(document.started),
        "messages": document.count,
        "address": written.address,
        "search": written.search,
    }


def _write_index(known: list[dict[str, Any]], out: SiteOutput, options: ExportOptions) -> None:
    files = [segment_path(name) for facts in known for name in facts["search"]]
    projects = _groups(known, "project", lambda facts: facts["project"])
    days = _groups(known, "day", lambda facts: facts["moment"][:10] or "(no time)")
    told = f"{plural(len(known), 'session')} of {plural(len(projects), 'project')}"
    stamp = "" if options.stamp is None else options.stamp.strftime("%Y-%m-%d %H:%M")
    for name, heading, other, groups in (
        ("index.html", "Sessions by project", ("By day", "days.html"), projects),
        ("days.html", "Sessions by day", ("By project", "index.html"), days),
    ):
        frame = Frame(heading, heading, policy(loads=True))
        out.write(name, [render("site", frame, told, other, groups, files, stamp)])


def _groups(known: list[dict[str, Any]], by: str, key: Any) -> list[_Group]:
    """Group sessions, those of the newest session first."""
    found: dict[str, list[_Line]] = {}
    for facts in known:
        moment = facts["moment"]
        line = _Line(
            facts["title"], segment_path(facts["address"]), facts["project"] if by == "day" else "",
            plural(facts["messages"], "message"), moment[11:] if by == "day" else moment,
        )  # fmt: skip
        found.setdefault(key(facts), []).append(line)
    return [_Group(words, place < _OPEN_GROUPS, lines) for place, (words, lines) in enumerate(found.items())]


def segment_path(name: str) -> str:
    """Write the name of a file, with its folders, as an address."""
    return "/".join(segment(part) for part in name.split("/"))
