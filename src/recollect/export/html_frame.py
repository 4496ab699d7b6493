"""Make the frame of an exported page: its policy by hashes, its style and script, its facts.

What a policy allows under ``file://`` was measured: docs/decisions/0042-html-exports.md.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from markupsafe import Markup

from .document import Document
from .formatting import plural, seconds
from .html_parts import ASSETS, export_templates
from .money import cost_in_words, tokens
from .rendering import plain

STYLES = ("base.css", "conversation.css", "export.css")


@cache
def style() -> Markup:
    """Return the one style of an exported page."""
    return Markup("\n".join((ASSETS / name).read_text("utf-8").strip() for name in STYLES))


@cache
def script() -> Markup:
    """Return the one script of an exported page."""
    return Markup((ASSETS / "export.js").read_text("utf-8").strip())


@cache
def policy(*, loads: bool = False, files: bool = False) -> str:
    """Return the policy of a page: only its own style and script, by their hashes.

    With `loads`, the script may load search files that lie beside the page: 'strict-dynamic' lets the script do that, and no
    markup. With `files`, pictures that lie beside the page are shown.
    """
    scripts = _hash(script()) + (" 'strict-dynamic'" if loads else "")
    pictures = "data: 'self'" if files else "data:"
    return (
        f"default-src 'none'; style-src {_hash(style())}; script-src {scripts}; img-src {pictures}; base-uri 'none'; "
        "form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@dataclass(frozen=True)
class Frame:
    """What the head of a page needs."""

    title: str
    heading: str
    policy: str

    @property
    def style(self) -> Markup:
        return style()

    @property
    def script(self) -> Markup:
        return script()


@dataclass(frozen=True)
class Prompt:
    """A prompt in the outline."""

    address: str
    words: str
    moment: str = ""


@dataclass(frozen=True)
class Facts:
    """What the top of an export says of its session."""

    line: list[str]
    redaction: str | None = None
    left_out: list[str] = field(default_factory=list)


def facts_of(document: Document) -> Facts:
    """Return the facts of a session for the top of its export."""
    began, ended = document.moment(document.started), document.moment(document.ended)
    when = began if began == ended or not ended else f"{began} to {ended[11:] if ended[:10] == began[:10] else ended}"
    took = (document.ended or 0) - (document.started or 0) if document.started and document.ended else 0
    found = [
        plain(document.project or ""),
        f"{when} {document.options.timezone}" if when else "",
        f"took {seconds(took)}" if took > 0 else "",
        ", ".join(plain(model)[:60] for model in document.models[:4]),
        plural(document.count, "message"),
        plural(len(document.subagents), "subagent") if document.subagents else "",
    ]
    if document.options.costs:
        totals = document.totals
        usage = totals.usage
        put_in = usage.input_tokens + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h
        found.append(f"{tokens(put_in)} tokens in, {tokens(usage.output_tokens)} out")
        found.append(cost_in_words(totals.cost, totals.unpriced, totals.lower_bounds))
    if document.damage:
        found.append(plural(len(document.damage), "damaged line"))
    found.append(f"session {plain(document.id)}")
    redaction = document.redaction
    return Facts(
        [words for words in found if words],
        plain(redaction.words()) if redaction is not None else None,
        [plain(words) for words in document.left_out],
    )


def stamp_of(document: Document) -> str:
    """Return the moment of the export, if it shall be written."""
    stamp = document.options.stamp
    return "" if stamp is None else document.moment(stamp.timestamp())


def render(macro: str, *values: Any, **named: Any) -> bytes:
    """Render a macro of the frame as UTF-8."""
    made: Markup = getattr(export_templates().get_template("export_frame.html").module, macro)(*values, **named)
    return encoded(made)


def encoded(text: str) -> bytes:
    """Encode text of a page; what UTF-8 cannot hold becomes a question mark."""
    return text.encode("utf-8", "replace")
