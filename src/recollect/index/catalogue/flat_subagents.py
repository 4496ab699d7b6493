"""Find the session of a subagent's transcript that lies beside its session's file (Claude Code 2.0.28 to 2.1.8).

It is the first session that the lines of the transcript name. Every stage and the readers of the store
(`session_named_in`) follow this one rule, so a transcript belongs to one session however it grew or was moved.
"""

from __future__ import annotations

import os
from typing import BinaryIO, Final

from .catalogue import Catalogue
from .tracking import FileChange, read_at

_HEAD: Final = 1 << 14
"""Bytes that usually hold the whole first line, which names the session in every file that Claude Code wrote."""


def note_owner(catalogue: Catalogue, change: FileChange, stream: BinaryIO) -> None:
    """Record the session of a subagent's transcript that was just opened, if its path does not name the session."""
    if change.kind != "subagent" or change.session_id is not None:
        return
    change.session_id = _first_named(stream, change.size)
    catalogue.connection.execute("UPDATE files SET session_id = ? WHERE id = ?", (change.session_id, change.file_id))


def _first_named(stream: BinaryIO, size: int) -> str | None:
    from ...format.entries import REFUSED  # imported here: most homes have no such files
    from ..api_calls.decode import decode_call_line

    head = read_at(stream, 0, min(_HEAD, size))
    try:
        named = decode_call_line(head[: head.find(b"\n") + 1]).sessionId
    except REFUSED:
        named = None
    return named or _named_further_on(stream, size)


def _named_further_on(stream: BinaryIO, size: int) -> str | None:
    from ...format.decode import parse_lines
    from ...format.line import read_entry_lines
    from ..words.searchable_text import clean_entry

    position = stream.tell()
    try:
        with os.fdopen(os.dup(stream.fileno()), "rb") as lines:
            lines.seek(0)
            for item in parse_lines(read_entry_lines(lines), []):
                if item.offset >= size:
                    return None
                if item.entry.sessionId:
                    return str(clean_entry(item.entry.sessionId))
    finally:
        stream.seek(position)  # the duplicated descriptor shares its position
    return None
