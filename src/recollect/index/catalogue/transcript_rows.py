"""Convert one transcript to rows of the catalogue (entries, tool calls, subagents, changed files) and indexed words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final

import apsw

from ...format.decode import Located
from ...format.entries import ROW_TYPES
from ...format.line import HARMLESS, Damage
from ...format.times import parse_time
from ...format.worded_entry import IndexEntry
from ..words.searchable_text import EntryWords, clean, lines_changed, words_of
from ..words.word_index import WordsWriter
from .catalogue import Strings
from .left_out import LeftOut, insert_rows
from .schema import FLAGS, stored_uuid
from .session_row import SessionFold
from .tracking import FileChange

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
        told = entry.toolUseResult
        started = getattr(told, "agentId", None)
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
