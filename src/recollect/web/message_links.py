"""Provide the links and buttons of messages on the page of a session, and the folds that load by themselves."""

from __future__ import annotations

from markupsafe import Markup

from ..export.conversation import Media, Place, ShownCall, ShownMessage
from ..export.formatting import local_minute, one_line, plural, size
from ..export.html_parts import PAGE_LIMITS, Branch, Limits, Subagent, segment
from ..export.rendering import plain
from ..export.wording import machine_time
from .reading import PageView

_NOTHING = Markup()


class PageLinks:
    """What surrounds a message on the page of a session."""

    def __init__(self, session_id: str, wanted: PageView, *, read_only: bool) -> None:
        self._address = f"/sessions/{segment(session_id)}"
        self._wanted = wanted
        self._read_only = read_only

    @property
    def limits(self) -> Limits:
        return PAGE_LIMITS

    def line(self, place: Place | None, words: str = "raw") -> Markup:
        if place is None:
            return _NOTHING
        address = f"{self._address}/raw/{place.file}/{place.line}"
        return Markup(
            '<a class="raw" href="{0}" hx-get="{0}" hx-target="#dialog-body" title="Line {1} as it is in the file">{2}</a>'
        ).format(address, place.line, words)

    def lines(self, call: ShownCall) -> Markup:
        return Markup('<p class="raws">{} {}</p>').format(
            self.line(call.place, "call"), self.line(call.result_place, "result")
        )

    def picture(self, media: Media) -> Markup:
        address = f"{self._address}/media/{media.place.file}/{media.place.line}/{media.number}"
        kind, media_type = plain(media.kind), plain(media.media_type)
        if media.is_picture and media.bytes:
            return Markup('<a href="{0}"><img loading="lazy" src="{0}" alt="{1}, {2}"></a>').format(
                address, kind, size(media.bytes)
            )
        if media.bytes:
            return Markup('<a class="file" href="{}" download>{} {} {}</a>').format(
                address, kind, media_type, size(media.bytes)
            )
        return Markup('<span class="chip">{} {}</span>').format(kind, media_type)

    def subagent(self, subagent: Subagent) -> Markup:
        if not subagent.rows:
            return _NOTHING
        address = f"{self._address}?subagent={segment(subagent.subagent_id)}"
        words = plain(subagent.description or subagent.kind or subagent.subagent_id)
        return Markup(
            '<details class="subagent" hx-get="{0}&amp;nested=1" hx-trigger="toggle once" hx-target="find .nested"'
            ' hx-swap="innerHTML">\n<summary><span class="name">Subagent</span> <span class="words">{1}</span>'
            ' <span class="quiet">{2}</span></summary>\n<div class="nested" hx-morph-skip><p class="quiet">'
            '<a href="{0}">Open the subagent\'s conversation</a></p></div>\n</details>\n'
        ).format(address, one_line(words, 120), plural(len(subagent.rows), "row"))

    def branch(self, branch: Branch) -> Markup:
        return Markup(
            '<p class="branch-mark"><a href="{0}?branch={1}">Branch {1} left here</a> <span class="quiet">{2}, {3}</span></p>'
        ).format(self._address, branch.number, plural(branch.messages, "message"), branch.status)

    def tools(self, item: ShownMessage) -> Markup:
        found: list[Markup] = []
        number = item.number
        if item.uuid:
            uuid = segment(item.uuid)
            found.append(
                Markup('<a href="{}/m/{}" title="Link to this message" aria-label="Link to message {}">#{}</a>').format(
                    self._address, uuid, number, number
                )
            )
            found.append(
                Markup(
                    '<button class="quiet small" type="button" data-copy-from="{}/markdown?message={}"'
                    ' title="Copy as markdown" aria-label="Copy message {} as markdown">copy</button>'
                ).format(self._address, uuid, number)
            )
            if not self._read_only:
                found.append(
                    self._action(f"bookmark?at={uuid}", "Bookmark this message", f"Bookmark message {number}", "mark")
                )
                if item.status != "subagent" and item.role in ("user", "assistant"):
                    last = segment(item.last_uuid)
                    found.append(
                        self._action(f"actions/fork?at={last}", "A new session up to here", f"Fork at message {number}", "fork")
                        + self._action(
                            f"actions/rewind?at={last}", "Let the session go on from here", f"Rewind to message {number}",
                            "rewind",
                        )
                    )  # fmt: skip
        if item.places:
            found.append(self.line(item.places[0]))
        return Markup("\n").join(found)

    def _action(self, path: str, title: str, label: str, words: str) -> Markup:
        return Markup(
            '<button class="quiet small" type="button" hx-get="{}/{}" hx-target="#dialog-body" title="{}"'
            ' aria-label="{}">{}</button>'
        ).format(self._address, path, title, label, words)

    def above_seam(self) -> Markup:
        if self._wanted.view == "resumed":
            return Markup('<a href="{}">Show what was before</a>').format(self._address)
        return Markup("The model no longer sees what is above.")

    def is_apart(self, item: ShownMessage) -> bool:
        in_all = self._wanted.view == "all" and self._wanted.branch is None
        return in_all and item.status not in ("live", "subagent")

    def minute(self, seconds: float | None) -> str:
        return local_minute(seconds)

    def machine_time(self, seconds: float | None) -> str:
        return machine_time(seconds)
