"""Read `history.jsonl`: every prompt and slash command typed into Claude Code in a terminal, of all projects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import msgspec

from recollect.format.json_file import BOM, Fields, decode_json_file


class PastedContent(msgspec.Struct, frozen=True, kw_only=True):
    """The text behind `[Pasted text #1 +30 lines]` in `display`. A long one is in paste-cache/<content_hash>.txt."""

    key: str
    id: str | None = None
    type: str | None = None
    content: str | None = None
    content_hash: str | None = None
    extra: dict[str, Any] = {}


class HistoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the history. A damaged line is an entry with a `problem` and its bytes in `damaged`."""

    line: int
    offset: int
    display: str | None = None
    pasted: tuple[PastedContent, ...] = ()
    timestamp: datetime | None = None
    project: str | None = None
    session_id: str | None = None
    extra: dict[str, Any] = {}
    problem: str | None = None
    damaged: bytes = b""


def read_history(lines: Iterable[bytes]) -> Iterator[HistoryEntry]:
    """Yield the entries of a history file line by line, oldest first as in the file.

    Blank lines are skipped; a line with two objects on it yields both.
    """
    offset = 0
    for number, line in enumerate(lines, start=1):
        yield from parse_history_line(line, number=number, offset=offset)
        offset += len(line)


def parse_history_line(line: bytes, *, number: int = 1, offset: int = 0) -> list[HistoryEntry]:
    content = line.strip(b" \t\r\n")
    if number == 1:
        content = content.removeprefix(BOM)
    if not content:
        return []
    file = decode_json_file(content, expect=dict)
    if isinstance(file.value, dict):
        return [_entry(file.value, number, offset, file.problem, line)]
    glued = _glued_objects(content) if file.value is None else []
    if glued:
        return [_entry(value, number, offset, "two or more objects on one line", line) for value in glued]
    return [HistoryEntry(line=number, offset=offset, problem=file.problem, damaged=bytes(line))]


def _glued_objects(content: bytes) -> list[dict[str, Any]]:
    """Return the objects of a line that holds several; an empty list if any part of the line is not an object."""
    text = content.decode("utf-8", "replace")
    decoder = json.JSONDecoder()
    found: list[dict[str, Any]] = []
    position = 0
    while position < len(text):
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict):
            return []
        found.append(value)
        while position < len(text) and text[position] in " \t\r\x00":
            position += 1
    return found


def _entry(value: dict[str, Any], number: int, offset: int, problem: str | None, line: bytes) -> HistoryEntry:
    fields = Fields(value)
    pasted = fields.rest.get("pastedContents")
    contents: tuple[PastedContent, ...] = ()
    if isinstance(pasted, dict) and all(isinstance(paste, dict) for paste in pasted.values()):
        contents = tuple(
            Fields(paste).build(PastedContent, key=key) for key, paste in fields.mapping("pastedContents").items()
        )
    damaged = b"" if problem is None else bytes(line)
    return fields.build(HistoryEntry, line=number, offset=offset, pasted=contents, problem=problem, damaged=damaged)
