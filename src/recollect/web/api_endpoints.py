"""Answer the requests of the JSON interface (`/api/v1`), and describe its endpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, structs

from ..export.formatting import iso
from ..library.reading import LONGEST_LINE, line_of
from ..library.service import Service
from ..library.session import Session
from ..library.shapes import (
    change_shape,
    message_shape,
    plain,
    session_shape,
)
from .api_description import (
    BRANCH,
    CALL,
    CHANGE,
    DAMAGE,
    FILE,
    FLAG,
    MESSAGE,
    PLAN,
    SESSION,
    SESSION_WITH_FACTS,
    SUBAGENT,
    TASK,
    TIME,
    Endpoint,
    Parameter,
    integer,
    listed,
    nullable,
    record,
    rows_of,
    text,
)
from .api_questions import endpoints
from .changing import ACTIONS, Action, action_of, carry_out, describe, undo
from .context_window import context_of
from .reading import VIEWS, PageView, read
from .session_choice import SORTS, STATUSES, Chooser, asked_of, choose

Values = Mapping[str, Any]
LIMIT = Parameter("limit", "At most so many rows.", integer(0, 1000))
OFFSET = Parameter("offset", "Leave so many rows out.", integer(0, 10_000_000))
ID = Parameter(
    "id", "The session's id, the start of it, its title, or `last`.", text(minLength=1, maxLength=200), "path"
)


def _some(rows: list[Any], values: Values) -> list[Any]:
    start = values.get("offset", 0)
    return rows[start : start + values.get("limit", 100)]


def sessions(service: Service, values: Values) -> Any:
    chooser = Chooser(service)
    found = choose(service.sessions(), chooser, asked_of({key: str(value) for key, value in values.items()}))
    rows = [plain(session_shape(item, running=item.session_id in chooser.running)) for item in _some(found, values)]
    return {"rows": rows, "total": len(found), "bytes": sum(item.file.size for item in found)}


def projects(service: Service, values: Values) -> Any:
    counted: dict[str | None, list[int]] = {}
    for item in service.sessions():
        entry = counted.setdefault(item.worktree_of or item.project, [0, 0])
        entry[0] += 1
        entry[1] += item.file.size
    rows = [{"project": path, "sessions": count, "bytes": size} for path, (count, size) in counted.items()]
    return {"rows": _some(rows, values), "total": len(rows)}


def one(view: Callable[[Service, Session, Values], Any]) -> Callable[[Service, Values], Any]:
    """Make a handler from a view of one session. No other thread reads the session meanwhile."""

    def handle(service: Service, values: Values) -> Any:
        session = service.session(values["id"])
        with service.reading(session):
            return view(service, session, values)

    return handle


def _session(service: Service, session: Session, _: Values) -> Any:
    shape = session_shape(session.summary, running=service.is_running(session.id))
    return plain(shape) | plain(session.facts)


def _messages(service: Service, session: Session, values: Values) -> Any:
    wanted = PageView(values.get("view", "conversation"), values.get("branch"), values.get("subagent"))
    reading = read(service, session, wanted)
    start = values.get("offset", 0)
    rows = [
        plain(message_shape(view, number))
        for number, view in enumerate(reading.views(start, values.get("limit", 100), longest=LONGEST_LINE), start + 1)
    ]
    return {"rows": rows, "total": len(reading.messages)}


def _line(service: Service, session: Session, values: Values) -> Any:
    subagent = values.get("subagent")
    file = 0 if subagent is None else session.file.subagents.index(session.subagent_file(subagent)) + 1
    line = line_of(session, file, values["line"])
    text = line.data[:LONGEST_LINE].decode("utf-8", "replace")
    return {
        "line": line.number, "offset": line.offset, "bytes": line.length, "cut": line.length > LONGEST_LINE, "text": text,
    }  # fmt: skip


def _rows_view(rows: Callable[[Session], list[Any]]) -> Callable[[Service, Values], Any]:
    def view(_: Service, session: Session, values: Values) -> Any:
        found = rows(session)
        return {"rows": [_as_data(item) for item in _some(found, values)], "total": len(found)}

    return one(view)


def _as_data(item: Any) -> Any:
    return plain(item) if isinstance(item, Struct) else item


def _calls(service: Service, session: Session, values: Values) -> Any:
    start, calls = values.get("offset", 0), session.tools
    rows = [plain(call) for call in calls[start : start + values.get("limit", 100)]]
    return {"rows": rows, "total": len(calls)}


def _damage(session: Session) -> list[Any]:
    return [structs.asdict(item) for item in session.damage]


def _branches(session: Session) -> list[Any]:
    return [*session.branches]


def _subagents(session: Session) -> list[Any]:
    return [*session.subagents]


def _files(session: Session) -> list[Any]:
    return [*session.files().rows]


def _tasks(session: Session) -> list[Any]:
    return [*session.todos]


def _context(service: Service, session: Session, values: Values) -> Any:
    answers = context_of(service, session)
    rows = [
        {
            "number": item.number, "uuid": item.uuid, "time": iso(item.time), "model": item.model,
            "context": item.context, "output": item.usage.output_tokens, "cache_read": item.usage.cache_read,
            "cost_micro_usd": item.cost,
        }
        for item in answers[-10_000:]
    ]  # fmt: skip
    return {"rows": rows, "total": len(answers)}


def _journal(service: Service, values: Values) -> Any:
    start, limit = values.get("offset", 0), values.get("limit", 100)
    records = service.library.changes.records()
    return {"rows": [plain(change_shape(record)) for record in records[start : start + limit]], "total": len(records)}


def _change(action: Action) -> Callable[[Service, Values], Any]:
    def handle(service: Service, values: Values) -> Any:
        session = service.session(values["id"])
        body = values["body"]
        words = {name: ("1" if item is True else "" if item is False else str(item)) for name, item in body.items()}
        if body.get("dry_run"):
            return describe(service, session, action, words) | {"change": None, "dry_run": True}
        return carry_out(service, session, action, words) | {"dry_run": False}

    return handle


def _undo(service: Service, values: Values) -> Any:
    return undo(service, values["number"])


def _body(action: Action) -> dict[str, Any]:
    properties: dict[str, Any] = {"dry_run": {"type": "boolean"}}
    if action.can_force:
        properties["force"] = {"type": "boolean"}
    for field in action.fields:
        properties[field.name] = text(maxLength=2000, minLength=1 if field.required else 0)
    if "branch" in properties:
        properties["branch"] = integer(1, 999_999)
    required = [field.name for field in action.fields if field.required]
    return record(properties) | {"required": required}


_LIST = (LIMIT, OFFSET)
_ONE = (ID, LIMIT, OFFSET)
_CONTEXT = record(
    {
        "number": integer(1), "uuid": nullable("string"), "time": TIME, "model": nullable("string"), "context": integer(),
        "output": integer(), "cache_read": integer(), "cost_micro_usd": nullable("integer"),
    }
)  # fmt: skip
_LINE = record(
    {"line": integer(1), "offset": integer(), "bytes": integer(), "cut": {"type": "boolean"}, "text": text()}
)
_PROJECT = record({"project": nullable("string"), "sessions": integer(), "bytes": integer()})

ENDPOINTS: list[Endpoint] = [
    Endpoint(
        "/sessions", "Sessions, newest first", rows_of(SESSION, total=integer(), bytes=integer()), sessions,
        (
            Parameter("q", "Words in title, first prompt, project or id.", text(maxLength=500)),
            Parameter("project", "A project's path.", text(maxLength=500)),
            Parameter("branch", "A git branch.", text(maxLength=500)),
            Parameter("tag", "A tag.", text(maxLength=500)),
            Parameter("model", "A model that answered in it.", text(maxLength=500)),
            Parameter("status", "A state.", text(enum=list(STATUSES))),
            Parameter("date", "When it was last changed.", text(enum=["today", "week", "month", "older"])),
            Parameter("day", "A day on which it began or was last active: 2026-03-02.", text(maxLength=10)),
            Parameter("sort", "The order.", text(enum=[name for name, _ in SORTS])),
            *_LIST,
        ),
    ),
    Endpoint("/projects", "Projects with their sessions counted", rows_of(_PROJECT), projects, _LIST),
    Endpoint(
        "/sessions/{id}", "One session", SESSION_WITH_FACTS, one(_session), (ID,),
        errors=(404,),
    ),
    Endpoint(
        "/sessions/{id}/messages", "Its messages", rows_of(MESSAGE), one(_messages),
        (
            *_ONE, Parameter("view", "How to read it.", text(enum=list(VIEWS))),
            Parameter("branch", "A branch by its number.", integer(1, 999_999)),
            Parameter("subagent", "A subagent's id.", text(minLength=1, maxLength=200)),
        ),
        errors=(404,),
    ),
    Endpoint(
        "/sessions/{id}/lines/{line}", "A line as it is in the file", _LINE, one(_line),
        (
            ID, Parameter("line", "Its number, from 1.", integer(1, 1_000_000_000), "path"),
            Parameter("subagent", "In a subagent's file.", text(minLength=1, maxLength=200)),
        ),
        errors=(404,),
    ),
    Endpoint("/sessions/{id}/branches", "Its branches", rows_of(BRANCH), _rows_view(_branches), _ONE, errors=(404,)),
    Endpoint("/sessions/{id}/subagents", "Its subagents", rows_of(SUBAGENT), _rows_view(_subagents), _ONE, errors=(404,)),
    Endpoint("/sessions/{id}/tools", "Its tool calls", rows_of(CALL), one(_calls), _ONE, errors=(404,)),
    Endpoint("/sessions/{id}/files", "The files it touched", rows_of(FILE), _rows_view(_files), _ONE, errors=(404,)),
    Endpoint("/sessions/{id}/tasks", "Its tasks", rows_of(TASK), _rows_view(_tasks), _ONE, errors=(404,)),
    Endpoint("/sessions/{id}/damage", "What is wrong in its file", rows_of(DAMAGE), _rows_view(_damage), _ONE, errors=(404,)),
    Endpoint(
        "/sessions/{id}/context", "How full the context window was at each answer", rows_of(_CONTEXT), one(_context),
        (ID,), errors=(404,),
    ),
    *endpoints(ID, LIMIT, OFFSET),
    Endpoint("/changes", "What Recollect changed, newest first", rows_of(CHANGE), _journal, _LIST),
    *(
        Endpoint(
            f"/sessions/{{id}}/{action.name}", f"{action.words} a session", PLAN, _change(action_of(action.name)), (ID,),
            "POST", _body(action), "With `dry_run` the plan alone. " + action.explanation, (403, 404, 409, 415, 422),
        )
        for action in ACTIONS.values()
    ),
    Endpoint(
        "/changes/{number}/undo", "Take a change back",
        record(
            {"number": integer(1), "title": text(), "home": text(), "undone": FLAG, "dry_run": FLAG, "steps": listed(text())}
        ), _undo,
        (Parameter("number", "The change's number.", integer(1, 1_000_000_000), "path"),), "POST",
        errors=(403, 404, 409, 422),
    ),
]  # fmt: skip
