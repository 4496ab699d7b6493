"""Read what lies beside the transcripts: typed prompts (`library.history()`), plans of plan mode, to-do lists and tasks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ..errors import NotFound
from ..format.history import HistoryEntry, PastedContent
from ..format.path_text import repository_of
from ..format.todos import Todo, parse_todo
from ..store.home import Home
from ..store.side_files import SessionTasks, SubagentTodos, paste_text, plans, prompt_history, task_lists, todo_lists
from .project_paths import ProjectFilter
from .reading import LONGEST_LINE

if TYPE_CHECKING:
    from ..graph.rows import Row
    from .library import Library
    from .session import Session


# Search the prompts and slash commands that were typed into Claude Code (`library.history()`).


class Paste(Struct):
    """Something pasted into a prompt; `text` is None if Claude Code stored it elsewhere and it is gone."""

    id: str | int | None
    type: str | None
    text: str | None


class TypedPrompt(Struct, kw_only=True):
    """A line of the prompt history. A damaged line has a `problem` and no text."""

    timestamp: datetime | None
    display: str | None
    project: str | None
    session_id: str | None
    pasted: list[Paste]
    home: str
    line: int
    problem: str | None


class TypedPrompts(Struct):
    """Prompts, newest first, and how many there are in all."""

    rows: list[TypedPrompt]
    total: int


def typed_prompts(
    library: Library,
    *,
    grep: str | None = None,
    project: str | None = None,
    session: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
) -> TypedPrompts:
    """Find prompts by a text in them or in a paste (ignoring case), by project, start of a session's id, or time."""
    wanted = None if project is None else ProjectFilter(project)
    found: list[tuple[Home, HistoryEntry]] = []
    for home in library.homes:
        for entry in prompt_history(home):
            if (
                _in_time(entry, since, until)
                and (session is None or (entry.session_id or "").startswith(session))
                and (wanted is None or wanted.fits(entry.project, repository_of(entry.project)))
                and (grep is None or _holds(home, entry, grep.casefold()))
            ):
                found.append((home, entry))
    found.sort(key=lambda pair: (pair[1].timestamp is not None, pair[1].timestamp, pair[1].line), reverse=True)
    return TypedPrompts([_prompt(home, entry) for home, entry in found[:limit]], len(found))


def _in_time(entry: HistoryEntry, since: datetime | None, until: datetime | None) -> bool:
    if since is None and until is None:
        return True
    if entry.timestamp is None:
        return False
    return (since is None or entry.timestamp >= since) and (until is None or entry.timestamp < until)


def _holds(home: Home, entry: HistoryEntry, text: str) -> bool:
    if text in (entry.display or "").casefold():
        return True
    return any(text in (_paste(home, paste) or "").casefold() for paste in entry.pasted)


def _paste(home: Home, paste: PastedContent) -> str | None:
    if paste.content is not None or paste.content_hash is None:
        return paste.content
    return paste_text(home, paste.content_hash)


def _prompt(home: Home, entry: HistoryEntry) -> TypedPrompt:
    return TypedPrompt(
        timestamp=entry.timestamp,
        display=entry.display,
        project=entry.project,
        session_id=entry.session_id,
        pasted=[Paste(paste.id or paste.key, paste.type, _paste(home, paste)) for paste in entry.pasted],
        home=str(home.root),
        line=entry.line,
        problem=entry.problem,
    )


# Read the plans of plan mode (`library.plans()`, `library.plan(slug)`).


class PlanDocument(Struct, kw_only=True):
    """A plan that Claude Code wrote in plan mode."""

    slug: str
    title: str | None
    modified: datetime | None
    bytes: int | None
    path: str
    home: str
    problem: str | None
    text: str


def plan_documents(library: Library) -> list[PlanDocument]:
    """Return the plans of all homes, newest first."""
    found = [
        PlanDocument(
            slug=plan.name, title=plan.document.title, modified=plan.file.modified, bytes=plan.file.size,
            path=str(plan.file.path), home=str(home.root), problem=plan.document.problem, text=plan.document.text,
        )
        for home in library.homes
        for plan in plans(home)
    ]  # fmt: skip
    return sorted(found, key=lambda plan: plan.modified or datetime.min.replace(tzinfo=UTC), reverse=True)


def find_plan(library: Library, slug: str) -> PlanDocument:
    """Return a plan by its slug or the start of one. Raises NotFound with the nearest."""
    found = plan_documents(library)
    matching = [plan for plan in found if plan.slug == slug] or [plan for plan in found if plan.slug.startswith(slug)]
    if len(matching) == 1:
        return matching[0]
    names = tuple(plan.slug for plan in matching or found)[:10]
    if matching:
        raise NotFound(f"{slug!r} is the start of {len(matching)} plans", slug="ambiguous-plan", nearest=names)
    raise NotFound(f"no plan named {slug!r}", slug="no-such-plan", nearest=names, hint="recollect plans lists them")


# To-do lists and task lists: of one session (`session.todos`), or of all (`library.todos()`).

_SHORTEST_START = 4
"""How many characters of a session's id must be given if its transcript is gone."""


class TodoItem(Struct, kw_only=True):
    """An item of a to-do list or a task list; a list that cannot be read is one item with a `problem`."""

    home: str
    session_id: str
    subagent_id: str | None = None
    source: str
    """"todos" (a file of `todos/`), "tasks" (a file of `tasks/`) or "transcript" (the last TodoWrite of the session)."""
    number: int | None = None
    """The number by which `recollect todo SESSION set` names the item; None if no file holds it."""
    id: str | None = None
    status: str | None = None
    content: str | None = None
    active_form: str | None = None
    priority: str | None = None
    owner: str | None = None
    blocked_by: list[str] = []
    modified: datetime | None = None
    path: str | None = None
    problem: str | None = None


def all_todos(library: Library, session: str | None = None) -> list[TodoItem]:
    """Return the items of all sessions, or of one. A list can outlive its transcript, which Claude Code deletes."""
    if session is None:
        return [item for home in library.homes for item in _of_home(home, None)]
    try:
        return todos_of(library.session(session))
    except NotFound:
        start = session if len(session) >= _SHORTEST_START else None
        found = [item for item in all_todos(library) if start is not None and item.session_id.startswith(start)]
        if len({item.session_id for item in found}) != 1:
            raise
        return found


def todos_of(session: Session) -> list[TodoItem]:
    """Return the items of one session: from their files, else from the last list in the transcript."""
    return list(_of_home(session.home, session.id)) or list(_of_transcript(session))


def _of_home(home: Home, session_id: str | None) -> Iterator[TodoItem]:
    for todos in todo_lists(home, session_id):
        yield from _of_todo_file(home, todos)
    for tasks in task_lists(home, session_id):
        yield from _of_task_folder(home, tasks)


def _item(home: Home, session_id: str, source: str, todo: Todo, **others: Any) -> TodoItem:
    return TodoItem(
        home=str(home.root), session_id=session_id, source=source, id=todo.id, status=todo.status, content=todo.content,
        active_form=todo.active_form, priority=todo.priority, **others,
    )  # fmt: skip


def _of_todo_file(home: Home, found: SubagentTodos) -> Iterator[TodoItem]:
    file: dict[str, Any] = {
        "subagent_id": found.subagent_id,
        "modified": found.file.modified,
        "path": str(found.file.path),
    }
    for number, todo in enumerate(found.todos.items, 1):
        yield _item(home, found.session_id, "todos", todo, number=number, **file)
    if found.todos.problem is not None:
        yield TodoItem(
            home=str(home.root), session_id=found.session_id, source="todos", problem=found.todos.problem, **file
        )


def _of_task_folder(home: Home, found: SessionTasks) -> Iterator[TodoItem]:
    for task in found.tasks:
        yield TodoItem(
            home=str(home.root),
            session_id=found.session_id,
            source="tasks",
            number=int(task.id) if task.id and task.id.isascii() and task.id.isdigit() and len(task.id) <= 18 else None,
            id=task.id,
            status=task.status,
            content=task.subject,
            active_form=task.active_form,
            owner=task.owner,
            blocked_by=list(task.blocked_by),
            modified=found.modified,
            path=str(home.root / "tasks" / found.session_id / f"{task.id}.json"),
            problem=task.problem,
        )


def _of_transcript(session: Session) -> Iterator[TodoItem]:
    """Yield the items of the last TodoWrite of the main conversation, from its result, else from its call."""
    calls = (call for call in reversed(session.conversation.tools.calls) if call.name == "TodoWrite")
    with session:
        for call in calls:
            if call.call.file or call.is_error:
                continue
            listed = _listed(session, call.result, "toolUseResult", "newTodos") or _asked(session, call.call)
            if listed is not None:
                for todo in listed:
                    yield _item(session.home, session.id, "transcript", parse_todo(todo))
                return


def _listed(session: Session, row: Row | None, *names: str) -> list[Any] | None:
    value: Any = session.value(row) if row is not None and row.length <= LONGEST_LINE else None
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, list) else None


def _asked(session: Session, row: Row) -> list[Any] | None:
    for block in reversed(_listed(session, row, "message", "content") or []):
        asked = block.get("input") if isinstance(block, dict) and block.get("name") == "TodoWrite" else None
        if isinstance(asked, dict) and isinstance(asked.get("todos"), list):
            return list(asked["todos"])
    return None
