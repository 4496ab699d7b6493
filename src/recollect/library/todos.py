"""To-do lists and task lists: of one session (`session.todos`), or of all (`library.todos()`)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ..errors import NotFound
from ..format.todos import Todo, parse_todo
from ..store.home import Home
from ..store.side_files import SessionTasks, SubagentTodos, task_lists, todo_lists
from .reading import LONGEST_LINE

if TYPE_CHECKING:
    from ..graph.rows import Row
    from .library import Library
    from .session import Session

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
