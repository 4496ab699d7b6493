"""Hold what the rules check: one session, read once, with the views that several rules need; or the names of a home."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from ..format.decode import parse_row_entries
from ..format.line import Damage, RawLine
from ..graph.messages import ToolPairs, pair_tools
from ..graph.rows import Row, Transcript, build_transcript, gc_paused
from ..graph.thread import Thread, find_thread
from ..store.home import Home
from ..store.read import EntryBytes, stream_lines
from ..store.scan import Scan, SessionFile, SubagentFile
from .rule import Finding, Rule

#: Bytes that tell, while a line is at hand, that its row is worth a second look. Looking for them costs next to nothing.
IMAGE: Final = b'"image/'
NUL_ESCAPE: Final = b"\\u0000"
LONG_OUTPUT: Final = b'"persistedOutputPath"'
_NEEDLES: Final = (IMAGE, NUL_ESCAPE, LONG_OUTPUT)


class WatchedLines:
    """Yields lines, counts them, and notes on which of them the needles stand."""

    def __init__(self, lines: Iterator[RawLine]) -> None:
        self._lines = lines
        self.lines = 0
        self.bytes = 0
        self.seen: dict[bytes, set[int]] = {needle: set() for needle in _NEEDLES}

    def __iter__(self) -> Iterator[RawLine]:
        seen = self.seen
        for line in self._lines:
            data = line.data
            if not line.more:
                self.lines += line.lines
            self.bytes += len(data)
            for needle in _NEEDLES:
                if needle in data:
                    seen[needle].add(line.number)
            yield line


def read_watched(path: Path, home: Home, *, file: int = 0) -> tuple[Transcript, dict[bytes, set[int]]]:
    """Return the rows of a file, and the lines on which the needles stand."""
    damage: list[Damage] = []
    watched = WatchedLines(stream_lines(path, home))
    with gc_paused():
        transcript = build_transcript(parse_row_entries(watched, damage), damage, file=file)
    transcript.lines, transcript.size = watched.lines, watched.bytes
    return transcript, watched.seen


class SessionSubject:
    """A session's main file, or the file of one of its subagents, for the rules to check."""

    def __init__(self, file: SessionFile, subagent: SubagentFile | None = None) -> None:
        self.file = file
        self.subagent = subagent
        self.path = file.path if subagent is None else subagent.path
        self.transcript, self._seen = read_watched(self.path, file.home)
        self._source: EntryBytes | None = None

    def close(self) -> None:
        if self._source is not None:
            self._source.__exit__()
            self._source = None

    @property
    def rows(self) -> list[Row]:
        return self.transcript.rows

    @property
    def is_main(self) -> bool:
        return self.subagent is None

    @cached_property
    def thread(self) -> Thread:
        return find_thread(self.transcript)

    @cached_property
    def known(self) -> dict[str, Row]:
        """The rows that Claude Code reads, by uuid; of copies the last."""
        return {row.uuid: row for row in self.rows if row.uuid is not None and row.client_reads}

    @cached_property
    def parents(self) -> set[str | None]:
        """The uuids that are the parents of rows."""
        return {row.parent for row in self.rows}

    @cached_property
    def tools(self) -> ToolPairs:
        return pair_tools(self.rows)

    @cached_property
    def live(self) -> set[int]:
        """The indexes of the rows that a resume sends."""
        return {row.index for row in self.thread.sent}

    def rows_with(self, needle: bytes) -> Iterator[Row]:
        """Yield the rows of messages on whose line a needle stands."""
        lines = self._seen[needle]
        if lines:
            yield from (row for row in self.rows if row.line in lines and row.is_message)

    def value(self, row: Row) -> dict[str, Any]:
        """Return the entry of a row as plain data, read from disk."""
        if self._source is None:
            self._source = EntryBytes(self.path, self.file.home).__enter__()
        return self._source.value_at(row.offset, row.length)

    def finding(self, rule: Rule, row: Row | None = None, detail: str = "", milder: str | None = None) -> Finding:
        subagent_id = self.subagent.subagent_id if self.subagent is not None else None
        if row is None:
            return Finding(
                rule, self.path, detail, session_id=self.file.session_id, subagent_id=subagent_id, milder=milder
            )  # fmt: skip
        return Finding(
            rule, self.path, detail, row.line, row.offset, row.length, row.uuid, self.file.session_id, subagent_id,
            milder=milder,
        )  # fmt: skip


@dataclass
class HomeSubject:
    """A home and the scan of its files, for the rules to check."""

    home: Home
    scan: Scan
    """Subagents beside sessions belong to their sessions here."""

    @cached_property
    def session_ids(self) -> Counter[str]:
        return Counter(file.session_id for file in self.scan.sessions)
