"""Find what is left of sessions whose transcript is gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...store import layout
from ...store.layout import FILE_HISTORY, TOOL_RESULTS, ids_in_todo_name, is_session_id
from ...store.paths import list_inside
from ...store.side_files import is_folder
from ..rule import INFO, WARNING, Finding, Rule
from ..subject import HomeSubject

_IGNORES: Final = "Never looks at it again."
_REMEDY: Final = "Bring the transcript back from a copy; or remove what is left."

SUBAGENTS: Final = Rule("orphan-subagent", WARNING, "A subagent's session is gone.", _IGNORES, _REMEDY)
OUTPUTS: Final = Rule(
    "orphan-tool-results", WARNING, "Long outputs of a session whose transcript is gone.", _IGNORES, _REMEDY
)
TODOS: Final = Rule(
    "orphan-todos", INFO, "A to-do list of a session whose transcript is gone.", _IGNORES, _REMEDY, fold=True
)
HISTORY: Final = Rule(
    "orphan-file-history", INFO, "Backups of files of a session whose transcript is gone.", _IGNORES, _REMEDY
)
TASKS: Final = Rule("orphan-tasks", INFO, "Tasks of a session whose transcript is gone.", _IGNORES, _REMEDY)


def check(subject: HomeSubject) -> Iterator[Finding]:
    home, known = subject.home, subject.session_ids
    for subagent in subject.scan.orphan_subagents:
        yield Finding(SUBAGENTS, subagent.path, subagent_id=subagent.subagent_id)
    for project in list_inside(home, home.projects):
        if not is_folder(home, project):
            continue
        for folder in list_inside(home, project):
            if is_session_id(folder.name) and folder.name not in known and (folder / TOOL_RESULTS).is_dir():
                yield Finding(OUTPUTS, folder / TOOL_RESULTS, session_id=folder.name)
    for path in list_inside(home, home.root / layout.TODOS):
        ids = ids_in_todo_name(path.name)
        if ids is not None and ids[0] not in known:
            # One finding for all of them: there is a file for each subagent of each session that ever was.
            yield Finding(TODOS, path.parent, path.name)
    for rule, place in ((HISTORY, FILE_HISTORY), (TASKS, layout.TASKS)):
        for folder in list_inside(home, home.root / place):
            if is_session_id(folder.name) and folder.name not in known:
                yield Finding(rule, folder, session_id=folder.name)
