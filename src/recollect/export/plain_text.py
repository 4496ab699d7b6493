"""Export a session as plain text, as `recollect show` prints it: 100 columns, no escapes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from .conversation import ShownMessage
from .conversation_text import ConversationText, Heading
from .document import Document, ExportOptions
from .formats import Output
from .formatting import plural
from .money import message_tokens
from .terminal_text import safe

COLUMNS: Final = 100
_LONG: Final = 10_000
"""A longer line is cut into pieces of equal length: looking for words in it would take too long."""
_TOOLS: Final = {"prompts": "none", "conversation": "none", "tools": "full", "all": "full"}


def write(documents: Iterable[Document], out: Output, options: ExportOptions) -> None:
    """Write one document as text."""
    for document in documents:
        out.write(out.name, map(wrapped, _pieces(document)))


def _pieces(document: Document) -> Iterator[str]:
    options = document.options
    text = ConversationText(
        document.subagent_messages, tools=_TOOLS[options.depth], thinking=options.depth == "all",
        tokens=_tokens if options.costs else None, moment=document.moment, hints=False,
    )  # fmt: skip
    thread = document.session.conversation.thread
    facts = [
        document.id, document.project or "", document.session.summary.git_branch or "",
        f"{document.moment(document.started)} {options.timezone}".strip(), plural(document.count, "message"),
    ]  # fmt: skip
    if options.stamp is not None:
        facts.append(f"exported {options.stamp.isoformat(timespec='seconds')}")
    yield text.heading(Heading(document.title, facts, thread.reachable_share, len(document.damage)))
    notes = [] if document.redaction is None else [document.redaction.words()]
    notes += [f"Left out: {'; '.join(document.left_out)}."] if document.left_out else []
    yield "".join(f"{safe(note)}\n" for note in notes) + ("\n" if notes else "")
    yield from text.pieces(document.messages(), numbered=True)
    for subagent in document.loose_subagents:
        yield from text.subagent(subagent)
    for branch in document.branches:
        yield f"──── branch {branch.number}, {branch.status} ────\n\n"
        yield from text.pieces(document.branch_messages(branch))


def _tokens(message: ShownMessage) -> str:
    assert message.usage is not None
    return message_tokens(message.model, message.seconds, message.usage, lower_bound=message.lower_bound)


def wrapped(text: str) -> str:
    """Break the lines of a text that are longer than 100 columns; a broken line keeps its indent."""
    if len(text) <= COLUMNS:
        return text
    return "".join(piece for line in text.splitlines(keepends=True) for piece in _broken(line))


def _broken(line: str) -> Iterator[str]:
    body = line.rstrip("\r\n")
    if len(body) <= COLUMNS:
        yield line
        return
    indent = body[: len(body) - len(body.lstrip())][: COLUMNS // 2]
    if len(body) > _LONG:
        yield body[:COLUMNS] + "\n"
        step = COLUMNS - len(indent)
        for place in range(COLUMNS, len(body), step):
            yield indent + body[place : place + step] + "\n"
        return
    lines = textwrap.wrap(
        body, COLUMNS, subsequent_indent=indent, replace_whitespace=False, drop_whitespace=False, expand_tabs=False,
        break_on_hyphens=False,
    )  # fmt: skip
    yield "".join(f"{piece.rstrip()}\n" for piece in lines)
