"""Fold the lines of a session into its row of the catalogue: titles, project, times, numbers.

The fold continues where the last sync stopped. Its rules are those of `store.session_facts`, which lists of sessions
follow too; here they are applied to every line.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, Final

import apsw

from ...format.worded_entry import IndexEntry
from ...store.summary import project_of, prompt_of, repository_for, state_of, title_of
from ..words.searchable_text import clean
from .schema import TABLES

PROMPT_LIMIT: Final = 2_000
_COLUMNS: Final = tuple(
    column.name for table in TABLES if table.name == "sessions" for column in table.columns if column.name != "file_id"
)


class SessionFold:
    """The row of one session while its lines are read."""

    def __init__(self, file_id: int, session_id: str, folder: str) -> None:
        self.file_id = file_id
        self.folder = folder
        self.values: dict[str, Any] = dict.fromkeys(_COLUMNS)
        for name in (
            "lines",
            "entries",
            "messages",
            "prompts",
            "subagents",
            "side_rows",
            "main_rows",
            "damaged",
            "bytes",
        ):
            self.values[name] = 0
        self.values["session_id"] = session_id
        self.values["threaded"] = 0
        self.cwds: list[str] = []
        self._last_cwd: str | None = None

    @classmethod
    def load(cls, db: apsw.Connection, file_id: int, session_id: str, folder: str) -> SessionFold:
        """Continue from the row that an earlier sync has written; begin with an empty row if there is none."""
        fold = cls(file_id, session_id, folder)
        row = db.execute(f"SELECT {', '.join(_COLUMNS)} FROM sessions WHERE file_id = ?", (file_id,)).fetchone()
        if row is not None:
            fold.values.update(zip(_COLUMNS, row, strict=True))
            fold.cwds = json.loads(fold.values["cwds"] or "[]")
        fold.values["session_id"] = session_id
        return fold

    def note_row(self, entry: IndexEntry, time: int | None, role: str | None) -> None:
        """Add a user, assistant, system, attachment or progress row."""
        values = self.values
        kind = entry.type
        if entry.isSidechain:
            values["side_rows"] += 1
        else:
            values["main_rows"] += 1
        if time is not None:
            if values["created"] is None:
                values["created"] = time
            if kind != "progress":
                values["modified"] = time
        cwd = entry.cwd
        if cwd and cwd != self._last_cwd:
            self._last_cwd = cwd
            if cwd not in self.cwds:
                self.cwds.append(clean(cwd) or "")
        if entry.version:
            values["version"] = entry.version
        if entry.gitBranch:
            values["git_branch"] = clean(entry.gitBranch)
        if kind == "assistant":
            values["messages"] += 1
            message = entry.message
            if message is not None and message.model and message.model != "<synthetic>":
                values["model"] = clean(message.model)
        elif kind == "user":
            values["messages"] += 1
            if role == "user" and not entry.isSidechain:
                values["prompts"] += 1
                if values["first_prompt"] is None and not entry.toolUseResult:
                    self._note_prompt(entry)

    def _note_prompt(self, entry: IndexEntry) -> None:
        content: Any = entry.message.content if entry.message is not None else None
        if isinstance(content, list):
            content = "\n".join(block.text for block in content if block.text)
        if not isinstance(content, str):
            return
        text, command = prompt_of(content)
        self.values["first_prompt"] = clean(text[:PROMPT_LIMIT]) if text else None
        if command and self.values["first_command"] is None:
            self.values["first_command"] = clean(command[:PROMPT_LIMIT])

    def note_state(self, entry: IndexEntry, time: int | None) -> None:
        """Add an entry that is not a row, such as a title or a mode."""
        told = state_of(entry)
        if told is not None:
            fact, value = told
            self.values[fact] = clean(value[:PROMPT_LIMIT] if value and fact == "last_prompt" else value)
        elif entry.type == "queue-operation" and self.values["created"] is None:
            self.values["created"] = time

    def write(self, db: apsw.Connection) -> None:
        values = self.values
        values["cwds"] = json.dumps(self.cwds, ensure_ascii=False) if self.cwds else None
        values["project"] = project_of(values["relocated"], self.cwds, self.folder)
        values["repository"] = repository_for(values["worktree_of"], values["project"])
        prompt = values["first_prompt"] or values["first_command"]
        values["title"] = title_of(SimpleNamespace(**(values | {"first_prompt": prompt})))
        values["subagents"] = db.execute("SELECT count(*) FROM subagent_runs WHERE file_id = ?", (self.file_id,)).get
        db.execute(
            f"INSERT OR REPLACE INTO sessions(file_id, {', '.join(_COLUMNS)}) VALUES (?{', ?' * len(_COLUMNS)})",
            (self.file_id, *values.values()),
        )
