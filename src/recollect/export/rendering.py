"""Render text of a transcript as harmless HTML: markdown, code, diffs and terminal output.

Three walls: the markdown parser does not support HTML, everything else is escaped, and nh3 lets only a short list of elements
through. Links lead only to the web and to mail; pictures from elsewhere become links. The page's policy is the fourth wall.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from . import code_colors

HIGHLIGHT_LIMIT: Final = 4_000
"""Longer code in a language that only Pygments knows is shown without colours: Pygments is slow."""
TEXT_LIMIT: Final = 120_000
"""Longer text is cut; the raw line has all of it."""

COSTLY_LIMIT: Final = 3_000
"""A text with more opening marks is shown without markup: the parser's time grows with the square of their number."""
_COSTLY: Final = "[*_`|~<!"
_PROSE: Final = re.compile(r"[A-Za-z\"'(][\w ,.;:'\"()?/%-]*")
"""One line of words that no rule of Markdown applies to: most prompts, and most sentences before a call."""

_TAGS: Final = {
    "a", "b", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p",
    "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_CLASS: Final = re.compile(r"(?:hl-[a-z0-9]{1,4}|code|language|ansi-[a-z0-9-]{1,16}|external|left|right|center)(?: |$)")
_LINK: Final = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f]*\Z", re.IGNORECASE)


def markdown(text: str, limit: int = TEXT_LIMIT) -> Markup:
    """Render Markdown as HTML. Headings begin below those of the page."""
    cut = plain(text[:limit])
    if _PROSE.fullmatch(cut):
        return Markup(f"<p>{html.escape(cut.strip(), quote=False)}</p>\n")
    if max(cut.count(mark) for mark in _COSTLY) > COSTLY_LIMIT:
        return Markup('<pre class="output">{}</pre>').format(cut)
    return Markup(_clean(_parser().render(cut)))


def code(text: str, language: str = "", limit: int = TEXT_LIMIT) -> Markup:
    """Render code with colours as classes, if the language is known and the text is not too long."""
    return Markup(f'<pre class="code"><code>{_highlighted(plain(text[:limit]), language)}</code></pre>')


def pretty_json(value: Any, limit: int = TEXT_LIMIT) -> Markup:
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return code(text[:limit], "json", limit)


def language_of(path: str) -> str:
    """Return the language of a file by its name; empty if it is not known."""
    name = path.rpartition("/")[2]
    known = code_colors.language_by_suffix(name)
    return known if known is not None else _language_by_name(name) if len(name) < 200 else ""


@lru_cache(maxsize=512)
def _language_by_name(name: str) -> str:
    from pygments.lexers import find_lexer_class_for_filename

    found = find_lexer_class_for_filename(name)
    return found.aliases[0] if found is not None and found.aliases else ""


def _highlighted(text: str, language: str) -> str:
    wanted = language.strip().split()[0].lower() if language.strip() else ""
    if not wanted or len(wanted) > 30:
        return html.escape(text)
    if code_colors.is_known(wanted):
        return code_colors.colored(text, wanted)
    if len(text) > HIGHLIGHT_LIMIT:
        return html.escape(text)
    from pygments import highlight
    from pygments.util import ClassNotFound

    try:
        lexer = _lexer(wanted)
    except ClassNotFound:
        return html.escape(text)
    return str(highlight(text, lexer, _formatter()))


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(language, stripnl=False, ensurenl=False)


@cache
def _formatter() -> Any:
    from pygments.formatters import HtmlFormatter

    return HtmlFormatter(nowrap=True, classprefix="hl-")


def _tick_tasks(state: StateCore) -> None:
    """Turn the boxes of ``- [x] done`` into signs that cannot be clicked."""
    tokens = state.tokens
    for at in range(2, len(tokens)):
        if tokens[at].type == "inline" and tokens[at - 2].type == "list_item_open" and tokens[at].children:
            first = tokens[at].children[0]  # type: ignore[index]
            for mark, sign in (("[ ] ", "☐ "), ("[x] ", "☑ "), ("[X] ", "☑ ")):
                if first.type == "text" and first.content.startswith(mark):
                    first.content = sign + first.content[len(mark) :]


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "highlight": None, "maxNesting": 40})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.push("tasks", _tick_tasks)
    parser.validateLink = lambda url: _LINK.match(url) is not None  # type: ignore[method-assign]
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("code_block", _fence)
    parser.add_render_rule("image", _image)
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", _heading)
    return parser


def _fence(_: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[place]
    return f'<pre class="code"><code>{_highlighted(token.content, token.info)}</code></pre>\n'


def _image(_: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType) -> str:
    """Render a picture from the web as a link: loading it would tell its server that you read this."""
    token = tokens[place]
    address = str(token.attrGet("src") or "")
    words = html.escape(token.content or address)
    if not _LINK.match(address):
        return f"[image: {words}]"
    return f'<a class="external" href="{html.escape(address)}">image: {words}</a>'


def _heading(renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[place]
    level = min(int(token.tag[1:] or 1) + 2, 6) if token.tag[1:].isdigit() else 4
    return f"<h{level}>" if token.nesting == 1 else f"</h{level}>\n"


def _clean(text: str) -> str:
    import nh3

    return nh3.clean(
        text,
        tags=_TAGS,
        attributes={"a": {"href", "title", "class"}, "span": {"class"}, "pre": {"class"}, "td": {"align"}, "th": {"align"},
                    "ol": {"start"}},
        attribute_filter=_kept_attribute,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )  # fmt: skip


def _kept_attribute(tag: str, name: str, value: str) -> str | None:
    if name == "class":
        return value if all(_CLASS.match(word) for word in value.split()) else None
    if name == "href":
        return value if _LINK.match(value) else None
    return value


_CONTROL: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def _visible(text: str) -> str:
    """Show characters that hide or reorder text, and lone surrogates, which cannot be sent, by their code points."""
    return _CONTROL.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text) if _CONTROL.search(text) else text


def plain(text: str) -> str:
    """Make a single value safe for a page: nothing in it reorders the text beside it."""
    return _visible(text.replace("\r\n", "\n").replace("\r", "\n"))


_SEQUENCE: Final = re.compile(
    r"\x1b\[([0-9;]*)m"  # colours: the only sequences that are kept
    r"|\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|(?=\x1b)|\Z)"
    r"|\x1b[ -/]*[0-~]"
)
_COLORS: Final = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")


def terminal(text: str, limit: int = TEXT_LIMIT) -> Markup:
    """Render the output of a program: its colours as classes, every other escape sequence removed."""
    cut = text[:limit].replace("\r\n", "\n")
    if "\x1b" not in cut and "\x9b" not in cut:
        return Markup(html.escape(_visible(cut)))
    parts: list[str] = []
    classes: dict[str, str] = {}
    position = 0
    for match in _SEQUENCE.finditer(cut):
        parts.append(_span(cut[position : match.start()], classes))
        position = match.end()
        if match.group(1) is not None:
            _apply(match.group(1), classes)
    parts.append(_span(cut[position:], classes))
    return Markup("".join(parts))


def _span(text: str, classes: dict[str, str]) -> str:
    escaped = html.escape(_visible(text))
    return f'<span class="{" ".join(classes.values())}">{escaped}</span>' if classes and escaped else escaped


def _apply(codes: str, classes: dict[str, str]) -> None:
    for word in (codes or "0").split(";"):
        number = int(word) if word.isdigit() and len(word) < 4 else -1
        if number in (0, -1):
            classes.clear()
        elif number == 1:
            classes["weight"] = "ansi-bold"
        elif number == 2:
            classes["weight"] = "ansi-dim"
        elif 30 <= number <= 37 or 90 <= number <= 97:
            classes["color"] = f"ansi-{_COLORS[number % 10]}"
        elif number == 39:
            classes.pop("color", None)
        elif number in (38, 48):
            return  # indexed and true colours are left out
