"""Render the parts of a conversation as HTML, and say what a message needs to know about what surrounds it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..graph.session import Branch as Branch
from ..graph.session import Subagent as Subagent
from . import formatting, wording
from .conversation import Media, Part, Place, ShownCall, ShownMessage
from .rendering import code, language_of, markdown, plain, pretty_json, terminal

if TYPE_CHECKING:
    from os import PathLike

TEMPLATES: Final = Path(__file__).parent / "templates"
ASSETS: Final = Path(__file__).parent / "assets"
"""Styles and the script of exports; the page uses some of the styles too."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many characters of a text are shown. What is cut is said beside it."""

    text: int
    result: int
    """Of a result, of the arguments of a call, and of a block of an unknown kind."""


PAGE_LIMITS: Final = Limits(120_000, 20_000)
"""On the page, the raw line has all of it."""
EXPORT_LIMITS: Final = Limits(1_000_000, 1_000_000)


class Surroundings(Protocol):
    """What surrounds a message: the page with its links and loaded folds, or a file that stands alone."""

    @property
    def limits(self) -> Limits:
        """How much of a text is shown."""

    def line(self, place: Place | None, words: str = "raw") -> Markup:
        """Render the link to the raw line; nothing where there is none."""

    def lines(self, call: ShownCall) -> Markup:
        """Render the links to the lines of a call."""

    def picture(self, media: Media) -> Markup:
        """Render a picture or a document."""

    def subagent(self, subagent: Subagent) -> Markup:
        """Render the fold with the conversation of a subagent."""

    def branch(self, branch: Branch) -> Markup:
        """Render the mark of a branch that left the conversation here."""

    def tools(self, item: ShownMessage) -> Markup:
        """Render the links and buttons of a message."""

    def above_seam(self) -> Markup:
        """Say what is above a compaction."""

    def is_apart(self, item: ShownMessage) -> bool:
        """Return whether a message is marked as not being part of the conversation."""

    def minute(self, seconds: float | None) -> str:
        """Write a moment to the minute: ``2026-03-02 14:30``."""

    def machine_time(self, seconds: float | None) -> str:
        """Write a moment for the `datetime` attribute of an element."""


def part_html(part: Part, limits: Limits) -> Markup:
    """Render the text of a part: Markdown of people and models, the output of programs, or unknown blocks as JSON."""
    if part.kind == "unknown":
        return pretty_json(part.value, limits.result)
    if part.kind in ("text", "thinking"):
        return markdown(part.text, limits.text)
    return terminal(part.text, limits.result if part.kind == "orphan" else limits.text)


def is_cut(part: Part, limits: Limits) -> bool:
    """Return whether a part is longer than what is shown."""
    return len(part.text) > limits.text


def arguments_html(call: ShownCall, limits: Limits) -> Markup:
    """Render the arguments of a call: a shell command as code, everything else as JSON."""
    value = call.arguments
    if call.name == "Bash" and isinstance(value, dict) and isinstance(value.get("command"), str):
        return code(value["command"], "bash", limits.text)
    return pretty_json(value, limits.result)


def result_html(call: ShownCall, limits: Limits) -> Markup:
    """Render the result of a call: a file that was read with colours, everything else as the output of a program."""
    text = (call.result or "")[: limits.result]
    value = call.arguments
    if call.result_is_long:
        return Markup()
    if call.name == "Read" and isinstance(value, dict) and isinstance(value.get("file_path"), str):
        return code(text, language_of(value["file_path"]), limits.text)
    return Markup('<pre class="output">{}</pre>').format(terminal(text, limits.text))


def is_result_cut(call: ShownCall, limits: Limits) -> bool:
    """Return whether a result is longer than what is shown."""
    return call.result_is_long or len(call.result or "") > limits.result


def html_templates(*folders: str | PathLike[str]) -> Environment:
    """Return the templates of these folders and of exports, with the filters that write text harmlessly."""
    environment = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    for name in ("size", "number", "short_number", "ago", "seconds"):
        environment.filters[name] = getattr(formatting, name)
    for name in ("money", "machine_time", "tail", "title_of", "iso_minute", "ticked", "model_name", "argument_line"):
        environment.filters[name] = getattr(wording, name)
    environment.filters["local"] = formatting.local_minute
    environment.filters["plain"] = lambda text: plain(str(text or ""))
    environment.filters["segment"] = segment
    environment.globals["plural"] = formatting.plural
    return environment


def segment(text: Any) -> str:
    """Write a text as one part of an address."""
    return quote(str(text), safe="")


@cache
def export_templates() -> Environment:
    """Return the templates of exports."""
    return html_templates()
