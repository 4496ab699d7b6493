"""Changes that a page or a script asks for: planned first, carried out when confirmed, and undone on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from ..errors import NotFound, Refused
from ..library.restoring import Wanted, plan_restoring
from ..library.session import Session
from ..store.changes import Change
from ..store.edit import plan_rename, plan_rewind, plan_tag
from ..store.fork import plan_fork
from ..store.home import Home
from ..store.repair.plan import plan_repair
from ..store.trash import plan_delete
from ..vault.vault import Vault
from .desk import Desk


@dataclass
class Planned:
    change: Change
    result: dict[str, Any]
    said: str
    """What is true once it is done."""
    goes_to: str | None = None
    """The session to look at afterwards."""


@dataclass(frozen=True)
class Field:
    name: str
    words: str
    required: bool = False
    hidden: bool = False
    hint: str = ""


@dataclass(frozen=True)
class Action:
    """Something that can be done with a session."""

    name: str
    words: str
    explanation: str
    plan: Callable[[Desk, Session, Mapping[str, str]], Planned]
    fields: tuple[Field, ...] = field(default=())
    destructive: bool = False
    can_force: bool = True


def _force(values: Mapping[str, str]) -> bool:
    return values.get("force", "") in ("1", "true", "on", "yes")


def _rename(desk: Desk, session: Session, values: Mapping[str, str]) -> Planned:
    title = " ".join(values.get("title", "").split())
    change = plan_rename(desk.journal, session.file, title, force=_force(values))
    return Planned(change, {"session_id": session.id, "title": title}, f"It is now called “{title}”.", session.id)


def _tag(desk: Desk, session: Session, values: Mapping[str, str]) -> Planned:
    text = " ".join(values.get("tag", "").split()) or None
    change = plan_tag(desk.journal, session.file, text, force=_force(values))
    said = f"It is tagged “{text}”." if text else "Its tag was taken away."
    return Planned(change, {"session_id": session.id, "tag": text}, said, session.id)


def _fork(desk: Desk, session: Session, values: Mapping[str, str]) -> Planned:
    branch = values.get("branch", "")
    if branch and not (branch.isascii() and branch.isdigit() and len(branch) < 7):
        raise NotFound(f"there is no branch {branch[:40]!r}", slug="no-such-branch")
    if branch and values.get("at"):
        raise Refused("give a message or a branch, not both", slug="bad-fork")
    change, result = plan_fork(
        desk.journal, session.file, at=values.get("at") or None, branch=int(branch) if branch else None,
        title=values.get("title") or None,
    )  # fmt: skip
    told = {
        "session_id": result.session_id, "from": result.source, "at": result.at, "title": result.title,
        "messages": result.messages, "agents": result.agents,
    }  # fmt: skip
    return Planned(change, told, f"The new session is called “{result.title}”.", result.session_id)


def _rewind(desk: Desk, session: Session, values: Mapping[str, str]) -> Planned:
    change, leaf = plan_rewind(desk.journal, session.file, values.get("at", ""), force=_force(values))
    told = {"session_id": session.id, "leaf": leaf, "was": session.thread.leaf}
    return Planned(change, told, "The session goes on from there at the next resume.", session.id)


def _delete(desk: Desk, session: Session, values: Mapping[str, str]) -> Planned:
    change, result = plan_delete(desk.journal, session.home, [session.file])
    return Planned(change, result.as_dict(), "The session is in the trash.", None)


def _repair(desk: Desk, session: Session, values: Mapping[str, str]) -> Planned:
    change, result = plan_repair(desk.journal, session.file)
    if not result.changes_something:
        with change:
            raise Refused("there is nothing to repair in this session", slug="nothing-to-repair")
    told = {
        "session_id": session.id, "before": result.before.share, "after": result.after.share,
        "messages_before": result.before.sent, "messages_after": result.after.sent,
        "fixes": [f"{item.words} ({item.places})" for item in result.fixes], "refused": result.refused,
        "fragments": result.fragments,
    }  # fmt: skip
    said = f"In reach of a resume: {result.before.share:.0%} before, {result.after.share:.0%} now."
    return Planned(change, told, said, session.id)


def _restore(desk: Desk, session: Session, values: Mapping[str, str]) -> Planned:
    home = session.home.kept_from or session.home.root
    wanted = Wanted(sessions=[session.id], homes=[str(home)])
    change, result = plan_restoring(Vault(desk.own_folders("data") / "vault"), desk.journal, wanted)
    return Planned(change, {"session_id": session.id, **asdict(result)}, "The session is back in its home.", session.id)


_AT = Field("at", "Message", hidden=True)
ACTIONS: Final = {
    action.name: action
    for action in (
        Action(
            "rename", "Rename", "The client shows the title too. The file keeps its time.", _rename,
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
            "repair", "Repair", "The fewest changes after which the client resumes it with everything that is readable. No valid "
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


def refuse_if_read_only(desk: Desk) -> None:
    if desk.read_only:
        raise Refused(
            "this server only shows: it was started with --read-only", slug="read-only",
            hint="start `recollect serve` without --read-only to change things",
        )  # fmt: skip


def describe(desk: Desk, session: Session, action: Action, values: Mapping[str, str]) -> dict[str, Any]:
    """The plan; nothing is changed."""
    refuse_if_read_only(desk)
    planned = action.plan(desk, session, values)
    with planned.change as change:
        return {"title": change.title, "steps": change.describe(), "result": planned.result}


def carry_out(desk: Desk, session: Session, action: Action, values: Mapping[str, str]) -> dict[str, Any]:
    refuse_if_read_only(desk)
    planned = action.plan(desk, session, values)
    with planned.change as change:
        steps = change.describe()
        record = change.commit()
    desk.after_change()
    return {
        "title": change.title, "steps": steps, "result": planned.result, "change": record.number, "said": planned.said,
        "goes_to": planned.goes_to,
    }  # fmt: skip


def undo(desk: Desk, number: int) -> dict[str, Any]:
    refuse_if_read_only(desk)
    record = desk.journal.record(number, desk.library.homes)
    desk.journal.undo(record, Home(Path(record.home)))
    desk.after_change()
    return {"number": record.number, "title": record.title, "undone": True}


def changes(desk: Desk, limit: int) -> tuple[list[dict[str, Any]], int]:
    """What Recollect changed in the homes that are open here, newest first."""
    records = desk.journal.records(desk.library.homes)
    rows = [
        {
            "number": record.number, "name": record.name, "title": record.title, "state": record.state,
            "time": record.time, "steps": [action.describe() for action in record.actions],
        }
        for record in records[:limit]
    ]  # fmt: skip
    return rows, len(records)
