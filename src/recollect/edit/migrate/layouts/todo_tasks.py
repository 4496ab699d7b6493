"""Clients to 2.1.50 kept to-do lists in `todos/`; those of 2.1.325 keep tasks, a file each, in `tasks/<session>/`.

Only the list of the main subagent becomes tasks: those of subagents are done with. The old files go, and can be had back by undo.
"""

from __future__ import annotations

from typing import Final

from ....format.todos import HIGH_WATER_MARK_NAME, task_bytes
from ....store.layout import tasks_folder
from ....store.side_files import todo_lists
from ..session_layout import LayoutDraft

NAME: Final = "to-do lists into tasks"
FROM: Final = "2.1.50"
TO: Final = "2.1.70"
DESCRIPTION: Final = "Turn the to-do list of the session into tasks."
_STATES: Final = frozenset({"pending", "in_progress", "completed"})


def migrate(draft: LayoutDraft) -> int:
    home, session_id = draft.file.home, draft.file.session_id
    folder = tasks_folder(home.root, session_id)
    lists = todo_lists(home, session_id)
    if not lists or folder.exists() or any(found.todos.problem for found in lists):
        return 0
    written = 0
    for found in lists:
        if found.subagent_id is None:
            for item in found.todos.items:
                if item.content:
                    written += 1
                    status = item.status if item.status in _STATES else "completed"
                    data = task_bytes(written, item.content, status or "pending", item.active_form)
                    draft.written[folder / f"{written}.json"] = [data]
        draft.removed.append(found.file.path)
    if written:
        draft.written[folder / HIGH_WATER_MARK_NAME] = [str(written).encode()]
    return len(lists)


def verify(draft: LayoutDraft) -> str | None:
    return None
