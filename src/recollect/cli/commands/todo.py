"""`recollect todo`: change the to-do list or the tasks of a session (`recollect todos` shows them).

JSON: {session_id, kind (todos or tasks), id, status, warnings, change, dry_run, steps}.
"""

from __future__ import annotations

from typing import Any

import click

from ...errors import NotFound
from ...format.versions import parse_version
from ...library.session import Session
from ...store.changes import Change
from ...store.side_files import todo_lists
from ...store.todo_changes import (
    STATES,
    TASKS_SINCE,
    plan_add_task,
    plan_remove_task,
    plan_save_todos,
    plan_set_task,
    read_todos,
)
from ..changing import carry_out, changing_options, session_to_change
from ..face import Face, command, session_argument


@command(
    "todo",
    epilog='recollect todo last add "Write the tests"\nrecollect todo last set 2 completed\nrecollect todo 3f2a remove 1',
)
@session_argument
@click.argument("action", type=click.Choice(["add", "set", "remove"]))
@click.argument("what")
@click.argument("status", required=False, type=click.Choice(STATES))
@click.option("--agent", metavar="ID", help="The list of a sub-agent (to-do lists only).")
@click.option(
    "--kind", type=click.Choice(["todos", "tasks"]), help="Which of the two; by default what the session's client uses."
)
@changing_options("Write even if the session is in use.")
def todo(
    face: Face,
    session: str,
    action: str,
    what: str,
    status: str | None,
    agent: str | None,
    kind: str | None,
    dry_run: bool,
    yes: bool,
    force: bool,
) -> None:
    """Add an item (WHAT is its text), set the state of item number WHAT (see `recollect todos`), or remove it."""
    if (action == "set") != (status is not None):
        raise click.UsageError("`set` needs a STATUS, the others none")
    if agent is not None and kind == "tasks":
        raise click.UsageError("--agent is for to-do lists; the tasks of a session belong to all of its agents")
    found = session_to_change(face, session)
    if agent is not None:
        _refuse_unknown_agent(found, agent)
    version = parse_version(found.summary.version)
    chosen = kind or ("tasks" if (version or TASKS_SINCE) >= TASKS_SINCE and agent is None else "todos")
    plan = _tasks if chosen == "tasks" else _todos
    change, ident, warnings = plan(face, found, action, what, status, agent, force)
    for warning in warnings:
        face.say(f"warning: {warning}")
    with change:
        result: dict[str, Any] = {
            "session_id": found.id, "kind": chosen, "id": ident, "status": status, "warnings": warnings,
        }  # fmt: skip
        carry_out(face, change, result, dry_run=dry_run, yes=yes, said=f"{change.title}: done")


def _tasks(
    face: Face, found: Session, action: str, what: str, status: str | None, _: str | None, force: bool
) -> tuple[Change, str, list[str]]:
    if action == "add":
        change, ident = plan_add_task(face.journal, found.home, found.id, what, force=force)
        return change, ident, []
    if action == "set":
        change, warnings = plan_set_task(face.journal, found.home, found.id, what, status or "", force=force)
    else:
        change, warnings = plan_remove_task(face.journal, found.home, found.id, what, force=force)
    return change, what, warnings


def _refuse_unknown_agent(found: Session, agent: str) -> None:
    """A list for an agent that is not there is one that nobody would ever see."""
    known = [item.agent_id for item in found.conversation.agents if item.agent_id is not None]
    lists = [item.agent_id for item in todo_lists(found.home, found.id) if item.agent_id is not None]
    if agent not in (found.id, *known, *lists):
        raise NotFound(
            f"session {found.id} has no agent {agent}", slug="no-such-agent", nearest=tuple(dict.fromkeys(known)),
            hint="`recollect agents SESSION` lists them",
        )  # fmt: skip


def _todos(
    face: Face, found: Session, action: str, what: str, status: str | None, agent: str | None, force: bool
) -> tuple[Change, str, list[str]]:
    version = found.summary.version
    items = read_todos(found.home, found.id, agent, version)
    if action == "add":
        items.append({"content": what, "status": "pending", "activeForm": what})
        ident = str(len(items))
    else:
        place = int(what) - 1 if what.isascii() and what.isdigit() and len(what) <= 18 else -1
        if not 0 <= place < len(items):
            raise NotFound(f"the list has no item {what[:40]}", hint=f"it has {len(items)}", slug="no-such-task")
        ident = what
        if action == "set":
            items[place] = {**items[place], "status": status}
        else:
            del items[place]
    change, warnings = plan_save_todos(
        face.journal, found.home, found.id, items, agent_id=agent, version=version, force=force
    )
    return change, ident, warnings
