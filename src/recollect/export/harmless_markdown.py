"""Write the Markdown of a stranger again as Markdown that looks the same and does nothing.

The text is parsed and every part of it written anew, so nothing gets through that is not written here: HTML becomes text, only
links to the web and to mail stay, pictures from elsewhere become links, a fence that was never closed is closed. What a platform
would act on is broken by a zero-width joiner or put into code: `@name`, `#12`, `GH-12`, `!12`, links to issues and commits
(GitHub, GitLab), `#tag`, `[[link]]`, `%%comment%%`, inline queries and languages that run (Obsidian), `$math$`, diagrams.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from .terminal_text import safe, safe_line

LONGEST: Final = 120_000
"""A longer text is written as it is, in a fence: parsing would take too long."""
COSTLY_MARKS: Final = 3_000
"""A text with more opening marks is written in a fence: the parser's time grows with the square of their number."""
_COSTLY: Final = "[*_`|~<!"
_JOINER: Final = "\u200d"
_LINK: Final = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f<>]*\Z", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'`\\|]+[^\s<>\"'`\\|.,;:!?)\]}*_~]", re.IGNORECASE)
#: Addresses that a platform notes at the other end, or that close an issue when a commit message holds them.
_TRACKED_PART: Final = r"/(?:issues|pulls?|merge_requests|discussions|commits?|compare|releases/tag)/"
_TRACKED: Final = re.compile(_TRACKED_PART, re.IGNORECASE)
_REFERENCES: Final = re.compile(
    r"(?<![A-Za-z0-9])@(?=[A-Za-z0-9_-])"  # somebody is told
    r"|#(?=\w)"  # an issue, or a tag
    r"|(?<![A-Za-z0-9])GH-(?=\d)"
    r"|[!%](?=\d)"  # GitLab's merge requests and milestones
    r"|(?<![\w.])www(?=\.)"
    rf"|https?:(?=//\S{{0,300}}{_TRACKED_PART})",
    re.IGNORECASE,
)
_SPECIAL: Final = re.compile(
    r"[\\`*\[\]<~$|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|(?<=%)%|&(?=#?\w{1,32};)"
)  # fmt: skip
_LINE_START: Final = re.compile(r"^([ \t]*)([#>+=:-]|\d{1,9}(?=[.)](?:\s|$)))", re.MULTILINE)
_TASKS: Final = (("[ ] ", "☐ "), ("[x] ", "☑ "), ("[X] ", "☑ "))
#: Languages of code blocks that are colours and nothing else; others (mermaid, math, dataviewjs, …) would be drawn or run.
LANGUAGES: Final = frozenset(
    {
        "bash", "sh", "shell", "console", "zsh", "fish", "powershell", "bat", "c", "cpp", "c++", "csharp",
        "cs", "java", "kotlin", "scala", "groovy", "go", "rust", "swift", "dart", "zig", "nim", "python",
        "py", "pycon", "js", "javascript", "jsx", "ts", "typescript", "tsx", "json", "json5", "jsonc", "yaml",
        "yml", "toml", "ini", "xml", "html", "css", "scss", "less", "sass", "sql", "ruby", "rb", "perl",
        "php", "lua", "r", "julia", "haskell", "hs", "elixir", "erlang", "clojure", "lisp", "scheme", "ocaml",
        "fsharp", "diff", "patch", "text", "txt", "plain", "markdown", "md", "rst", "tex", "latex",
        "makefile", "make", "cmake", "dockerfile", "docker", "nginx", "terraform", "hcl", "proto", "protobuf",
        "graphql", "vue", "svelte", "asm", "awk", "sed", "vim", "csv", "tsv", "log", "http", "regex",
    }
)  # fmt: skip
_RUN: Final = re.compile("`+")
_INERT: Final = re.compile(r"(?:[A-Za-z0-9 ,;:'\"()?]++|(?<![Hh])-|(?<![Ww])\.)*+")
"""Text in which there is no address, nothing that a platform would act on, and nothing to escape: most words and numbers."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9 ,.;:?'\"()/-]+")
"""Text without any markup, unless that of a list at its start: it need not be parsed."""


def harmless_markdown(text: str, *, below: int = 1, hard_breaks: bool = False) -> str:
    """Return Markdown that renders like `text` and does nothing. Headings are `below` levels lower.

    With `hard_breaks` every line end stays one: what a person typed is not always Markdown.
    """
    text = safe(text).strip("\n")
    if not text.strip():
        return ""
    if len(text) > LONGEST or max(text.count(mark) for mark in _COSTLY) > COSTLY_MARKS:
        return fenced(text)
    if text[0].isalpha() and _PLAIN.fullmatch(text) is not None:
        return _starts(_text(text.rstrip()))
    return _Writer(below, hard_breaks).blocks(_tree(_parser().parse(text)))


def harmless_line(text: str, width: int | None = None) -> str:
    """Return a text as one line of Markdown without any markup: for headings and cells of tables."""
    line = safe_line(text, width)
    return line if _INERT.fullmatch(line) is not None else _escaped(inert(line))


def harmless_html(text: str, width: int | None = None) -> str:
    """Return a text as one line for the inside of an element: for `<summary>`."""
    return html.escape(inert(safe_line(text, width)), quote=True)


def inert(text: str) -> str:
    """Break what a platform would act on: mentions, references to issues, tags."""
    return _REFERENCES.sub(lambda match: match.group() + _JOINER, text)


def fenced(text: str, language: str = "") -> str:
    """Write a block of code whose fence is longer than any run of backticks in it."""
    text = safe(text).rstrip()
    longest = _longest_run(text)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language if language in LANGUAGES else ''}\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max(map(len, _RUN.findall(text))) if "`" in text else 0


def code(text: str) -> str:
    """Write a text as code inside a line."""
    text = " ".join(safe(text).split("\n")) or " "
    if text.startswith(("=", "$=")):  # Obsidian's Dataview would run it
        text = _JOINER + text
    longest = _longest_run(text)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.at("inline", _parse_inline)
    parser.validateLink = lambda url: _LINK.match(url) is not None  # type: ignore[method-assign]
    return parser


def _parse_inline(state: StateCore) -> None:
    """Parse what stands inside of blocks, as the parser's own rule does; most cells and items are plain text."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        if _PLAIN.fullmatch(token.content) is not None:
            token.children = [Token("text", "", 0, content=token.content)]
        else:
            token.children = []
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda match: "&amp;" if match.group() == "&" else "\\" + match.group(), text)


def _text(text: str, *, in_link: bool = False) -> str:
    """Escape text. Addresses become links of their own, so that no character of them is escaped."""
    if _INERT.fullmatch(text) is not None:
        return text
    parts: list[str] = []
    place = 0
    for match in _ADDRESS.finditer(text):
        parts.append(_escaped(inert(text[place : match.start()])))
        address = match.group()
        if in_link:
            parts.append(_escaped(inert(address)))
        else:
            parts.append(code(address) if _TRACKED.search(address) else f"<{address}>")
        place = match.end()
    parts.append(_escaped(inert(text[place:])))
    return "".join(parts)


class _Node:
    """A token with what stands inside of it. The parser's own tree has much more, and takes as long as writing the text."""

    __slots__ = ("children", "token", "type")

    def __init__(self, token: Token) -> None:
        self.token = token
        self.type = token.type.removesuffix("_open")
        self.children = _tree(token.children) if token.children else []


def _tree(tokens: Iterable[Token]) -> list[_Node]:
    """Put tokens that stand between the opening and the closing one of another inside of it."""
    open_nodes: list[list[_Node]] = [[]]
    for token in tokens:
        if token.nesting < 0:
            open_nodes.pop()
            continue
        node = _Node(token)
        open_nodes[-1].append(node)
        if token.nesting > 0:
            open_nodes.append(node.children)
    return open_nodes[0]


class _Writer:
    """Writes a parsed text again."""

    def __init__(self, below: int, hard_breaks: bool) -> None:
        self._below = below
        self._hard_breaks = hard_breaks

    def blocks(self, nodes: list[_Node], *, tight: bool = False) -> str:
        written: list[str] = []
        second = False
        for place, node in enumerate(nodes):
            second = place > 0 and nodes[place - 1].type == node.type and not second
            block = self._block(node, second)
            if block:
                written.append(block)
        return ("\n" if tight else "\n\n").join(written)

    def _block(self, node: _Node, second: bool) -> str:
        """Write a block. `second` is a list right after another one, which would be one list with the same mark."""
        kind = node.type
        if kind == "paragraph":
            return self._paragraph(node)
        if kind == "heading":
            level = min(int(node.token.tag[1:]) + self._below, 6)
            return f"{'#' * level} {' '.join(self._children(node).split())}".rstrip()
        if kind in ("fence", "code_block"):
            words = node.token.info.split() if kind == "fence" else []
            return fenced(node.token.content, words[0].lower() if words else "")
        if kind == "blockquote":
            return _prefixed(self.blocks(node.children), "> ", "> ")
        if kind in ("bullet_list", "ordered_list"):
            return self._list(node, second)
        if kind == "table":
            return self._table(node)
        if kind == "hr":
            return "* * *"
        return _starts(_text(node.token.content)) if node.token.content else ""

    def _paragraph(self, node: _Node) -> str:
        lines = [line.strip(" \t") for line in self._children(node).split("\n")]
        return _starts("\n".join(line for line in lines if line))

    def _children(self, node: _Node) -> str:
        return "".join(self._inline(child) for inline in node.children for child in inline.children)

    def _list(self, node: _Node, second: bool) -> str:
        ordered = node.type == "ordered_list"
        start = node.token.attrs.get("start", 1) if ordered else 0
        number = start if isinstance(start, int) else 1
        tight = any(
            child.token.hidden for item in node.children for child in item.children if child.type == "paragraph"
        )
        items: list[str] = []
        for place, item in enumerate(node.children):
            mark = f"{number + place}{')' if second else '.'} " if ordered else "* " if second else "- "
            body = self.blocks(item.children, tight=tight)
            for box, sign in _TASKS:
                escaped = box.replace("[", "\\[").replace("]", "\\]")
                body = sign + body[len(escaped) :] if body.startswith(escaped) else body
            items.append(_prefixed(body, mark, " " * len(mark)))
        return ("\n" if tight else "\n\n").join(items)

    def _table(self, node: _Node) -> str:
        rows = [row for part in node.children for row in part.children]
        lines: list[str] = []
        for place, row in enumerate(rows):
            cells = [" ".join(self._children(cell).split()) for cell in row.children]
            # A bar inside of code needs a backslash too; those in text have one already.
            lines.append("| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in cells) + " |")
            if place == 0:
                lines.append("|" + "|".join(_alignment(cell) for cell in row.children) + "|")
        return "\n".join(lines)

    def _inline(self, node: _Node, in_link: bool = False) -> str:
        kind = node.type
        if kind == "softbreak":
            return "\\\n" if self._hard_breaks else "\n"
        if kind == "hardbreak":
            return "\\\n"
        if kind == "code_inline":
            return code(node.token.content)
        if kind in ("strong", "em", "s"):
            inner = "".join(self._inline(child, in_link) for child in node.children)
            return _marked({"strong": "**", "em": "*", "s": "~~"}[kind], inner)
        if kind == "link":
            inner = "".join(self._inline(child, in_link=True) for child in node.children)
            return _link(inner, str(node.token.attrs.get("href", "")))
        if kind == "image":
            words = _escaped(inert(f"image: {' '.join(node.token.content.split())}".strip()))
            return words if in_link else _link(words, str(node.token.attrs.get("src", "")))
        return _text(node.token.content, in_link=in_link)


def _link(words: str, address: str) -> str:
    words = " ".join(words.split())
    if _LINK.match(address) is None:
        return words
    if _TRACKED.search(address):
        return f"{words} ({code(address)})" if words else code(address)
    return f"[{words or 'link'}](<{address}>)"


def _marked(mark: str, inner: str) -> str:
    """Write emphasis; white space at its ends stands outside, where it would not end it."""
    core = inner.strip()
    if not core:
        return inner
    start, end = inner[: len(inner) - len(inner.lstrip())], inner[len(inner.rstrip()) :]
    return f"{start}{mark}{core}{mark}{end}"


def _starts(text: str) -> str:
    """Escape what would begin a block at the start of a line."""
    return _LINE_START.sub(lambda match: match[1] + (match[2] + "\\" if match[2].isdigit() else "\\" + match[2]), text)


def _prefixed(text: str, first: str, other: str) -> str:
    lines = text.split("\n")
    rest = [(other + line).rstrip() if line else other.rstrip() for line in lines[1:]]
    return "\n".join([(first + lines[0]).rstrip(), *rest])


def _alignment(cell: _Node) -> str:
    style = str(cell.token.attrs.get("style", ""))
    left, right = "left" in style or "center" in style, "right" in style or "center" in style
    return f"{':' if left else '-'}--{':' if right else '-'}"
