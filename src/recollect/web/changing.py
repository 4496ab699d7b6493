"""Plan the changes that a page or a script requests, carry them out when confirmed, and undo them on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.requests import Request

from ..errors import NotFound, Refused
from ..library.changes import Changes
from ..library.plan import Plan
from ..library.restoring import RestoreRequest
from ..library.service import Service
from ..library.session import Session


@dataclass(frozen=True)
class Field:
    name: str
    words: str
    required: bool = False
    hidden: bool = False
    hint: str = ""


@dataclass(frozen=True)
class Action:
    """A change that can be made to a session."""

    name: str
    words: str
    explanation: str
    plan: Callable[[Changes, Session, Mapping[str, str]], Plan]
    fields: tuple[Field, ...] = field(default=())
    destructive: bool = False
    can_force: bool = True


def _force(values: Mapping[str, str]) -> bool:
    return values.get("force", "") in ("1", "true", "on", "yes")


def _rename(changes: Changes, session: Session, values: Mapping[str, str]) -> Plan:
    return changes.rename(session, values.get("title", ""), force=_force(values))


def _tag(changes: Changes, session: Session, values: Mapping[str, str]) -> Plan:
    return changes.tag(session, values.get("tag", "").strip() or None, force=_force(values))


def _fork(changes: Changes, session: Session, values: Mapping[str, str]) -> Plan:
    branch = values.get("branch", "")
    if branch and not (branch.isascii() and branch.isdigit() and len(branch) < 7):
        raise NotFound(f"there is no branch {branch[:40]!r}", slug="no-such-branch")
    return changes.fork(
        session, at=values.get("at") or None, branch=int(branch) if branch else None, title=values.get("title") or None
    )


def _rewind(changes: Changes, session: Session, values: Mapping[str, str]) -> Plan:
    return changes.rewind(session, values.get("at", ""), force=_force(values))


def _delete(changes: Changes, session: Session, values: Mapping[str, str]) -> Plan:
    return changes.delete([session])


def _repair(changes: Changes, session: Session, values: Mapping[str, str]) -> Plan:
    plan = changes.repair(session)
    if not plan.steps:
        raise Refused("there is nothing to repair in this session", slug="nothing-to-repair")
    return plan


def _restore(changes: Changes, session: Session, values: Mapping[str, str]) -> Plan:
    home = session.home.kept_from or session.home.root
    return changes.restore(RestoreRequest(sessions=[session.id], homes=[str(home)]))


_AT = Field("at", "Message", hidden=True)
ACTIONS: Final = {
    action.name: action
    for action in (
        Action(
            "rename", "Rename", "Claude Code shows the title too. The file keeps its time.", _rename,
            (Field("title", "Title", required=True),),
        ),
        Action("tag", "Tag", "A session has one tag. Leave it empty to take the tag away.", _tag, (Field("tag", "Tag"),)),
        Action(
            "fork", "Fork", "A new session with the conversation up to here. This one is only read.", _fork,
            (Field("title", "Title of the new session", hint="Without one: the old title and “(fork)”"), _AT,
             Field("branch", "Branch", hidden=True)), can_force=False,
        ),
        Action(
            "rewind", "Rewind", "The session goes on from this message at the next resume. What came after stays as a branch.",
            _rewind, (Field("at", "Message", required=True, hidden=True),),
        ),
        Action(
            "delete", "Delete", "Moves the transcript and everything that belongs to it to the trash; undoing brings it back.",
            _delete, destructive=True, can_force=False,
        ),
        Action(
            "repair", "Repair", "The fewest changes after which Claude Code resumes it with all that is readable. No valid "
            "line is lost, and a copy is kept.", _repair, can_force=False,
        ),
        Action("restore", "Restore", "Brings the session back from the vault, byte for byte.", _restore, can_force=False),
    )
}  # fmt: skip


def action_of(name: str) -> Action:
    found = ACTIONS.get(name)
    if found is None:
        raise NotFound(f"there is no action {name[:40]!r}", slug="no-such-action", nearest=())
    return found


def refuse_if_read_only(service: Service) -> None:
    if service.read_only:
        raise Refused(
            "this server only shows: it was started with --read-only", slug="read-only",
            hint="start `recollect serve` without --read-only to change things",
        )  # fmt: skip


def describe(service: Service, session: Session, action: Action, values: Mapping[str, str]) -> dict[str, Any]:
    """Return the plan; nothing is changed."""
    refuse_if_read_only(service)
    with action.plan(service.library.changes, session, values) as plan:
        return {"title": plan.title, "steps": plan.steps, "result": plan.result}


def carry_out(service: Service, session: Session, action: Action, values: Mapping[str, str]) -> dict[str, Any]:
    """Make the change that a form requested."""
    refuse_if_read_only(service)
    with action.plan(service.library.changes, session, values) as plan:
        done = plan.commit()
    service.after_change()
    return {
        "title": done.title, "steps": done.steps, "result": plan.result, "change": done.number, "said": plan.said,
        "goes_to": None if action.name == "delete" else plan.session_id,
    }  # fmt: skip


def undo(service: Service, number: int) -> dict[str, Any]:
    refuse_if_read_only(service)
    plan = service.library.changes.undo(number)
    done = plan.commit()
    service.after_change()
    return plan.as_dict(done)


# Parse forms as browsers send them. Other kinds of bodies are refused: a page of another site could send those.

MAX_FIELDS = 200


async def read_form(request: Request) -> dict[str, str]:
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Refused("only forms are taken here", slug="wrong-content-type")
    body = await request.body()
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="replace")
    except (ValueError, UnicodeDecodeError) as problem:
        raise Refused("the form cannot be read", slug="wrong-form") from problem
    return {name: value[:100_000] for name, value in pairs}
