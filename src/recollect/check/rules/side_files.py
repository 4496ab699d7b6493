"""Check the small JSON files beside the transcripts: to-do lists, tasks, descriptions of subagents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...store.layout import tasks_folder
from ...store.side_files import subagent_meta, task_lists, todo_lists
from ..rule import WARNING, Finding, Rule
from ..subject import HomeSubject

RULE: Final = Rule(
    "corrupt-side-file", WARNING, "A to-do list, a task or the description of a subagent cannot be read.",
    "Goes on as if it were not there.", "Bring it back from a copy, or remove it.",
)  # fmt: skip


def check(subject: HomeSubject) -> Iterator[Finding]:
    home = subject.home
    for todos in todo_lists(home):
        if todos.todos.problem:
            yield Finding(RULE, todos.file.path, todos.todos.problem, session_id=todos.session_id)
    for tasks in task_lists(home):
        for task in tasks.tasks:
            if task.problem:
                path = tasks_folder(home.root, tasks.session_id) / f"{task.id}.json"
                yield Finding(RULE, path, task.problem, session_id=tasks.session_id)
    for file in subject.scan.sessions:
        for subagent in file.subagents:
            meta = subagent_meta(home, subagent.path) if subagent.meta_path is not None else None
            if meta is not None and meta.problem:
                found = subagent.meta_path or subagent.path
                yield Finding(RULE, found, meta.problem, session_id=file.session_id, subagent_id=subagent.subagent_id)
