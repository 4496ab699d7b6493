"""Define rules and findings (what can be wrong, how bad it is, what Claude Code does then, and what helps), and what the rules
check: one session, read once, with the views that several rules need; or the names of a home.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Final

from ..format.decode import parse_row_entries
from ..format.line import Damage, RawLine, read_entry_lines
from ..graph.messages import ToolPairs, pair_tools
from ..graph.rows import Row, Transcript, build_transcript, gc_paused
from ..graph.thread import Thread, find_thread
from ..store.home import Home
from ..store.read import OpenFiles
from ..store.scan import Scan, SessionFile, SubagentFile
from ..store.summary import summarise

ERROR: Final = "error"
"""Claude Code loses part of the conversation, finds none, or every further turn fails."""
WARNING: Final = "warning"
"""Some version of Claude Code, or somebody else, will stumble over it; or something is left over."""
INFO: Final = "info"
"""Worth knowing; healthy sessions have it too."""
SEVERITIES: Final = (ERROR, WARNING, INFO)


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that can be wrong."""

    code: str
    severity: str
    title: str
    """What is wrong."""
    client: str
    """What Claude Code does because of it."""
    remedy: str
    fix: str | None = None
    """The fix of `recollect repair` that helps."""
    fold: bool = False
    """Many places of a session become one finding that counts them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that was broken, and where. Lines count from 1, offsets from the start of the file."""

    rule: Rule
    path: Path
    detail: str = ""
    line: int | None = None
    offset: int | None = None
    length: int | None = None
    uuid: str | None = None
    session_id: str | None = None
    subagent_id: str | None = None
    count: int = 1
    milder: str | None = None
    """A severity in place of the rule's, where Claude Code copes with this case."""

    @property
    def code(self) -> str:
        return self.rule.code

    @property
    def severity(self) -> str:
        return self.milder or self.rule.severity

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain data: the fields that `--json` and `/api/v1` give."""
        return {
            "code": self.code,
            "severity": self.severity,
            "session_id": self.session_id,
            "subagent_id": self.subagent_id,
            "path": str(self.path),
            "line": self.line,
            "offset": self.offset,
            "length": self.length,
            "uuid": self.uuid,
            "detail": self.detail,
            "count": self.count,
            "title": self.rule.title,
            "client": self.rule.client,
            "remedy": self.rule.remedy,
            "fix": self.rule.fix,
        }


def fold(findings: Iterable[Finding]) -> list[Finding]:
    """Combine the findings of each folding rule into one: the first place, and how many there are."""
    kept: list[Finding] = []
    place: dict[tuple[str, str, Path], int] = {}
    for item in findings:
        if not item.rule.fold:
            kept.append(item)
            continue
        key = (item.code, item.severity, item.path)
        known = place.get(key)
        if known is None:
            place[key] = len(kept)
            kept.append(item)
        else:
            kept[known] = replace(kept[known], count=kept[known].count + item.count)
    return kept


def worst(findings: Iterable[Finding]) -> str | None:
    """Return the worst severity of some findings; None if there are none."""
    found = {item.severity for item in findings}
    return next((severity for severity in SEVERITIES if severity in found), None)


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


def read_watched(stream: BinaryIO) -> tuple[Transcript, dict[bytes, set[int]]]:
    """Return the rows of an open file, and the lines on which the needles stand."""
    damage: list[Damage] = []
    watched = WatchedLines(read_entry_lines(stream))
    with gc_paused():
        transcript = build_transcript(parse_row_entries(watched, damage), damage)
    transcript.lines, transcript.size = watched.lines, watched.bytes
    return transcript, watched.seen


class SessionSubject:
    """A session's main file, or the file of one of its subagents, for the rules to check. It is opened once, by `files`."""

    def __init__(self, file: SessionFile, files: OpenFiles, subagent: SubagentFile | None = None) -> None:
        self.file = file
        self.subagent = subagent
        self.path = file.path if subagent is None else subagent.path
        self._files = files
        with files.stream(self.path) as stream:
            self.transcript, self._seen = read_watched(stream)

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
        return self._files.value_at(self.path, row.offset, row.length)

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
    projects: Mapping[Path, str | None] = field(default_factory=dict)
    """The project of each session by the path of its file, as far as it was read before."""

    def project_of(self, file: SessionFile) -> str | None:
        return self.projects[file.path] if file.path in self.projects else summarise(file).project

    @cached_property
    def session_ids(self) -> Counter[str]:
        return Counter(file.session_id for file in self.scan.sessions)
