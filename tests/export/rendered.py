"""Render exported Markdown as GitHub does, and look at what came out: elements, links, and text that would be acted on."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from markdown_it import MarkdownIt

ALLOWED = {
    "h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "em", "strong", "s", "code", "pre", "blockquote", "a", "img",
    "hr", "br", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "b",
}  # fmt: skip
VOID = {"img", "hr", "br"}
#: What GitHub and GitLab act on, in text that is not code.
ACTED_ON = re.compile(
    r"(?<![A-Za-z0-9_`])@[A-Za-z0-9]|(?<![A-Za-z0-9_&])#\d|\w#\d|\bGH-\d|(?<!\w)!\d|"
    r"https?://[^ ]*/(?:issues|pull|commit)/", re.IGNORECASE,
)  # fmt: skip


class Page(HTMLParser):
    """The elements of a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[tuple[str, tuple[str, ...]]] = []
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.feed(html)
        self.close()
        self.wrong += [f"{tag} is not closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ALLOWED:
            self.wrong.append(f"element {tag}")
        for name, value in attrs:
            if not _is_allowed(tag, name, value or ""):
                self.wrong.append(f"{tag} {name}={value}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open[-1] != tag:
            self.wrong.append(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"comment {data}")

    def handle_decl(self, decl: str) -> None:
        self.wrong.append(f"declaration {decl}")

    def handle_pi(self, data: str) -> None:
        self.wrong.append(f"instruction {data}")

    def handle_data(self, data: str) -> None:
        self.text.append((data, tuple(self.open)))

    @property
    def acted_on(self) -> list[str]:
        """Text outside of code that a platform would act on."""
        return [
            found.group()
            for text, inside in self.text
            if not {"code", "pre", "a"} & set(inside)
            for found in ACTED_ON.finditer(text)
        ]

    @property
    def words(self) -> str:
        return "".join(text for text, _ in self.text)


def _is_allowed(tag: str, name: str, value: str) -> bool:
    if (tag, name) == ("a", "href"):
        is_web = re.match(r"(?:https?://|mailto:)", value) is not None
        return (
            re.search(r"/(?:issues|pull|commit)/", value) is None if is_web else re.match(r"[^:]*\Z", value) is not None
        )
    if (tag, name) == ("img", "src"):
        return (
            re.fullmatch(
                r"[^:/]+\.files/[0-9a-f]+\.(?:png|jpg|gif|webp)|data:image/(?:png|jpeg|gif|webp);base64,.*", value
            )
            is not None
        )
    if (tag, name) == ("code", "class"):
        return value.removeprefix("language-") not in ("mermaid", "math", "dataview", "dataviewjs", "query")
    return (tag, name) in {("img", "alt"), ("ol", "start"), ("th", "style"), ("td", "style")}


def render(markdown: str) -> Page:
    """Render Markdown with HTML allowed, as GitHub and Obsidian do."""
    parser = MarkdownIt("gfm-like", {"html": True, "linkify": False})
    parser.validateLink = lambda url: url is not None  # type: ignore[method-assign]  # what the export lets through is to be seen
    return Page(parser.render(markdown))
