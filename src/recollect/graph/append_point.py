"""Find the parent for the next message, so that Claude Code resumes with that message and with everything before it.

In a sound file the parent is the end of the conversation. Circles of parents, a uuid that occurs twice, or a checkpoint on a
row on which Claude Code cannot end may hide a message that is appended there. Each candidate is therefore tested before
anything is written: the transcript is resumed in memory with a trial message below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ..format.times import to_iso
from .client_state import load_as_client
from .rows import Row, Transcript
from .thread import Thread, find_thread

_TRIED: Final = "the message that is tried"
"""The uuid of the trial message. It is not a valid uuid, so no row of a file has it."""


class AppendPoint(NamedTuple):
    """The parent of the next message, and whether Claude Code would read the message there."""

    parent: str | None
    """The uuid of the parent row; None where the next message begins the conversation."""
    is_read: bool
    """Whether Claude Code would resume with the message and with every message that it resumes with now."""


def append_point(transcript: Transcript, moment: float) -> AppendPoint:
    """Return the first parent below which Claude Code would read a message written at `moment`.

    Without such a parent, return the first candidate (the end of the conversation) with `is_read` False.
    """
    thread = find_thread(transcript)
    tried: dict[str | None, None] = {}
    for parent in _places(transcript, thread):
        if parent not in tried:
            if _is_read(transcript, thread, parent, moment):
                return AppendPoint(parent, True)
            tried[parent] = None
    return AppendPoint(next(iter(tried)), False)


def _places(transcript: Transcript, thread: Thread) -> Iterator[str | None]:
    if thread.leaf is not None:
        yield last_row_to_append_to(thread)
        yield thread.leaf
        yield thread.chain[-1].uuid if thread.chain else None
        return
    if not thread.cleared:  # Claude Code cannot end on a row without a time, but a later message can hang on it
        state = load_as_client(transcript)
        for uuid in (state.checkpoint, state.last_row):
            if uuid is not None and uuid in state.rows and not state.rows[uuid].sidechain:
                yield uuid
    yield None


def last_row_to_append_to(thread: Thread) -> str | None:
    """Return the uuid of the last row of the thread that is the leaf or descends from it; None where the thread is empty.

    The last row of the thread may be the result of a parallel call, which Claude Code puts back behind the leaf although it
    does not descend from it. A message below such a result would not be found, because a checkpoint counts until a row
    that descends from the checkpoint's row follows.
    """
    if not thread.chain:
        return thread.leaf
    above = {row.uuid: row.parent for row in thread.chain}
    last = place = thread.chain[-1].uuid
    while place is not None and place != thread.leaf:
        place = above.pop(place, None)
    return last if place is not None else thread.leaf


def _is_read(transcript: Transcript, thread: Thread, parent: str | None, moment: float) -> bool:
    message = Row(len(transcript.rows), 0, 0, 0, "user", _TRIED, parent, to_iso(moment), False)
    after = find_thread(transcript.with_rows([*transcript.rows, message], transcript.states, transcript.size))
    if after.leaf != _TRIED:
        return False
    now = {row.index for row in after.chain}
    return all(row.index in now for row in thread.chain if row.is_message)
