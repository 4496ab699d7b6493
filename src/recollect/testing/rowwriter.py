"""Write the lines of a transcript, with its clock and chain of parents: the lowest part of the transcript builder."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Self

from recollect.testing.dialect import Dialect
from recollect.testing.encoding import encode_line
from recollect.testing.identifiers import DEFAULT_START, parse_time, timestamp, uuid_from


class _Following:
    """Default of `parent`: the row written before."""

    def __repr__(self) -> str:
        return "FOLLOWING"


FOLLOWING: Final = _Following()
Parent = str | None | _Following
Entry = dict[str, Any]


class RowWriter:
    """Writes rows of one transcript, in the field order of its Claude Code version."""

    def __init__(
        self,
        session_id: str,
        cwd: str = "/home/dev/project",
        version: str = "2.1.326",
        git_branch: str = "main",
        start: str | datetime = DEFAULT_START,
        *,
        step: float = 10.0,
        entrypoint: str = "cli",
        slug: str | None = None,
        model: str | None = None,
        subagent_id: str | None = None,
        sink: list[Entry | bytes] | None = None,
    ) -> None:
        """Start a transcript. `step` is the seconds between two rows; `sink` lets a subagent write into the main file."""
        self.session_id = session_id
        self.cwd = cwd
        self.version = version
        self.dialect = Dialect(version)
        self.git_branch = git_branch
        self.start = parse_time(start)
        self.now = self.start
        self.step = step
        self.entrypoint = entrypoint
        self.slug = slug
        self.model = model or self.dialect.default_model
        self.subagent_id = subagent_id
        self.is_sidechain = subagent_id is not None
        self.head: str | None = None
        self.prompt_id = uuid_from(session_id, "prompt", 0)
        self._items: list[Entry | bytes] = [] if sink is None else sink
        self._rows: dict[str, Entry] = {}
        self._counter = 0
        self._ticked = False
        self._begin()

    def _begin(self) -> None:
        """Set up the state of a subclass, so that all share one constructor signature."""

    # -- time ---------------------------------------------------------------------------------------------------------
    def at(self, seconds: float) -> Self:
        """Move the clock to `seconds` after the start; the next row is written at that moment."""
        self.now = self.start + timedelta(seconds=seconds)
        self._ticked = False
        return self

    def wait(self, seconds: float) -> Self:
        """Let time pass before the next row, in addition to the usual step."""
        self.now += timedelta(seconds=seconds)
        return self

    def _tick(self, seconds: float | None = None) -> str:
        """Return the next row's timestamp. The first row and the first one after `at` do not advance the clock."""
        if self._ticked:
            self.now += timedelta(seconds=self.step if seconds is None else seconds)
        self._ticked = True
        return timestamp(self.now)

    # -- identity -----------------------------------------------------------------------------------------------------
    def new_uuid(self) -> str:
        self._counter += 1
        return uuid_from(self.session_id, self.subagent_id or "", self._counter)

    # -- lines --------------------------------------------------------------------------------------------------------
    def raw(self, line: bytes) -> Self:
        """Add a line unchanged, without a line feed at its end."""
        self._items.append(line)
        return self

    def line(self, **fields: Any) -> Self:
        """Add a line with exactly these fields; it is not part of the chain, whatever it holds."""
        self._emit(fields)
        return self

    def _emit(self, entry: Entry) -> Entry:
        self._items.append(entry)
        return entry

    def entry(self, uuid: str) -> Entry:
        """Return the row as a dictionary; changes to it are written."""
        return self._rows[uuid]

    @property
    def row_uuids(self) -> list[str]:
        """Return the uuids of this builder's own rows, in the order they were written."""
        return list(self._rows)

    @property
    def entries(self) -> list[Entry]:
        """Return all lines that were not given raw, in file order."""
        return [item for item in self._items if isinstance(item, dict)]

    @property
    def lines(self) -> list[bytes]:
        return [item if isinstance(item, bytes) else encode_line(item) for item in self._items]

    def to_bytes(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    # -- rows ---------------------------------------------------------------------------------------------------------
    def _envelope(self) -> Entry:
        dialect = self.dialect
        envelope: Entry = {"userType": "external"}
        if dialect.entrypoint:
            envelope["entrypoint"] = self.entrypoint
        envelope |= {"cwd": self.cwd, "sessionId": self.session_id, "version": self.version}
        if dialect.git_branch:
            envelope["gitBranch"] = self.git_branch
        if dialect.slug and self.slug is not None:
            envelope["slug"] = self.slug
        return envelope

    def _row(
        self,
        body: Entry,
        *,
        uuid: str,
        parent: Parent = FOLLOWING,
        head_fields: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
        advance: bool = True,
    ) -> str:
        """Write one row of the tree and, if `advance`, make it the parent of the next."""
        head: Entry = {"parentUuid": self.head if isinstance(parent, _Following) else parent}
        special = dict(head_fields or {})
        if "logicalParentUuid" in special:
            head["logicalParentUuid"] = special.pop("logicalParentUuid")
        head["isSidechain"] = self.is_sidechain
        subagent: Entry = {}
        # Subagents inside the main file have no id; only `isSidechain` marks them.
        if self.subagent_id is not None and self.dialect.subagent_place != "inside":
            subagent["agentId"] = self.subagent_id
        if self.dialect.envelope_last:
            entry = head | special | subagent | body | dict(extra or {}) | self._envelope()
        else:
            entry = head | self._envelope() | subagent | special | body | dict(extra or {})
        self._rows[uuid] = self._emit(entry)
        if advance:
            self.head = uuid
        return uuid
