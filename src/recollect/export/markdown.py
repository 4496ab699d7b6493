"""Export a session as Markdown for GitHub, Obsidian and pull requests.

A heading for each prompt, answers below it, tool calls folded with their results, subagents inside of the calls that started
them. Pictures lie in `NAME.files/`. A long session is split into parts, because GitHub shows no file above about 1 MB.
Text of the transcript goes through `harmless_markdown`, or stands in a fence.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final
from urllib.parse import quote

from ..format.times import to_iso
from ..graph.session import Branch, Subagent
from .conversation import Media, Part, Seam, ShownCall, ShownMessage
from .document import DAMAGED, DEEPEST_SUBAGENT, Document, ExportOptions
from .formats import Output
from .formatting import argument_line, model_name, plural, seconds, size
from .harmless_markdown import code, fenced, harmless_html, harmless_line, harmless_markdown, inert
from .money import exact_dollars, message_tokens

PART_BYTES: Final = 900_000
"""A part that is longer ends after the message that made it so; GitHub shows about 1 MB."""
ENDINGS: Final = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
_PROMPT_LEVEL: Final = 2
_QUIET: Final = ("meta", "system", "attachment", "progress", "tool")


def write(documents: Iterable[Document], out: Output, options: ExportOptions) -> None:
    """Write one document, in several parts if it is long."""
    for document in documents:
        writer = _Writer(document, out)
        part = _PartOfFile(writer.blocks(), 1, out, is_split=out.may_be_several and not options.single)
        out.write(out.name, part.pieces())
        while (following := part.following) is not None:
            out.write(following.name, following.pieces())
            part = following


def markdown_text(document: Document, *, limit: int | None = None) -> str:
    """Return a document as one text, without pictures; after `limit` characters it ends with a remark."""
    pieces: list[str] = []
    length = 0
    for block in _Writer(document, None).blocks():
        pieces.append(f"{block}\n\n")
        length += len(block)
        if limit is not None and length > limit:
            pieces.append("> **Cut here.** The conversation is longer: `recollect export` writes all of it.\n")
            break
    return "".join(pieces)


def message_markdown(message: ShownMessage) -> str:
    """Write one message with its calls and their results, to paste elsewhere."""
    return "\n\n".join(block for part in message.parts for block in _Writer(None, None).part(part, message, 2)) + "\n"


class _PartOfFile:
    """One file of a document that may be split."""

    def __init__(self, blocks: Iterator[str], number: int, out: Output, *, is_split: bool) -> None:
        self._blocks = blocks
        self._number = number
        self._out = out
        self._is_split = is_split
        self.name = out.name if number == 1 else f"{out.stem}.part-{number}.md"
        self.following: _PartOfFile | None = None
        """The next file, once this one was written."""

    def pieces(self) -> Iterator[str]:
        written = 0
        if self._number > 1:
            yield f"Part {self._number}. The conversation begins in {_file_link(self._out.name)}.\n\n"
        for block in self._blocks:
            yield f"{block}\n\n"
            written += len(block.encode("utf-8", "replace"))
            if self._is_split and written > PART_BYTES:
                first = next(self._blocks, None)
                if first is not None:
                    rest = chain([first], self._blocks)
                    self.following = _PartOfFile(rest, self._number + 1, self._out, is_split=True)
                    yield f"The conversation goes on in {_file_link(self.following.name)}.\n"
                return


def _file_link(name: str) -> str:
    return f"[{harmless_line(name)}](<{quote(name)}>)"


class _Writer:
    """Writes the blocks of one document: a message is one block."""

    def __init__(self, document: Document | None, out: Output | None) -> None:
        self._document = document
        self._out = out
        self._written_subagents: set[str] = set()
        self._written_pictures: set[str] = set()

    def blocks(self) -> Iterator[str]:
        document = self._document
        assert document is not None
        yield "\n\n".join(_head(document))
        for message in document.messages():
            yield from self._message(message)
        loose = [item for item in document.loose_subagents if item.subagent_id not in self._written_subagents]
        if loose:
            yield "## Subagents without a call"
            for subagent in loose:
                yield "\n\n".join(self._subagent(subagent, 0))
        if document.branches:
            yield "## Branches that were left"
            for branch in document.branches:
                yield "\n\n".join(self._branch(branch))

    def _message(self, message: ShownMessage) -> Iterator[str]:
        if message.seam is not None:
            yield _seam(message.seam)
            return
        if message.role == DAMAGED:
            yield f"> **Damaged line.** {harmless_line(message.parts[0].text)}"
            return
        body = [block for part in message.parts for block in self.part(part, message, 0)]
        if not body and message.role != "user":
            return
        yield "\n\n".join([*self._heading(message), *(body or ["(empty)"])])

    def _heading(self, message: ShownMessage) -> Iterator[str]:
        document = self._document
        assert document is not None
        facts = [message.speaker, document.moment(message.seconds)]
        if message.role == "assistant" and message.model:
            facts[0] = f"{message.speaker} ({model_name(message.model)})"
        if document.options.view == "all" and message.status != "live":
            facts.append(message.status)
        heading = harmless_line(", ".join(fact for fact in facts if fact))
        if message.role == "user":
            yield f"{'#' * _PROMPT_LEVEL} {heading}"
        elif not message.follows:
            yield f"{'#' * (_PROMPT_LEVEL + 1)} {heading}"
        if document.options.costs and message.usage is not None and message.role == "assistant":
            tokens = message_tokens(
                message.model, message.seconds, message.usage, lower_bound=message.lower_bound
            )  # fmt: skip
            yield f"*{harmless_line(tokens)}*"

    def part(self, part: Part, message: ShownMessage, depth: int) -> Iterator[str]:
        """Write a piece of a message as blocks."""
        if part.kind == "text":
            below = _PROMPT_LEVEL if message.role == "user" else _PROMPT_LEVEL + 1
            yield harmless_markdown(part.text, below=below, hard_breaks=message.role == "user")
        elif part.kind == "plain":
            yield _details(message.speaker, [fenced(part.text)]) if message.role in _QUIET else fenced(part.text)
        elif part.kind == "thinking":
            text = harmless_markdown(part.text, below=_PROMPT_LEVEL + 1) if part.text else "(redacted by the API)"
            yield _details("Thinking", [text])
        elif part.call is not None:
            yield self._call(part, depth)
        elif part.kind == "orphan":
            yield _details("Result without a call", [fenced(part.text)])
        elif part.media is not None:
            yield self._media(part.media)
        elif part.kind == "unknown":
            yield _details(f"Unknown block: {part.text}", [fenced(_json(part.value), "json")])
        elif part.kind == "long":
            yield f"> A line of {size(part.value)} is too long to be shown here."
        else:
            yield f"*{harmless_line(part.text)}*"

    def _call(self, part: Part, depth: int) -> str:
        call = part.call
        assert call is not None
        marks = [seconds(call.seconds), "error" if call.is_error else "", "no result" if call.result is None else ""]
        head = f"<b>{harmless_html(call.name, 80)}</b> <code>{harmless_html(argument_line(call.arguments))}</code>"
        head += "".join(f" · {mark}" for mark in marks if mark)
        body = [*_asked(call)]
        for subagent in self._document.subagents_of(part) if self._document is not None else ():
            if subagent.subagent_id not in self._written_subagents:
                body += self._subagent(subagent, depth + 1)
        body += _answered(call)
        body += [self._media(media) for media in call.media]
        return _details(head, body, is_html=True)

    def _subagent(self, subagent: Subagent, depth: int) -> Iterator[str]:
        """Write a subagent's conversation, folded; its speakers are in bold, so that the outline stays that of the session."""
        document = self._document
        assert document is not None
        self._written_subagents.add(subagent.subagent_id)
        name = " · ".join(filter(None, (f"Subagent {subagent.subagent_id}", subagent.kind, subagent.description)))
        if depth > DEEPEST_SUBAGENT:
            document.leave_out(f"subagent {subagent.subagent_id}: nested too deep")
            yield f"> {harmless_line(name)}: nested too deep to be shown here."
            return
        yield _details(name, list(self._talk(document.subagent_messages(subagent), depth)))

    def _branch(self, branch: Branch) -> Iterator[str]:
        document = self._document
        assert document is not None
        words = f"Branch {branch.number} · {branch.status} · {plural(branch.messages, 'message')}"
        yield _details(words, list(self._talk(document.branch_messages(branch), 1)))

    def _talk(self, messages: Iterable[ShownMessage], depth: int) -> Iterator[str]:
        document = self._document
        assert document is not None
        for message in messages:
            if message.role == DAMAGED:
                yield f"> **Damaged line.** {harmless_line(message.parts[0].text)}"
                continue
            body = [block for part in message.parts for block in self.part(part, message, depth)]
            if body and not message.follows:
                moment = document.moment(message.seconds)
                yield f"**{harmless_line(message.speaker)}**{f' {moment}' if moment else ''}"
            yield from body

    def _media(self, media: Media) -> str:
        words = f"{media.kind} {media.media_type or 'of unknown type'}, {size(media.bytes)}"
        document = self._document
        wanted = document.options.pictures or "files" if document is not None else "none"
        ending = ENDINGS.get(media.media_type)
        reason = "" if ending else ", not a picture"
        if document is not None and wanted != "none" and ending is not None:
            data = document.media_bytes(media)
            if data and wanted == "inline":
                return f"![{media.kind}](data:{media.media_type};base64,{base64.b64encode(data).decode()})"
            if data and self._out is not None and self._out.may_be_several:
                name = f"{self._out.stem}.files/{hashlib.sha256(data).hexdigest()[:16]}.{ending}"
                if name not in self._written_pictures:
                    self._written_pictures.add(name)
                    self._out.write(name, [data])
                return f"![{media.kind}](<{quote(name)}>)"
            reason = "" if data else ", its bytes cannot be read"
        if document is not None:
            document.leave_out(f"{words}{reason}")
        return f"*\\[{harmless_line(words)}: left out{reason}\\]*"


def _head(document: Document) -> Iterator[str]:
    """Write title and facts, and what a reader must know first: what was redacted and left out."""
    options, title = document.options, harmless_line(document.title, 200)
    facts: dict[str, Any] = {
        "session": document.id,
        "project": document.project,
        "started": to_iso(document.started),
        "ended": to_iso(document.ended),
        "model": document.models[0] if document.models else None,
        "messages": document.count,
    }
    if options.costs or options.front_matter:
        totals = document.totals
        facts["cost"] = (
            f"{'≥' if totals.lower_bounds else ''}{exact_dollars(totals.cost or 0)}{'+?' if totals.unpriced else ''}"
        )
    if options.stamp is not None:
        facts["exported_at"] = to_iso(options.stamp.timestamp())
    if options.front_matter:
        tags = ["claude-code", *([document.session.summary.tag] if document.session.summary.tag else [])]
        facts = {"title": document.title, **facts, "tags": tags}
        lines = [f"{key}: {_yaml(value)}" for key, value in facts.items() if value is not None]
        yield "\n".join(["---", *lines, "---"])
        yield f"# {title}"
    else:
        yield f"# {title}"
        shown = facts | {"started": document.moment(document.started), "ended": document.moment(document.ended)}
        zone = document.options.timezone
        shown["times"] = zone if shown["started"] else None
        rows = [f"| {key} | {_cell(value)} |" for key, value in shown.items() if value not in (None, "")]
        yield "\n".join(["| | |", "|---|---|", *rows])
    if document.redaction is not None:
        yield f"> **Redacted.** {harmless_line(document.redaction.words())}"
    if document.left_out:
        yield f"> **Left out.** {harmless_line('; '.join(document.left_out))}."


def _yaml(value: Any) -> str:
    """Write a value for front matter: harmless also where the whole file is pasted, front matter and all, as text."""
    text = inert(json.dumps(value, ensure_ascii=False)) if not isinstance(value, int) else str(value)
    return re.sub("[^ -;=-~]", lambda match: json.dumps(match.group())[1:-1].replace("<", "\\u003c"), text)


def _cell(value: Any) -> str:
    return code(value).replace("|", "\\|") if isinstance(value, str) else str(value)


def _seam(seam: Seam) -> str:
    tokens = f", {seam.tokens_before:,} tokens before" if seam.tokens_before is not None else ""
    trigger = f" ({harmless_line(seam.trigger)}{tokens})" if seam.trigger else ""
    return f"* * *\n\n*The conversation was compacted here{trigger}.*"


def _asked(call: ShownCall) -> Iterator[str]:
    """Write what a tool was asked to do: a command, a diff, or its arguments."""
    arguments = call.arguments
    if call.diff:
        yield f"{code(call.path)}"
        yield fenced("\n".join(line.text for line in call.diff), "diff")
        if any(
            line.kind == "cut" for line in call.diff
        ):  # the diff is a reading aid: nothing of the call may be missing
            yield fenced(_json(arguments), "json")
    elif isinstance(arguments, dict) and isinstance(arguments.get("command"), str):
        yield fenced(arguments["command"], "bash")
        rest = {key: value for key, value in arguments.items() if key != "command"}
        if rest:
            yield fenced(_json(rest), "json")
    elif arguments not in (None, {}):
        yield fenced(_json(arguments), "json")


def _answered(call: ShownCall) -> Iterator[str]:
    if call.result is None:
        yield "*No result stands in the transcript.*"
    elif call.result_is_long:
        yield "*The line of the result is too long to be shown here.*"
    elif call.result:
        yield fenced(call.result)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _details(head: str, body: list[str], *, is_html: bool = False) -> str:
    """Write a fold. Blank lines around the body let Markdown be read in it."""
    head = head if is_html else harmless_html(head, 300)
    return "\n\n".join([f"<details><summary>{head}</summary>", *(block for block in body if block), "</details>"])
