"""Render the parts of a conversation as HTML, for the templates."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from ..export.conversation import Part, ShownCall
from .rendering import TEXT_LIMIT, code, language_of, markdown, pretty_json, terminal

RESULT_LIMIT: Final = 20_000
"""Longer results are cut; the raw line has all of it."""


def part_html(part: Part) -> Markup:
    """Render the text of a part: Markdown of people and models, the output of programs, or unknown blocks as JSON."""
    if part.kind == "unknown":
        return pretty_json(part.value, RESULT_LIMIT)
    if part.kind in ("text", "thinking"):
        return markdown(part.text)
    return terminal(part.text[:RESULT_LIMIT] if part.kind == "orphan" else part.text)


def is_cut(part: Part) -> bool:
    """Return whether a part is longer than what the page shows."""
    return len(part.text) > TEXT_LIMIT


def arguments_html(call: ShownCall) -> Markup:
    """Render the arguments of a call: a shell command as code, everything else as JSON."""
    value = call.arguments
    if call.name == "Bash" and isinstance(value, dict) and isinstance(value.get("command"), str):
        return code(value["command"], "bash")
    return pretty_json(value, RESULT_LIMIT)


def result_html(call: ShownCall) -> Markup:
    """Render the result of a call: a file that was read with colours, everything else as the output of a program."""
    text = (call.result or "")[:RESULT_LIMIT]
    value = call.arguments
    if call.result_is_long:
        return Markup()
    if call.name == "Read" and isinstance(value, dict) and isinstance(value.get("file_path"), str):
        return code(text, language_of(value["file_path"]))
    return Markup('<pre class="output">{}</pre>').format(terminal(text))


def is_result_cut(call: ShownCall) -> bool:
    """Return whether a result is longer than what the page shows."""
    return call.result_is_long or len(call.result or "") > RESULT_LIMIT
