"""`recollect show`: a conversation, readable.

JSON: session_id, title, project, branch, total, from, limit, and rows: messages of {number, uuid, uuids, parent, role, time,
model, status, text, blocks, lines, usage}, with --tokens also cost_micro_usd, lower_bound (its output is a placeholder) and odd
(a count is missing and taken as 0). Roles:
user, assistant, tool (results), meta (sent by the client, not typed), summary (of a compaction), system, attachment, error.
`blocks` are {type, ...} as in the transcript: text, thinking, tool_use, tool_result, image, ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ...export.formatting import one_line
from ...graph.messages import Message
from ...library.session import MessageView
from ...library.shapes import message_shape, plain
from ..conversation_text import ConversationText
from ..face import Face, command, session_argument
from ..pager import show_paged


@command(
    "show",
    epilog="recollect show last\nrecollect show 3f2a --tools full --thinking\nrecollect show 3f2a --branch 1\n"
    "recollect show 3f2a --all --from 100 --limit 50 --json\nrecollect show 3f2a --line 120",
)
@session_argument
@click.option(
    "--all", "everything", is_flag=True, help="Every row of the file in file order, not only the active thread."
)
@click.option("--history", is_flag=True, help="The thread with everything before its compactions.")
@click.option("--branch", type=click.IntRange(min=0), metavar="N", help="A branch, by its number in `recollect tree`.")
@click.option("--subagent", metavar="ID", help="A subagent's conversation.")
@click.option("--thinking", is_flag=True, help="Show thoughts too.")
@click.option("--tokens", is_flag=True, help="Tokens and cost of every answer.")
@click.option(
    "--tools",
    type=click.Choice(["full", "short", "none"]),
    default="short",
    show_default=True,
    help="Calls with all of input and result, in a line each, or not at all.",
)
@click.option("--from", "start", type=click.IntRange(min=1), default=1, metavar="N", help="Begin with the Nth message.")
@click.option(
    "--line",
    type=click.IntRange(min=1),
    metavar="L",
    help="Begin with the message on line L of the file (with --subagent: of the subagent's), as `recollect search` names it.",
)
@click.option("--limit", type=click.IntRange(min=0), metavar="M", help="At most M messages.")
def show(
    face: Face,
    session: str,
    everything: bool,
    history: bool,
    branch: int | None,
    subagent: str | None,
    thinking: bool,
    tokens: bool,
    tools: str,
    start: int,
    line: int | None,
    limit: int | None,
) -> None:
    """A conversation in the terminal: prompts, answers, tool calls folded, subagents nested."""
    found = face.library.session(session)
    if history and not (branch or everything or subagent):
        rows = found.conversation.full_history()
    else:
        rows = found.rows_for(branch, everything=everything, subagent=subagent)
    messages = found.conversation.messages(rows)
    if line is not None:
        at = place_of_line(messages, line)
        if at is None and not (everything or branch or subagent):  # not in the conversation as it stands now
            every_row = found.rows_for(everything=True)
            at = place_of_line(found.conversation.messages(every_row), line)
            if at is not None:
                rows, messages = every_row, found.conversation.messages(every_row)
        if at is None:  # a line that is no part of any message (a title): what comes after it
            later = (number for number, message in enumerate(messages) if message.rows[-1].line >= line)
            at = next(later, max(len(messages) - 1, 0))
        start = at + 1
    total = len(messages)
    if face.is_text:
        text = ConversationText(face, found, tools=tools, thinking=thinking, tokens=tokens)
        pieces = text.pieces(rows, start - 1, limit, total, numbered=rows is found.thread.chain)
        show_paged(face, pieces)
    else:
        page: dict[str, Any] = {"from": start}
        views = found.messages(rows, offset=start - 1, limit=limit)
        face.rows(
            (message_row(view, number, tokens=tokens) for number, view in enumerate(views, start)),
            session_id=found.id,
            title=one_line(found.summary.title),
            project=found.summary.project,
            branch=branch or 0,
            total=total,
            limit=limit,
            **page,
        )
    if not rows:
        raise click.exceptions.Exit(1)


def place_of_line(messages: Sequence[Message], line: int) -> int | None:
    """Which message has a row on that line."""
    return next((at for at, message in enumerate(messages) if any(row.line == line for row in message.rows)), None)


def message_row(view: MessageView, number: int, *, tokens: bool = False) -> dict[str, Any]:
    row = plain(message_shape(view, number))
    if tokens:
        from ...analysis.cost import message_cost
        from ...analysis.prices.book import price_book

        usage = view.usage
        row["cost_micro_usd"] = None if usage is None else message_cost(price_book(), view.model, view.time, usage)
        row["lower_bound"] = view.lower_bound
        row["odd"] = usage is not None and usage.is_odd
    return row
