"""`recollect watch`: what happens in sessions, as it happens.

JSON lines (`--json` prints the same): every event has {event, session_id, subagent_id, time, path}, and by its kind
session_started {cwd, pid}; message {uuid, role, model, message_id, text, blocks, line, offset}; tool_started {tool_use_id, name,
input, uuid}; tool_finished {tool_use_id, name, duration, is_error, uuid}; subagent_started {subagent_type, description,
tool_use_id, parent_subagent_id, workflow}; compaction {trigger, tokens_before, uuid}; title_changed {title, source};
session_ended {reason, pid}; damage {kind, line, offset, length, detail}; budget {name, spent, limit, unit}. With --everything
also entry {type, uuid, line, offset, entry} for all other entries. Durations are in seconds.
"""

from __future__ import annotations

import json
import select
import sys

import click

from ...export.event_text import EventText
from ...library.watching import TICK, EntryAdded, Watching, event_row
from ..command_run import CommandRun, command, complete_session


@command(
    "watch",
    epilog="recollect watch\nrecollect watch last\nrecollect watch --project myapp\n"
    "recollect watch --jsonl | jq 'select(.event == \"tool_finished\")'",
)
@click.argument("session", required=False, shell_complete=complete_session)
@click.option("--project", metavar="P", help="Only this project: its path, the end of it, or a folder above; any case.")
@click.option("--from-start", is_flag=True, help="First what is in the session already. Needs SESSION.")
@click.option("--thinking", is_flag=True, help="Show thoughts too.")
@click.option(
    "--everything", is_flag=True, help="Also entries that are not messages: state lines, attachments, request logs."
)
@click.option("--polling", is_flag=True, help="Look at the files in turn instead of asking the system for changes.")
def watch(
    run: CommandRun,
    session: str | None,
    project: str | None,
    from_start: bool,
    thinking: bool,
    everything: bool,
    polling: bool,
) -> None:
    """What happens in sessions from now on: prompts, answers, tool calls, subagents. Ends with Ctrl-C."""
    if session is not None and project is not None:
        raise click.UsageError("give SESSION or --project, not both")
    if from_start and session is None:
        raise click.UsageError("--from-start needs SESSION")
    if session is not None:
        events = run.library.watch_session(session, from_start=from_start, polling=polling)
    else:
        run.advise_on_project(project)
        events = run.library.watch(project=project, polling=polling)
    with events:
        _tell_start(run, events, asked=polling)
        text = EventText(run.style, thinking=thinking, one_session=session is not None)
        while True:
            found = events.poll(TICK)
            if not found and _reader_is_gone():
                raise BrokenPipeError
            for event in found:
                if type(event) is EntryAdded and not everything:
                    continue
                if not run.is_text:
                    click.echo(json.dumps(event_row(event), default=str))
                    continue
                for line in text.lines(event):
                    run.print_styled(line)


def _tell_start(run: CommandRun, events: Watching, *, asked: bool) -> None:
    if run.is_text:
        run.say("watching, Ctrl-C ends it")
    if events.polling_reason is not None and not asked:
        run.say(f"looking at the files in turn: {events.polling_reason}")


def _reader_is_gone() -> bool:
    """Return whether nobody reads our output any more (`| head`): a watch may write nothing for hours, and must end then."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    try:
        poll.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):  # not a file at all
        return False
    return any(flags & (select.POLLERR | select.POLLHUP) for _, flags in poll.poll(0))
