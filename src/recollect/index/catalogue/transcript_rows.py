"""Convert one transcript to rows of the catalogue (entries, tool calls, subagents, changed files) and indexed words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

import apsw

from ...format.decode import Located
from ...format.entries import ROW_TYPES
from ...format.line import HARMLESS, Damage
from ...format.times import parse_time
from ...format.worded_entry import IndexEntry
from ...store.summary import project_of, prompt_of, repository_for, state_of, title_of
from ..words.searchable_text import EntryWords, clean, lines_changed, words_of
from ..words.word_index import WordsWriter
from .catalogue import Strings
from .left_out import LeftOut, insert_rows
from .schema import FLAGS, TABLES, stored_uuid
from .tracking import FileChange

SESSION_PROMPT_LIMIT: Final = 2_000
_COLUMNS: Final = tuple(
    column.name for table in TABLES if table.name == "sessions" for column in table.columns if column.name != "file_id"
)


class SessionFold:
    """The row of one session while its lines are read.

    The fold continues where the last sync stopped. Its rules are those of `store.summary`, which lists of sessions follow too;
    here they are applied to every line.
    """

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
        self.values["first_prompt"] = clean(text[:SESSION_PROMPT_LIMIT]) if text else None
        if command and self.values["first_command"] is None:
            self.values["first_command"] = clean(command[:SESSION_PROMPT_LIMIT])

    def note_state(self, entry: IndexEntry, time: int | None) -> None:
        """Add an entry that is not a row, such as a title or a mode."""
        state = state_of(entry)
        if state is not None:
            fact, value = state
            self.values[fact] = clean(value[:SESSION_PROMPT_LIMIT] if value and fact == "last_prompt" else value)
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


_SIDECHAIN: Final = FLAGS["sidechain"]
_META: Final = FLAGS["meta"]
_SUMMARY: Final = FLAGS["compact_summary"]
_SKIPPED: Final = FLAGS["skipped_by_client"]
_PROMPT: Final = FLAGS["prompt"]
_TEXT: Final = FLAGS["text"]
STATUS: Final = 19
"""Position of the status in a row of `entries`."""
PROMPT_LIMIT: Final = 200

_INSERT_ENTRY: Final = f"INSERT INTO entries VALUES ({', '.join('?' * 21)})"
_CALL: Final = (
    "name", "entry_id", "result_entry_id", "started", "ended", "is_error", "input_bytes", "output_bytes", "target",
    "subagent_id", "started_subagent", "subagent_kind", "commits",
)  # fmt: skip
_UPSERT_CALL: Final = (
    f"INSERT INTO tool_calls(file_id, tool_use_id, {', '.join(_CALL)}) VALUES (?, ?{', ?' * len(_CALL)}) "
    f"ON CONFLICT DO UPDATE SET {', '.join(f'{name} = coalesce({name}, excluded.{name})' for name in _CALL)}"
)
_INSERT_EDIT: Final = f"INSERT INTO file_changes VALUES ({', '.join('?' * 8)})"
_UPSERT_SUBAGENT: Final = """
INSERT INTO subagent_runs(file_id, subagent_id, started, ended, messages, entries, prompt) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET started = coalesce(started, excluded.started), ended = coalesce(excluded.ended, ended),
    messages = messages + excluded.messages, entries = entries + excluded.entries, prompt = coalesce(prompt, excluded.prompt)
"""


class TranscriptRows:
    """Collect the rows of one file; `flush` writes those collected so far."""

    def __init__(
        self, db: apsw.Connection, change: FileChange, strings: Strings, next_id: int, words: WordsWriter | None,
        left_out: LeftOut,
    ) -> None:  # fmt: skip
        self._db = db
        self._change = change
        self._strings = strings
        self._words = words
        self.next_id = next_id
        self.is_subagent_file = change.kind == "subagent"
        self.fold = None
        if change.kind == "session":
            self.fold = SessionFold.load(db, change.file_id, change.session_id or "", change.folder or "")
        self.entries: list[list[Any]] = []
        self.row_places: list[int] = []
        """Positions in `entries` of the rows of the conversation (those with a type of `ROW_TYPES`), in order."""
        self._calls: dict[str, dict[str, Any]] = {}
        self._tool_names: dict[str, str] = {}
        self._subagents: dict[str, list[Any]] = {}
        self._side_roots: dict[str, str] = {}
        self._edits: list[tuple[Any, ...]] = []
        self._left_out = left_out
        self._line = self._part = 0
        self.lines_parsed = 0
        self._last_time: tuple[str | None, int | None] = (None, None)

    def through(self, located: Iterable[Located[IndexEntry]]) -> Iterator[Located[IndexEntry]]:
        """Collect each entry and pass it on. An entry that cannot be indexed is left out."""
        for item in located:
            if self.note(item):
                yield item

    def note(self, item: Located[IndexEntry]) -> bool:
        """Collect one entry. If that fails unexpectedly, report the entry, leave it out and return False."""
        entries, places = len(self.entries), len(self.row_places)
        try:
            self._note(item)
        except Exception as problem:
            del self.entries[entries:], self.row_places[places:]
            self._leave_out(f"line {item.line}", problem)
            return False
        return True

    def _leave_out(self, place: str, problem: Exception) -> None:
        self._left_out.note(self._change.full_path, place, problem)

    def _leave_out_row(self, named: str, place: int, row: Sequence[Any], problem: Exception) -> None:
        self._leave_out(f"{named} {row[place]}", problem)

    def _note(self, item: Located[IndexEntry]) -> None:
        entry, line, offset, length, client_reads = item
        if line == self._line:
            self._part += 1
        else:
            self._line, self._part = line, 0
        entry_id = self.next_id
        self.next_id += 1
        kind = entry.type
        is_row = kind in ROW_TYPES
        words = words_of(entry)
        time = self._time(entry.timestamp)
        subagent_id = self._subagent_of(entry) if is_row else entry.agentId
        flags = words.flags
        if entry.isSidechain:
            flags |= _SIDECHAIN
        if entry.isMeta:
            flags |= _META
        if entry.isCompactSummary:
            flags |= _SUMMARY
        if not client_reads:
            flags |= _SKIPPED
        if words.role == "user" and kind == "user" and not entry.isSidechain and not entry.isVisibleInTranscriptOnly:
            flags |= _PROMPT
        if words.parts:
            flags |= _TEXT
        message = entry.message
        model = message.model if message is not None else None
        number = self._strings.number
        if is_row:
            self.row_places.append(len(self.entries))
        self.entries.append(
            [
                entry_id,
                self._change.file_id,
                line,
                self._part,
                offset,
                length,
                kind,
                _subtype(entry),
                stored_uuid(entry.uuid),
                stored_uuid(entry.parentUuid or None),
                time,
                words.role,
                subagent_id,
                number(model or None),
                message.id if message is not None else None,
                entry.requestId,
                number(entry.gitBranch or None),
                number(entry.cwd or None),
                number(entry.version or None),
                "subagent" if self.is_subagent_file and is_row else None,
                flags,
            ]
        )
        if is_row:
            if self.fold is not None:
                self.fold.note_row(entry, time, "user" if flags & _PROMPT else words.role)
            if subagent_id is not None and (self.is_subagent_file or entry.isSidechain) and kind != "progress":
                self._note_subagent(subagent_id, entry, time, words)
        elif self.fold is not None:
            self.fold.note_state(entry, time)
        tools = self._note_calls(entry, entry_id, time, subagent_id, words)
        if words.parts and self._words is not None:
            try:
                self._words.add(
                    entry_id, self._change.file_id, time, words.text, role=words.role, flags=flags, tools=tools,
                    paths=words.paths, model=model, branch=entry.gitBranch, project=entry.cwd,
                )  # fmt: skip
            except Exception as problem:  # the entry's row stays, only its words are left out
                self._leave_out(f"words of line {line}", problem)

    def _time(self, timestamp: str | None) -> int | None:
        if timestamp is None:
            return None
        if timestamp == self._last_time[0]:
            return self._last_time[1]
        found = microseconds(timestamp)
        self._last_time = (timestamp, found)
        return found

    def _subagent_of(self, entry: IndexEntry) -> str | None:
        if entry.agentId:
            return entry.agentId
        if self.is_subagent_file:
            return self._change.subagent_id
        if not entry.isSidechain or entry.type == "progress":
            return None
        above = self._side_root(entry.parentUuid) if isinstance(entry.parentUuid, str) else None
        name = above or f"sidechain-{(entry.uuid or str(self._line))[:8]}"
        if entry.uuid is not None:
            self._side_roots[entry.uuid] = name
        return name

    def _side_root(self, parent: str) -> str | None:
        found = self._side_roots.get(parent)
        if found is None and self._change.start:
            found = self._db.execute(
                "SELECT subagent_id FROM entries WHERE uuid = ? AND file_id = ? ORDER BY id DESC",
                (stored_uuid(parent), self._change.file_id),
            ).get
        return found

    def _note_subagent(self, subagent_id: str, entry: IndexEntry, time: int | None, words: EntryWords) -> None:
        run = self._subagents.get(subagent_id)
        if run is None:
            run = self._subagents[subagent_id] = [None, None, 0, 0, None]
        if time is not None:
            run[0] = time if run[0] is None else run[0]
            run[1] = time
        run[2] += entry.type in ("user", "assistant")
        run[3] += 1
        if run[4] is None and words.role == "user" and words.parts:
            run[4] = words.text[:PROMPT_LIMIT]

    def _note_calls(
        self, entry: IndexEntry, entry_id: int, time: int | None, subagent_id: str | None, words: EntryWords
    ) -> list[str]:
        """Collect the tool calls and results of an entry. Return the names of their tools."""
        names: list[str] = []
        for use in words.uses:
            names.append(use.name)
            self._tool_names.setdefault(use.id, use.name)
            _fill(
                self._call(use.id), name=use.name, entry_id=entry_id, started=time, input_bytes=use.input_bytes,
                target=use.target, subagent_id=subagent_id, subagent_kind=use.subagent_kind,
                commits=use.commits,
            )  # fmt: skip
        structured = entry.toolUseResult
        started = getattr(structured, "agentId", None)
        for result in words.results:
            _fill(
                self._call(result.id), result_entry_id=entry_id, ended=time, is_error=int(result.is_error),
                output_bytes=result.output_bytes, started_subagent=started,
            )  # fmt: skip
            name = self._tool_name(result.id)
            if name:
                names.append(name)
            started = None
        if words.results and (edit := lines_changed(entry)) is not None:
            path, created, added, removed = edit
            self._edits.append(
                (self._change.file_id, entry_id, time, clean(path), words.results[0].id, int(created), added, removed)
            )
        if entry.type == "progress" and entry.data is not None and entry.data.agentId:
            parent = entry.parentToolUseID or entry.toolUseID
            if parent:
                _fill(self._call(parent), started_subagent=entry.data.agentId)
        return names

    def _call(self, tool_use_id: str) -> dict[str, Any]:
        return self._calls.setdefault(tool_use_id, {})

    def _tool_name(self, tool_use_id: str) -> str | None:
        found = self._tool_names.get(tool_use_id)
        if found is None and self._change.start:
            found = self._db.execute(
                "SELECT name FROM tool_calls WHERE file_id = ? AND tool_use_id = ?", (self._change.file_id, tool_use_id)
            ).get
        return found

    def set_statuses(self, statuses: Iterable[str]) -> None:
        """Set the statuses of the rows of the conversation, in order."""
        for place, status in zip(self.row_places, statuses, strict=True):
            self.entries[place][STATUS] = status

    def flush(self, damage: list[Damage], *, lines: int, size: int, threaded: bool, reachable: float | None) -> None:
        """Write everything collected so far. `lines` and `size` are those of the part of the file read so far."""
        db, file_id = self._db, self._change.file_id
        calls = ((file_id, ident, *map(call.get, _CALL)) for ident, call in self._calls.items())
        subagents = ((file_id, subagent, *run) for subagent, run in self._subagents.items())
        for statement, rows, named, place in (
            (_INSERT_ENTRY, self.entries, "line", 2),
            (_UPSERT_CALL, calls, "tool call", 1),
            (_UPSERT_SUBAGENT, subagents, "subagent", 1),
            (_INSERT_EDIT, self._edits, "change of", 3),
        ):
            insert_rows(db, statement, rows, partial(self._leave_out_row, named, place))
        harmful = [item for item in damage if item.kind not in HARMLESS]
        db.executemany(
            "INSERT INTO damage VALUES (?, ?, ?, ?, ?, ?)",
            ((file_id, item.line, item.offset, item.length, item.kind, clean(item.detail)) for item in harmful),
        )
        if self.fold is not None:
            values = self.fold.values
            values["lines"], values["bytes"] = lines, size
            values["entries"] += len(self.entries)
            values["damaged"] = db.execute("SELECT count(*) FROM damage WHERE file_id = ?", (file_id,)).get
            values["threaded"], values["reachable"] = int(threaded), reachable
            self.fold.write(db)
        self.entries, self.row_places, self._edits = [], [], []
        self._calls, self._subagents = {}, {}
        damage.clear()


def _fill(call: dict[str, Any], **values: Any) -> None:
    """Set values of a tool call that are not set yet: the first value counts."""
    for name, value in values.items():
        if value is not None and name not in call:
            call[name] = value


def _subtype(entry: IndexEntry) -> str | None:
    if entry.subtype is not None:
        return entry.subtype
    part = entry.attachment if entry.type == "attachment" else entry.data
    return part.type if part is not None else None


def microseconds(timestamp: str) -> int | None:
    seconds = parse_time(timestamp)
    return None if seconds is None else round(seconds * 1_000_000)
