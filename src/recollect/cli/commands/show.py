"""`recollect show`: a conversation, readable.

JSON: session_id, title, project, branch, total, from, limit, and rows: messages of {number, uuid, uuids, parent, role, time,
model, status, text, blocks, lines, usage}, with --tokens also cost_micro_usd, lower_bound (its output is a placeholder) and odd
(a count is missing and taken as 0). With --redact also redaction: {profile, values, kinds, left_out, words}. Roles:
user, assistant, tool (results), meta (sent by Claude Code, not typed), summary (of a compaction), system, attachment, error.
`blocks` are {type, ...} as in the transcript: text, thinking, tool_use, tool_result, image, ...
"""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import click

from ...export.conversation import ShownMessage
from ...export.conversation_text import ConversationText, Heading
from ...export.formatting import local_minute, one_line, plural
from ...export.money import message_tokens
from ...library.reading import MessageView, Reading
from ...library.shapes import message_shape, plain
from ..command_run import CommandRun, command, session_argument
from ..redaction import RedactingCommand, redact_option, redacted


@command(
    "show",
    epilog="recollect show last\nrecollect show 3f2a --tools full --thinking\nrecollect show 3f2a --branch 1\n"
    "recollect show 3f2a --all --from 100 --limit 50 --json\nrecollect show 3f2a --line 120\nrecollect show last --redact",
    cls=RedactingCommand,
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
@redact_option
def show(
    run: CommandRun,
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
    redact: str | None,
    same_length: bool,
) -> None:
    """A conversation in the terminal: prompts, answers, tool calls folded, subagents nested."""
    with redacted(run, run.library.session(session), redact, same_length=same_length) as (found, redaction), found:
        view = "all" if everything else "conversation" if history else "resumed"
        reading = found.read(view, branch=branch, subagent=subagent)
        if line is not None:
            at = reading.number_at_line(line)
            if at is None and not (everything or branch or subagent):  # not in the active conversation
                every_row = found.read("all")
                at = every_row.number_at_line(line)
                reading = reading if at is None else every_row
            # A line that is not part of any message (a title): what comes after it.
            start = 1 + (reading.number_from_line(line) if at is None else at)
        if run.is_text:
            options: dict[str, Any] = {"tools": tools, "thinking": thinking, "tokens": _tokens if tokens else None}
            notes = [] if redaction is None else [run.style(redaction.in_words() + "\n", dim=True)]
            show_paged(run, itertools.chain(notes, _text(run, reading, start - 1, limit, options)))
        else:
            page: dict[str, Any] = {"from": start}
            if redaction is not None:
                page["redaction"] = redaction.as_dict()
            run.rows(
                (message_row(view, number, tokens=tokens) for number, view in enumerate(reading.views(start - 1, limit), start)),
                session_id=found.id,
                title=one_line(found.title),
                project=found.project,
                branch=branch or 0,
                total=len(reading.messages),
                limit=limit,
                **page,
            )  # fmt: skip
    if not reading.rows:
        raise click.exceptions.Exit(1)


def _text(run: CommandRun, reading: Reading, offset: int, limit: int | None, options: dict[str, Any]) -> Iterator[str]:
    """Yield the conversation piece by piece: its heading, its messages, and how many are left."""
    reader = reading.reader()
    text = ConversationText(reader.talk, run.style, **options)
    yield text.heading(_heading(reading))
    numbered = reading.rows is reading.session.thread.chain
    yield from text.pieces(reading.shown(reader, offset, limit), numbered=numbered)
    left = 0 if limit is None else len(reading.messages) - offset - limit
    if limit is not None and left > 0:
        yield run.style(f"… {left} more messages (--from {offset + limit + 1})\n", dim=True)


def _heading(reading: Reading) -> Heading:
    session = reading.session
    summary, thread = session.summary, session.thread
    before = {row.index for row in thread.summarised}
    shows_them = any(row.index in before and row.file == 0 for row in reading.rows)
    facts = [
        session.id, summary.project or "", summary.git_branch or "", local_minute(summary.created),
        plural(len(reading.messages), "message"),
    ]  # fmt: skip
    return Heading(
        summary.title, facts, thread.reachable_share, len(session.damage), len(session.conversation.branches),
        0 if shows_them else len(before),
    )  # fmt: skip


def _tokens(message: ShownMessage) -> str:
    assert message.usage is not None
    return message_tokens(message.model, message.seconds, message.usage, lower_bound=message.lower_bound)


def message_row(view: MessageView, number: int, *, tokens: bool = False) -> dict[str, Any]:
    """Return a message as a row; with `tokens`, including its cost."""
    row = plain(message_shape(view, number))
    if tokens:
        from ...library.usage import message_cost

        row["cost_micro_usd"] = message_cost(view.model, view.seconds, view.usage)
        row["lower_bound"] = view.lower_bound
        row["odd"] = view.usage is not None and view.usage.is_odd
    return row


# Show long text through a pager, by the rules of git.
# RECOLLECT_PAGER, else PAGER, else `less`; empty or `cat` means none. LESS=FRX and LV=-c are set if they are unset. A
# LESS that is set stays as it is, and text goes to `less` with colours only if that passes them on (`-R`).

_DEFAULTS = {"LESS": "FRX", "LV": "-c"}
#: Options of less that take the rest of the word as their value.
_WITH_VALUE = frozenset('bDhjkoOpPtTxyz#"')
_SHELL = frozenset("|&;<>()$`\\\"'*?[#~=%{}!\n")


def show_paged(run: CommandRun, pieces: Iterator[str]) -> None:
    """Print the pieces, through a pager if stdout is a terminal. Colours are decided before the first piece is made."""
    command = pager_command() if sys.stdout.isatty() else None
    if command is None:
        for piece in pieces:
            click.echo(piece, nl=False, color=run.colored)
        return
    environment = {**_DEFAULTS, **os.environ}
    run.color = run.colored and passes_colors(command, environment["LESS"])
    start = ["/bin/sh", "-c", command] if os.name == "posix" else shlex.split(command, posix=False)
    with subprocess.Popen(start, stdin=subprocess.PIPE, env=environment) as pager:
        assert pager.stdin is not None
        try:
            for piece in pieces:
                pager.stdin.write(piece.encode(sys.stdout.encoding, "replace"))
            pager.stdin.close()
        except (BrokenPipeError, KeyboardInterrupt):  # the reader has seen enough
            pass
        while True:
            try:
                pager.wait()
                return
            except KeyboardInterrupt:  # meant for the pager, which continues or ends by itself
                continue


def pager_command() -> str | None:
    """Return the pager to use; None for none."""
    named = os.environ.get("RECOLLECT_PAGER", os.environ.get("PAGER"))
    if named is None:
        if os.environ.get("TERM", "dumb") == "dumb":
            return None
        return next((name for name in ("less", "more") if shutil.which(name)), None)
    if named.strip() in ("", "cat"):
        return None
    if not _SHELL & set(named) and shutil.which(named.split()[0]) is None:
        click.echo(f"the pager {named.split()[0]} was not found", err=True)
        return None
    return named.strip()


def passes_colors(command: str, less: str) -> bool:
    """Return whether a pager shows colours instead of their bytes. Pagers other than less are trusted, as by git."""
    try:
        program, *options = shlex.split(command)
    except ValueError:
        return True
    if os.path.basename(program).removesuffix(".exe") not in ("less", "more"):
        return True
    if (
        os.path.basename(program) == "more"
        and os.path.basename(os.path.realpath(shutil.which(program) or "")) != "less"
    ):
        return True
    passes = False
    for word in [*less.split(), *options]:
        if word.startswith("--"):
            name = word[2:].partition("=")[0].lower()
            passes |= len(name) > 2 and "raw-control-chars".startswith(name)
            continue
        off = word.startswith("-+")
        for letter in word.lstrip("-+"):
            if letter in _WITH_VALUE:
                break
            if letter in "rR":
                passes = not off
    return passes
