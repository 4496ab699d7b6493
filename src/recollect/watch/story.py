"""Turn the new lines of one transcript into events, with what earlier lines began: calls, titles, subagents."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from ..format.blocks import ToolUseBlock
from ..format.decode import Located, parse_row_entries
from ..format.entries import GraphEntry
from ..format.line import HARMLESS, Damage, RawLine
from ..format.session_meta import SubagentMeta
from ..graph.messages import role_of
from ..graph.rows import Row, build_transcript
from ..store.home import Home
from ..store.side_files import subagent_meta
from ..store.summary import TITLE_SOURCES, state_of
from .events import (
    Compacted,
    EntryAdded,
    LineDamaged,
    MessageAdded,
    SessionEvent,
    SessionStarted,
    SubagentStarted,
    TitleChanged,
    ToolFinished,
    ToolStarted,
)
from .lines import Look, Place

T = TypeVar("T")

_MESSAGES = frozenset({"user", "assistant", "system"})
_REMEMBERED = 2048


class Story:
    """What a watch remembers of one transcript to make events of its new lines."""

    def __init__(self, home: Home, path: str, place: Place, *, is_new: bool, announce: Callable[[str], bool]) -> None:
        self.home = home
        self.path = path
        self.place = place
        self.session_id = place.session_id
        self._announce = announce
        """Returns whether the start of a session was not reported yet."""
        self._begins = is_new
        self._calls: dict[str, tuple[str, float | None]] = {}
        self._titles: dict[str, str] = {}
        self._inner: dict[str, str] = {}
        """The subagents of rows in the main file (to 2.0.26), by uuid."""
        self._inner_names: set[str] = set()

    def recall(self, lines: list[RawLine]) -> None:
        """Remember what lines from before the watch began."""
        for line in lines:
            for item in parse_row_entries([line], []):
                entry, row = item.entry, _row_of(item)
                self.session_id = self.session_id or entry.sessionId
                self._note_title(entry)
                if row is not None:
                    self._inner_subagent(row)
                    for ident, name in row.tool_uses:
                        self._keep_call(ident, name, row.time)
                    for ident in row.tool_results:
                        self._calls.pop(ident, None)

    def tell(self, look: Look) -> Iterator[SessionEvent]:
        """Yield the events of new lines in order."""
        for line in look.lines:
            damage: list[Damage] = []
            for item in parse_row_entries([line], damage):
                yield from self._entry(item, line, look.counted)
            yield from self._damaged(damage, look.counted)
        yield from self._damaged(look.damage, look.counted)

    def _damaged(self, damage: list[Damage], counted: bool) -> Iterator[SessionEvent]:
        for item in damage:
            if item.kind not in HARMLESS and self.session_id is not None:
                place = item if counted else Damage(item.kind, 0, item.offset, item.length, item.detail)
                yield LineDamaged(
                    session_id=self.session_id, time=time.time(), subagent_id=self.place.subagent_id, path=self.path,
                    damage=place,
                )  # fmt: skip

    def _entry(self, item: Located[GraphEntry], line: RawLine, counted: bool) -> Iterator[SessionEvent]:
        entry, row = item.entry, _row_of(item)
        session = self.session_id = self.session_id or entry.sessionId or Path(self.path).stem
        moment = row.time if row is not None else None
        shared: dict[str, Any] = {
            "session_id": session,
            "time": time.time() if moment is None else moment,
            "path": self.path,
        }
        if self._begins:
            self._begins = False
            yield from self._start(shared, entry)
        subagent = self.place.subagent_id
        if subagent is None and row is not None and (inner := self._inner_subagent(row)) is not None:
            subagent, is_first = inner
            if is_first:
                yield SubagentStarted(**shared, subagent_id=subagent)
        shared["subagent_id"] = subagent
        start = item.offset - line.offset
        added: dict[str, Any] = {
            "type": entry.type,
            "uuid": entry.uuid,
            "raw": line.data[start : start + item.length],
            "offset": item.offset,
            "line": item.line if counted else None,
        }
        if row is None or row.type not in _MESSAGES:
            yield EntryAdded(**shared, **added)
            yield from self._title(shared, entry)
            return
        message = MessageAdded(**shared, **added, role=role_of(row), model=row.model, message_id=row.message_id)
        yield message
        yield from self._tools(shared, row, message)
        if row.is_boundary:
            yield self._compacted(shared, row)

    def _start(self, shared: dict[str, Any], entry: GraphEntry) -> Iterator[SessionEvent]:
        if self.place.subagent_id is None:
            if self._announce(shared["session_id"]):
                yield SessionStarted(**shared, cwd=entry.cwd)
            return
        meta = self._meta() or SubagentMeta()
        yield SubagentStarted(
            **shared, subagent_id=self.place.subagent_id, subagent_type=meta.subagent_type, description=meta.description,
            tool_use_id=meta.tool_use_id, parent_subagent_id=meta.parent_subagent_id, workflow=self.place.workflow,
        )  # fmt: skip

    def _meta(self) -> SubagentMeta | None:
        return subagent_meta(self.home, Path(self.path))

    def _inner_subagent(self, row: Row) -> tuple[str, bool] | None:
        """Return the subagent that wrote a row of the main file, and whether the row is its first."""
        if not row.sidechain or row.type == "progress" or self.place.subagent_id is not None:
            return None
        name = row.subagent_id or self._inner.get(row.parent or "") or f"sidechain-{(row.uuid or str(row.line))[:8]}"
        is_first = name not in self._inner_names
        self._inner_names.add(name)
        if row.uuid is not None:
            _keep(self._inner, row.uuid, name)
        return name, is_first

    def _tools(self, shared: dict[str, Any], row: Row, message: MessageAdded) -> Iterator[SessionEvent]:
        if row.tool_uses:
            inputs = {block.id: block.input for block in message.blocks if isinstance(block, ToolUseBlock)}
            for ident, name in row.tool_uses:
                self._keep_call(ident, name, row.time)
                yield ToolStarted(**shared, tool_use_id=ident, name=name, input=inputs.get(ident), uuid=row.uuid)
        for ident in row.tool_results:
            called, began = self._calls.pop(ident, None) or (None, None)
            took = None if began is None or row.time is None else max(row.time - began, 0.0)
            yield ToolFinished(
                **shared, tool_use_id=ident, name=called, duration=took, is_error=ident in row.failed, uuid=row.uuid
            )

    def _compacted(self, shared: dict[str, Any], row: Row) -> Compacted:
        metadata = row.compact if isinstance(row.compact, dict) else {}
        trigger, tokens = metadata.get("trigger"), metadata.get("preTokens")
        return Compacted(
            **shared, uuid=row.uuid, trigger=trigger if isinstance(trigger, str) else None,
            tokens_before=tokens if isinstance(tokens, int) else None,
        )  # fmt: skip

    def _title(self, shared: dict[str, Any], entry: GraphEntry) -> Iterator[SessionEvent]:
        before = self._shown_title()
        self._note_title(entry)
        after = self._shown_title()
        if after is not None and after != before:
            yield TitleChanged(**shared, title=after[1], source=after[0])

    def _shown_title(self) -> tuple[str, str] | None:
        return next(
            ((source, self._titles[fact]) for fact, source in TITLE_SOURCES.items() if fact in self._titles), None
        )

    def _note_title(self, entry: GraphEntry) -> None:
        """Remember a title. Claude Code repeats its state lines, so only a new value is a change."""
        fact, value = state_of(entry) or ("", None)
        if fact in TITLE_SOURCES:
            self._titles.pop(fact, None)
            if value is not None:
                self._titles[fact] = value

    def _keep_call(self, ident: str, name: str, moment: float | None) -> None:
        _keep(self._calls, ident, (name, moment))


def _keep(memory: dict[str, T], key: str, value: T) -> None:
    """Remember a value, and forget the oldest if there are too many."""
    memory[key] = value
    if len(memory) > _REMEMBERED:
        del memory[next(iter(memory))]


def _row_of(item: Located[GraphEntry]) -> Row | None:
    rows = build_transcript([item], []).rows
    return rows[0] if rows else None
