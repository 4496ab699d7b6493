"""A sheet of paper to write a small session file on, row by row.

Rows have short names ("U1", "A1", ...) that are also their texts; their uuids are made from the names. A row hangs
on the row written before it and is thirty seconds later, unless told otherwise: too far apart for the client's five-
second repairs.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from tests.compat.agreement import Transcript
from tests.compat.wire import Block, content_blocks

Json = dict[str, Any]

NAMES = uuid.UUID("5f0c6f5e-3d0e-4f57-9a55-d3a2c0d1e4b7")
NIL = "00000000-0000-0000-0000-000000000000"
MODEL = "claude-opus-5-5"
"""The model that client 2.1.326 uses by itself: it sends thoughts back only to the model that had them."""
START = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


class Marker:
    """A parent that is not a name."""


LAST: Final = Marker()
"""Hang on the row that was written before."""
ABSENT: Final = Marker()
"""No such key at all."""

Parent = str | None | Marker


def row_uuid(name: str) -> str:
    return str(uuid.uuid5(NAMES, name))


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def encoded_folder(cwd: Path) -> str:
    """The name of the project's folder; the paths of tests are short and plain."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in str(cwd))


@dataclass
class Sheet:
    session: str
    cwd: str
    lines: list[Json | bytes] = field(default_factory=list)
    contents: dict[str, tuple[Block, ...]] = field(default_factory=dict)
    clock: datetime = START
    last: str | None = None

    # -- rows of the tree ---------------------------------------------------------------------------------------------
    def row(self, kind: str, name: str, *, parent: Parent = LAST, gap: float = 30.0, **fields: Any) -> str:
        """Write one row; a field given as ABSENT is left out."""
        self.clock += timedelta(seconds=gap)
        ident = row_uuid(name)
        above = self.last if parent is LAST else row_uuid(parent) if isinstance(parent, str) else parent
        line: Json = {
            "parentUuid": above,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": "2.1.326",
            "gitBranch": "main",
            "type": kind,
            **fields,
        }
        line.setdefault("uuid", ident)
        line.setdefault("timestamp", stamp(self.clock))
        line = {key: value for key, value in line.items() if value is not ABSENT}
        self.lines.append(line)
        ident = line.get("uuid", ident)
        self.last = ident
        message = line.get("message")
        if isinstance(message, dict):
            self.contents[str(ident)] = tuple(content_blocks(kind, message.get("content")))
        return str(ident)

    def user(self, name: str, content: Any = None, **fields: Any) -> str:
        message = {"role": "user", "content": name if content is None else content}
        return self.row("user", name, **{"message": message, **fields})

    def assistant(self, name: str, content: Any = None, *, message_id: str | None = None, **fields: Any) -> str:
        message = {
            "id": message_id or f"msg_{name}",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [{"type": "text", "text": name}] if content is None else content,
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return self.row("assistant", name, **{"message": message, "requestId": f"req_{message['id']}", **fields})

    def turn(self, number: int, **fields: Any) -> None:
        self.user(f"U{number}", **fields)
        self.assistant(f"A{number}", **{key: value for key, value in fields.items() if key != "parent"})

    def turns(self, *numbers: int) -> None:
        for number in numbers:
            self.turn(number)

    def call(self, name: str, *tools: str, **fields: Any) -> str:
        """An assistant row with one or more tool calls."""
        return self.assistant(name, [tool_use(tool) for tool in tools], **fields)

    def result(self, name: str, *tools: str, **fields: Any) -> str:
        return self.user(name, [tool_result(tool) for tool in tools], **{"toolUseResult": {"stdout": name}, **fields})

    def system(self, name: str, subtype: str = "informational", **fields: Any) -> str:
        return self.row("system", name, **{"subtype": subtype, "content": name, "level": "info", **fields})

    def attachment(self, name: str, **fields: Any) -> str:
        return self.row("attachment", name, **{"attachment": {"type": "date_change", "newDate": name}, **fields})

    def progress(self, name: str, **fields: Any) -> str:
        data = {"type": "bash_progress", "output": name}
        return self.row("progress", name, **{"data": data, "toolUseID": "t", "parentToolUseID": "t", **fields})

    def error(self, name: str, **fields: Any) -> str:
        """The row that the client writes for itself when the API fails."""
        given: Json = {"isApiErrorMessage": True, "error": "invalid_request", "apiErrorStatus": 400, **fields}
        ident = self.assistant(name, **given)
        line = self.lines[-1]
        assert isinstance(line, dict)
        line["message"]["model"] = "<synthetic>"
        return ident

    # -- compaction ---------------------------------------------------------------------------------------------------
    def boundary(self, name: str, *, parent: Parent = None, metadata: Json | None = None, **fields: Any) -> str:
        before = self.last
        details = {"trigger": "manual", "preTokens": 600, **(metadata or {})}
        given: Json = {"logicalParentUuid": before, "compactMetadata": details, **fields}
        return self.system(name, "compact_boundary", parent=parent, **given)

    def summary(self, name: str, **fields: Any) -> str:
        return self.user(name, **{"isCompactSummary": True, "isVisibleInTranscriptOnly": True, **fields})

    # -- state lines --------------------------------------------------------------------------------------------------
    def state(self, kind: str, **fields: Any) -> None:
        self.lines.append({"type": kind, **fields, "sessionId": self.session})

    def checkpoint(self, leaf: str | Marker | None, **fields: Any) -> None:
        """A ``last-prompt`` line that names a row (by its name here) as the end of the conversation."""
        value: Json = {} if isinstance(leaf, Marker) else {"leafUuid": leaf and row_uuid(leaf)}
        self.state("last-prompt", lastPrompt="the last prompt", **{**value, **fields})

    # -- damage -------------------------------------------------------------------------------------------------------
    def raw(self, data: bytes) -> None:
        """Bytes as they are, line feed and all."""
        self.lines.append(data)

    def spoil(self, change: Callable[[bytes], bytes], index: int = -1) -> None:
        """Replace the bytes of a line (without its line feed, which must be given back if wanted)."""
        self.lines[index] = change(line_bytes(self.lines[index]))

    def edit(self, change: Callable[[Json], None], index: int = -1) -> None:
        line = self.lines[index]
        assert isinstance(line, dict)
        change(line)

    def says(self, name: str, text: str) -> None:
        """What the client reads out of a row whose bytes were spoiled."""
        self.contents[row_uuid(name)] = (Block("user", "text", text),)

    def data(self) -> bytes:
        return b"".join(line_bytes(line) for line in self.lines)


def line_bytes(line: Json | bytes) -> bytes:
    if isinstance(line, bytes):
        return line
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"


def tool_use(name: str) -> Json:
    return {"type": "tool_use", "id": f"toolu_{name}", "name": "Bash", "input": {"command": f"echo {name}"}}


def tool_result(name: str) -> Json:
    return {"type": "tool_result", "tool_use_id": f"toolu_{name}", "content": f"result of {name}"}


@dataclass(frozen=True)
class Case:
    """A finished session file, with what each row says."""

    name: str
    shows: str
    session: str
    data: bytes
    contents: dict[str, tuple[Block, ...]]

    def transcript(self) -> Transcript:
        """What the rows say; the damaged ones as they were before the damage."""
        transcript = Transcript(self.data.split(b"\n"))
        transcript.contents = self.contents
        return transcript


Builder = Callable[[Sheet], None]


def build_case(name: str, builder: Builder, cwd: str) -> Case:
    session = str(uuid.uuid5(NAMES, "session " + name))
    sheet = Sheet(session, cwd)
    builder(sheet)
    return Case(name, " ".join((builder.__doc__ or "").split()), session, sheet.data(), dict(sheet.contents))


def builders_of(module: object) -> dict[str, Builder]:
    """The public functions of a module that take a sheet, by their names with dashes."""
    found = {}
    for name, value in vars(module).items():
        annotations = getattr(value, "__annotations__", {})
        if not name.startswith("_") and annotations.get("return") == "None" and list(annotations)[:1] == ["s"]:
            found[name.replace("_", "-")] = value
    return found


def swap(items: list[Any], one: int, two: int) -> None:
    items[one], items[two] = items[two], items[one]


def reorder(sheet: Sheet, order: Sequence[int]) -> None:
    sheet.lines[:] = [sheet.lines[index] for index in order]
