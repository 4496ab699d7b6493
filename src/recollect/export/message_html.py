"""Render one message of a conversation as HTML, for the page and for exports.

Every text of a transcript passes `_text` (harmless, escaped) or a function of `html_parts`; what surrounds the message makes its
own markup. It is written by hand rather than as a template since an export renders tens of thousands of messages.
"""

from __future__ import annotations

import html
from typing import Any

from markupsafe import Markup

from .conversation import Part, Seam, ShownCall, ShownMessage
from .formatting import number, seconds, short_number, size
from .html_parts import Surroundings, arguments_html, is_cut, is_result_cut, part_html, result_html
from .rendering import plain
from .wording import argument_line, model_name, money


def message_html(item: ShownMessage, at: Surroundings) -> Markup:
    """Render a message; `at` is what surrounds it."""
    if item.seam is not None:
        return Markup(_seam(item, item.seam, at))
    apart = at.is_apart(item)
    classes = f"message {_raw(item.role)}{' off' if apart else ''}{' follows' if item.follows else ''}"
    anchor = item.uuid or item.number
    ident = f'id="m-{_raw(anchor)}" ' if anchor else ""
    speaker = _text(item.speaker)
    label = f"{speaker}, message {item.number}" if item.number else speaker
    anchors = "".join(f'<span id="m-{_raw(uuid)}"></span>' for uuid in item.uuids[1:])
    return Markup(
        f'<article class="{classes}" {ident}data-message="{_raw(item.uuid or "")}" tabindex="-1" aria-label="{label}">\n'
        f"{anchors}{_header(item, speaker, apart, at)}\n"
        f'<div class="body">\n{"".join(_part(part, at) for part in item.parts)}</div>\n'
        f"{''.join(str(at.branch(branch)) for branch in item.branches)}</article>\n"
    )


def _text(value: Any) -> str:
    """Write a text of a transcript: harmless and escaped."""
    return html.escape(plain(str(value or "")))


def _raw(value: Any) -> str:
    """Write a name that must stay what it is, such as a uuid: only escaped."""
    return html.escape(str(value))


def _seam(item: ShownMessage, seam: Seam, at: Surroundings) -> str:
    trigger = f" ({_text(seam.trigger)})" if seam.trigger else ""
    tokens = ""
    if seam.tokens_before:
        after = short_number(seam.tokens_after) if seam.tokens_after else "a summary"
        tokens = f": {short_number(seam.tokens_before)} tokens became {after}"
    return (
        f'<div class="seam" id="m-{_raw(item.uuid or item.number)}" role="separator">'
        f"<span>Compacted{trigger}{tokens}. {at.above_seam()}</span></div>\n"
    )


def _header(item: ShownMessage, speaker: str, apart: bool, at: Surroundings) -> str:
    found = [f'<span class="{"visually-hidden" if item.follows else "who"}">{speaker}</span>']
    if item.model and item.model != "<synthetic>" and not item.follows:
        found.append(f'<span class="quiet model">{html.escape(model_name(item.model))}</span>')
    if apart:
        found.append(f'<span class="chip">{_raw(item.status)}</span>')
    if item.seconds:
        minute = _raw(at.minute(item.seconds))
        shown = minute[11:16] if item.role == "assistant" else minute
        machine = _raw(at.machine_time(item.seconds))
        found.append(f'<time class="quiet" datetime="{machine}" title="{minute}">{shown}</time>')
    if item.usage is not None and item.usage.total:
        found.append(_tokens(item))
    return f'<header>\n{" ".join(found)}\n<span class="message-tools">{at.tools(item)}</span>\n</header>'


def _tokens(item: ShownMessage) -> str:
    usage = item.usage
    assert usage is not None
    written = usage.cache_write_5m + usage.cache_write_1h
    cost = f", {html.escape(money(item.cost))}" if item.cost is not None else ""
    return (
        f'<span class="quiet tokens" title="input {number(usage.input_tokens)}, from cache {number(usage.cache_read)}, '
        f'into cache {number(written)}, output {number(usage.output_tokens)}">'
        f"{short_number(usage.input_tokens + usage.cache_read + written)} in, {short_number(usage.output_tokens)} out{cost}"
        "</span>"
    )


def _part(part: Part, at: Surroundings) -> str:
    made = _uncut(part, at)
    if is_cut(part, at.limits):
        made += f'<p class="cut">Longer than what is shown. {at.line(part.place, "Show the raw line")}</p>'
    return made + "\n"


def _uncut(part: Part, at: Surroundings) -> str:
    kind = part.kind
    if kind == "text":
        return f'<div class="text" dir="auto">{part_html(part, at.limits)}</div>'
    if kind == "call" and part.call is not None:
        return _call(part.call, at)
    if kind in ("plain", "orphan"):
        told = '<p class="cut">A result without a call:</p>' if kind == "orphan" else ""
        return f'{told}<pre class="output" tabindex="0">{part_html(part, at.limits)}</pre>'
    if kind == "thinking":
        return (
            f'<details class="thinking"><summary>Thinking{"" if part.text else " (redacted)"}</summary>'
            f'<div class="text" dir="auto">{part_html(part, at.limits)}</div></details>'
        )
    if kind == "media" and part.media is not None:
        return f'<p class="media">{at.picture(part.media)}</p>'
    if kind == "note":
        return f'<p class="quiet note">{_text(part.text)}</p>'
    if kind == "long":
        return (
            f'<p class="cut">A line of {size(part.value)} is too long to be shown here. '
            f"{at.line(part.place, 'Show the raw line')}</p>"
        )
    return (
        f'<details class="unknown"><summary>A part of an unknown kind</summary>{part_html(part, at.limits)}</details>'
    )


def _call(call: ShownCall, at: Surroundings) -> str:
    name = html.escape(plain(call.name)[:80] or "(no name)")
    words = argument_line(call.arguments)
    marks = '<span class="chip bad">failed</span>' if call.is_error else ""
    marks += '<span class="chip">no result</span>' if call.result is None else ""
    marks += f'<span class="quiet took">{seconds(call.seconds)}</span>' if call.seconds is not None else ""
    found = [
        f'<details class="call{" failed" if call.is_error else ""}{" edits" if call.diff else ""}" '
        f"{'open' if call.diff else ''}>\n"
        f'<summary><span class="name">{name}</span> <span class="words">{html.escape(words)}</span> {marks}</summary>'
    ]
    if call.diff:
        if plain(call.path) != words:
            found.append(f'<p class="path"><code>{_text(call.path)}</code></p>')
        lines = "".join(f'<span class="{line.kind}">{_text(line.text)}\n</span>' for line in call.diff)
        found.append(f'<pre class="diff" tabindex="0">{lines}</pre>')
    else:
        found.append(f'<div class="arguments">{arguments_html(call, at.limits)}</div>')
    if call.result is not None and not (call.diff and not call.is_error):
        pictures = "".join(str(at.picture(media)) for media in call.media)
        found.append(
            f'<div class="result" tabindex="0" role="region" aria-label="Result of {name}">'
            f"{result_html(call, at.limits)}{pictures}</div>"
        )
    if is_result_cut(call, at.limits):
        more = at.line(call.result_place, "Show the raw line")
        found.append(f'<p class="cut">The result is longer than what is shown. {more}</p>')
    found.append(f"{at.lines(call)}</details>\n")
    return "\n".join(found) + "".join(str(at.subagent(item)) for item in call.subagents)
