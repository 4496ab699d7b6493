"""Write a session as HTML: one file that stands alone, or a folder of pages where that would be too large.

The file works from ``file://``, loads nothing and can be read without its script. What is in a transcript is a stranger's:
it passes `rendering`, and the page's policy allows one style and one script, both by their hash.
"""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from .document import Document, ExportOptions
from .formats import Output
from .formatting import number, plural
from .html_frame import Facts, Frame, Prompt, facts_of, policy, render, stamp_of
from .html_messages import MessageRenderer, RenderedMessage
from .html_parts import segment
from .rendering import plain
from .search_files import SearchFiles

MOST_MESSAGES: Final = 2_000
LARGEST: Final = 8_000_000
"""A page with more messages or bytes becomes a folder of pages."""
PAGE_MESSAGES: Final = 500
PAGE_BYTES: Final = 2_000_000
"""A page of a folder ends after so many messages or bytes."""


@dataclass
class Written:
    """What was written of a session."""

    address: str
    """The file to open first."""
    search: list[str] = field(default_factory=list)
    """The files that the search over many pages reads."""


@dataclass(frozen=True)
class PageLine:
    """A page in the contents of a folder."""

    words: str
    address: str
    told: str
    prompts: list[Prompt]


def write(documents: Iterable[Document], out: Output, options: ExportOptions) -> None:
    """Write sessions; one, unless the caller gives names of their own to several."""
    for document in documents:
        write_document(document, out, options)


def write_document(
    document: Document, out: Output, options: ExportOptions, *, site: str | None = None
) -> Written:  # fmt: skip
    """Write one session. `site` is the way to the first page of a site, from the session's own page."""
    return _Writer(document, out, options, site).write()


class _Writer:
    def __init__(self, document: Document, out: Output, options: ExportOptions, site: str | None) -> None:
        self._document = document
        self._out = out
        self._site = site
        self._has_files = options.pictures == "files" and out.may_be_several
        self._may_split = out.may_be_several and not options.single
        self._facts = facts_of(document)

    def write(self) -> Written:
        document = self._document
        large = document.count > MOST_MESSAGES or (self._has_files and document.session.file.size > LARGEST)
        as_folder = self._may_split and large
        renderer = MessageRenderer(
            document, searched=self._may_split or self._site is not None,
            write=self._write_picture if self._has_files else None,
            folder=f"{'../' if as_folder else ''}{segment(posixpath.basename(self._out.stem))}.files/",
        )  # fmt: skip
        messages = renderer.messages()
        if as_folder:
            return self._folder(messages)
        if not self._may_split or self._has_files:
            return self._page(messages)
        held: list[RenderedMessage] = []
        size = 0
        for item in messages:
            held.append(item)
            size += len(item.html)
            if size > LARGEST:
                return self._folder(itertools.chain(held, messages))
        return self._page(held)

    def _write_picture(self, name: str, data: bytes) -> None:
        self._out.write(f"{self._out.stem}.files/{name}", [data])

    def _frame(self, words: str = "", *, loads: bool = False) -> Frame:
        title = plain(self._document.title)
        return Frame(f"{title}{words}", title, policy(loads=loads, files=self._has_files))

    # --- one page ---------------------------------------------------------------------------------------------------------

    def _page(self, messages: Iterable[RenderedMessage]) -> Written:
        out = self._out
        search = SearchFiles(out, f"{out.stem}.", plain(self._document.title)) if self._site is not None else None
        out.write(out.name, self._page_pieces(messages, search))
        return Written(out.name, search.finish() if search else [])

    def _page_pieces(self, messages: Iterable[RenderedMessage], search: SearchFiles | None) -> Iterator[bytes]:
        prompts: list[Prompt] = []
        pages = [("All sessions", self._site)] if self._site is not None else None
        yield render("before", self._frame(), self._facts, "Search this page", pages=pages)
        name = segment(posixpath.basename(self._out.name))
        for item in messages:
            if item.prompt is not None:
                prompts.append(item.prompt)
            if search is not None:
                search.add(name, item)
            yield item.html
        yield render("after", self._frame(), prompts, self._noticed(), stamp_of(self._document))

    def _noticed(self) -> list[str]:
        known = len(self._document.left_out)
        return [plain(words) for words in self._document.all_left_out()[known:]]

    # --- a folder of pages --------------------------------------------------------------------------------------------------

    def _folder(self, messages: Iterable[RenderedMessage]) -> Written:
        out, stem = self._out, self._out.stem
        search = SearchFiles(out, f"{stem}/", plain(self._document.title))
        pages: list[PageLine] = []
        for place, (items, is_last) in enumerate(_split(messages), 1):
            name = _page_name(place)
            prompts = [item.prompt for item in items if item.prompt is not None]
            links = [
                ("Previous page", _page_name(place - 1) if place > 1 else None), ("All pages", "index.html"),
                ("Next page", None if is_last else _page_name(place + 1)),
            ]  # fmt: skip
            words = f"Page {number(place)}"
            out.write(f"{stem}/{name}", self._folder_page(items, words, prompts, links))
            for item in items:
                search.add(name, item)
            pages.append(PageLine(words, name, plural(len(items), "message"), prompts))
        files = [posixpath.basename(name) for name in search.finish()]
        first = f"{stem}/index.html"
        out.write(
            first,
            [
                render(
                    "contents", self._frame(loads=True), self._facts, pages, files, self._noticed(),
                    stamp_of(self._document), self._site and f"../{self._site}",
                )
            ],
        )  # fmt: skip
        return Written(first, search.written)

    def _folder_page(
        self,
        items: list[RenderedMessage],
        words: str,
        prompts: list[Prompt],
        links: list[tuple[str, str | None]],
    ) -> Iterator[bytes]:
        frame = self._frame(f" · {words}")
        yield render("before", frame, Facts([words]), "Search this page", everywhere="index.html", pages=links)
        for item in items:
            yield item.html
        yield render("after", frame, prompts, [], "", pages=links)


def _page_name(place: int) -> str:
    return f"page-{place:03d}.html"


def _split(messages: Iterable[RenderedMessage]) -> Iterator[tuple[list[RenderedMessage], bool]]:
    """Yield the messages of each page, and whether it is the last one."""
    page: list[RenderedMessage] = []
    size = 0
    for item in messages:
        if len(page) >= PAGE_MESSAGES or (size > PAGE_BYTES // 4 and size + len(item.html) > PAGE_BYTES):
            yield page, False
            page, size = [], 0
        page.append(item)
        size += len(item.html)
    yield page, True
