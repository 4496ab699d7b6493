"""Render the messages of a document for a file that stands alone: subagents and branches in place, pictures inside or beside."""

from __future__ import annotations

import base64
import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

from ..format.times import to_iso
from .conversation import Media, Part, Place, ShownCall, ShownMessage
from .document import DEEPEST_SUBAGENT, Document
from .formatting import argument_line, one_line, plural, size
from .html_frame import Prompt, encoded
from .html_parts import EXPORT_LIMITS, Branch, Limits, Subagent
from .message_html import message_html
from .rendering import plain

PICTURE_LIMIT: Final = 2_000_000
"""A larger picture is left out of the page, in bytes."""
PICTURES_LIMIT: Final = 20_000_000
"""Once the pictures of a page would be larger than this in all, in bytes, they are left out."""
_SUFFIXES: Final = {
    "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "application/pdf": ".pdf",
}  # fmt: skip
_SEARCHED: Final = 20_000
"""How many characters of each result the search over many pages finds."""
_NOTHING: Final = Markup()

WriteFile = Callable[[str, bytes], None]
"""Writes a file beside the page: its name and its bytes."""


@dataclass(slots=True)
class RenderedMessage:
    """A message as HTML, with what outline and search need of it."""

    html: bytes
    speaker: str
    uuids: list[str]
    prompt: Prompt | None
    words: str
    """Its text, for the search over many pages; empty where that is not needed."""


class MessageRenderer:
    """Renders the messages of one document. It is what surrounds them: see `html_parts.Surroundings`."""

    def __init__(
        self, document: Document, *, searched: bool = False, write: WriteFile | None = None, folder: str = ""
    ) -> None:
        self._document = document
        self._searched = searched
        self._pictures = document.options.pictures or "inline"
        self._inline_bytes = 0
        self._write = write
        self._folder = folder
        """Where pictures are, seen from the page."""
        self._written: set[str] = set()
        self._open: list[str] = []
        """The subagents and branches that are being rendered, so that none holds itself."""
        self._branches: set[int] = set()
        self._words: list[str] = []
        self._minute = (-1.0, "")

    @property
    def limits(self) -> Limits:
        return EXPORT_LIMITS

    def messages(self) -> Iterator[RenderedMessage]:
        """Render all messages, then the branches and subagents that no message holds."""
        for item in self._document.messages():
            yield self._rendered(item)
        for branch in self._document.branches:
            if branch.number not in self._branches:
                yield self._apart(self.branch(branch), "Branch")
        for subagent in self._document.loose_subagents:
            yield self._apart(self.subagent(subagent), "Subagent")

    def _apart(self, html: Markup, speaker: str) -> RenderedMessage:
        return RenderedMessage(encoded(html), speaker, [], None, self._taken())

    def _rendered(self, item: ShownMessage) -> RenderedMessage:
        prompt = None
        if item.role == "user" and item.uuid:
            prompt = Prompt(f"#m-{item.uuid}", prompt_line(item), self._document.moment(item.seconds))
        html = self._one(item)
        uuids = [uuid for uuid in item.uuids if uuid] or ([item.uuid] if item.uuid else [])
        return RenderedMessage(encoded(html), plain(item.speaker), uuids, prompt, self._taken())

    def _one(self, item: ShownMessage) -> Markup:
        if not self._document.options.costs:
            item.usage = None
        if self._searched:
            self._words += (words for part in item.parts for words in searched_words(part))
        return message_html(item, self)

    def _taken(self) -> str:
        words = plain("\n".join(self._words))
        self._words.clear()
        return words

    def _nested(self, name: str, messages: Iterable[ShownMessage]) -> Markup:
        self._open.append(name)
        try:
            return Markup().join(self._one(item) for item in messages)
        finally:
            self._open.pop()

    # --- what surrounds a message ---------------------------------------------------------------------------------------

    def line(self, place: Place | None, words: str = "raw") -> Markup:
        """Render nothing: a file has no raw lines. That something is cut is in the report of the export too."""
        if words != "raw":
            self._document.leave_out("the rest of a text that is too long for a page")
        return _NOTHING

    def lines(self, call: ShownCall) -> Markup:
        return _NOTHING

    def picture(self, media: Media) -> Markup:
        kind = plain(f"{media.kind} {media.media_type}".strip())
        if self._pictures == "none":
            return self._left_out(kind, media, "left out", "a picture or document")
        suffix = _SUFFIXES.get(media.media_type)
        if not media.bytes or suffix is None:
            return self._left_out(kind, media, "left out", "a document or a picture of another type")
        if self._pictures == "inline":
            return self._inline(kind, media)
        data = self._document.media_bytes(media)
        if not data or self._write is None:
            return self._left_out(kind, media, "not in the transcript", "a picture that could not be read")
        name = f"{hashlib.sha256(data).hexdigest()[:20]}{suffix}"
        if name not in self._written:
            self._written.add(name)
            self._write(name, data)
        address = self._folder + name
        if not media.is_picture:
            return Markup('<a class="file" href="{}" download>{} {}</a>').format(address, kind, size(media.bytes))
        return Markup('<a href="{0}"><img loading="lazy" src="{0}" alt="{1}, {2}"></a>').format(
            address, kind, size(media.bytes)
        )

    def _inline(self, kind: str, media: Media) -> Markup:
        if not media.is_picture:
            return self._left_out(kind, media, "left out", "a document")
        if media.bytes > PICTURE_LIMIT:
            return self._left_out(
                kind, media, f"left out, larger than {size(PICTURE_LIMIT)}", "a picture larger than 2 MB"
            )
        if self._inline_bytes + media.bytes > PICTURES_LIMIT:
            words = f"left out, the pictures here are {size(PICTURES_LIMIT)} already"
            return self._left_out(kind, media, words, "a picture beyond 20 MB of pictures")
        data = self._document.media_bytes(media)
        if not data:
            return self._left_out(kind, media, "not in the transcript", "a picture that could not be read")
        self._inline_bytes += len(data)
        return Markup('<img src="data:{};base64,{}" alt="{}, {}">').format(
            media.media_type, Markup(base64.b64encode(data).decode()), kind, size(media.bytes)
        )

    def _left_out(self, kind: str, media: Media, words: str, noticed: str) -> Markup:
        self._document.leave_out(noticed)
        return Markup('<span class="chip">{} {}: {}</span>').format(kind, size(media.bytes), words)

    def subagent(self, subagent: Subagent) -> Markup:
        words = plain(one_line(subagent.description or subagent.kind or subagent.subagent_id, 120) or "")
        name = f"subagent {subagent.subagent_id}"
        if not subagent.rows:
            told, inside = "its transcript is gone", _NOTHING
        elif name in self._open or len(self._open) >= DEEPEST_SUBAGENT:
            self._document.leave_out("a subagent nested too deep")
            told, inside = "nested too deep to be shown here", _NOTHING
        else:
            told = plural(len(subagent.rows), "row")
            inside = self._nested(name, self._document.subagent_messages(subagent))
        return Markup(
            '<details class="subagent"><summary><span class="name">Subagent</span> <span class="words">{}</span>'
            ' <span class="quiet">{}</span></summary><div class="nested">{}</div></details>\n'
        ).format(words, told, inside)

    def branch(self, branch: Branch) -> Markup:
        name = f"branch {branch.number}"
        self._branches.add(branch.number)
        if name in self._open or len(self._open) >= DEEPEST_SUBAGENT:
            self._document.leave_out("a branch nested too deep")
            prompt, inside = "", _NOTHING
        else:
            messages = self._document.branch_messages(branch)
            first = next(messages, None)
            prompt = prompt_line(first) if first is not None and first.role == "user" else ""
            inside = self._nested(name, itertools.chain([first] if first is not None else [], messages))
        told = f"{plural(branch.messages, 'message')}, {branch.status}"
        return Markup(
            '<details class="branch"><summary>Branch {} left here{} <span class="quiet">{}</span></summary>'
            '<div class="nested">{}</div></details>\n'
        ).format(branch.number, f": {prompt}" if prompt else "", told, inside)

    def tools(self, item: ShownMessage) -> Markup:
        if not item.uuid:
            return _NOTHING
        number = item.number
        return Markup(
            f'<a href="#m-{escape(item.uuid)}" title="Link to this message" aria-label="Link to message {number}">#{number}</a>'
            f'<button class="small js-only" type="button" data-copy aria-label="Copy message {number}">copy</button>'
        )

    def above_seam(self) -> Markup:
        return Markup("The model no longer sees what is above.")

    def is_apart(self, item: ShownMessage) -> bool:
        return self._document.options.view == "all" and item.status not in ("live", "subagent", "")

    def minute(self, seconds: float | None) -> str:
        if seconds is None:
            return ""
        number = seconds // 60
        if number != self._minute[0]:  # the rows of a turn are often of the same minute
            self._minute = (number, self._document.moment(seconds))
        return self._minute[1]

    def machine_time(self, seconds: float | None) -> str:
        return to_iso(seconds) or ""


def prompt_line(item: ShownMessage) -> str:
    """Return a prompt in one line."""
    words = next((part.text for part in item.parts if part.text.strip()), "")
    return plain(one_line(words[:4000], 120) or "(no text)")


def searched_words(part: Part) -> Iterator[str]:
    """Yield the text of a part that a search over many pages finds."""
    if part.text:
        yield part.text
    if part.call is not None:
        yield f"{part.call.name} {argument_line(part.call.arguments, 400)}"
        if part.call.result:
            yield part.call.result[:_SEARCHED]
