"""Give every row a time, and the last row of the conversation the latest: versions before 2.1 find it by that."""

from __future__ import annotations

from typing import Final

from ....format.row_edit import set_members
from ....format.times import LATEST, to_iso
from ....graph.thread import LIVE, PRECOMPACT
from ..draft import Draft

NAME: Final = "times"
WORDS: Final = "give rows a time"
_TICK: Final = 0.001


def fix(draft: Draft) -> int:
    return _missing(draft) + _end(draft)


def _missing(draft: Draft) -> int:
    rows = [(row, place) for row, place in draft.rows() if row.type != "progress"]
    following = next((row.time for row, _ in rows if row.time is not None), 0.0)
    mended = 0
    for row, place in rows:
        if row.time is not None:
            following = row.time
            continue
        data = draft.bytes_of(draft.pieces[place])
        draft.rewrite(place, set_members(data, {"timestamp": to_iso(following)}))
        mended += 1
    return mended


def _end(draft: Draft) -> int:
    thread = draft.thread()
    leaf = thread.leaf
    if leaf is None:
        return 0
    rows = draft.rows()
    end = next(((row, place) for row, place in reversed(rows) if row.uuid == leaf), None)
    newest = 0.0
    for row, _ in rows:
        if end is None or row.uuid == leaf or (row.message_id and row.message_id == end[0].message_id):
            continue
        if row.is_message and row.time is not None and thread.placements[row.index].status in (LIVE, PRECOMPACT):
            newest = max(newest, row.time)
    if end is None or end[0].time is None or end[0].time > newest or newest >= LATEST:
        return 0
    data = draft.bytes_of(draft.pieces[end[1]])
    draft.rewrite(end[1], set_members(data, {"timestamp": to_iso(newest + _TICK)}))
    return 1
