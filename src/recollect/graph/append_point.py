"""Where the next message hangs, so that the client resumes with it and with everything before it.

In a sound file that is the end of the conversation. Rows in circles, the same uuid twice, or a checkpoint on a row that the
client cannot end on may hide what hangs there; so the file is resumed with such a message before one is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ..format.times import to_iso
from .client_state import load_as_client
from .rows import Row, Transcript
from .thread import Thread, find_thread

_TRIED: Final = "the message that is tried"
"""Its name: no uuid of any file."""


class AppendPoint(NamedTuple):
    """The row that the next message hangs on; None where it begins the conversation."""

    parent: str | None
    is_read: bool
    """Whether the client would resume with the message, and with what it resumes with now."""


def append_point(transcript: Transcript, moment: float) -> AppendPoint:
    """The first place that will do for a message of that moment; without one, the end of the conversation."""
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
    if not thread.cleared:  # a row without a time is no end for the client, but one above a later message
        state = load_as_client(transcript)
        for uuid in (state.checkpoint, state.last_row):
            if uuid is not None and uuid in state.rows and not state.rows[uuid].sidechain:
                yield uuid
    yield None


def last_row_to_append_to(thread: Thread) -> str | None:
    """The end of the conversation; None where there is none.

    That is its last row, but results of parallel calls that the client puts back behind the leaf are no descendants of it: below
    one of them a message would not be found, since a checkpoint stands until something below its own row follows.
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
