"""Complete rows that lack a type, a uuid, or a true or false `isSidechain`."""

from __future__ import annotations

import uuid as uuids
from typing import Final

from ....format.entries import decode_loosely
from ....format.row_edit import role_of, says_side_plainly, set_members
from ....graph.rows import Row
from ..draft import Draft

NAME: Final = "identity"
WORDS: Final = "give rows their type and uuid"
_NAMESPACE: Final = uuids.UUID("5f0c1f8e-7b0e-5a52-9a3e-0f6f3b6f6c11")


def fix(draft: Draft) -> int:
    return _types(draft) + _sides(draft) + _uuids(draft)


def _types(draft: Draft) -> int:
    """Set the type of messages to their role if it is not a text."""
    mended = 0
    for place, piece in enumerate(draft.pieces):
        if piece.entry is None or piece.entry.type is not None:
            continue
        data = draft.bytes_of(piece)
        role = role_of(decode_loosely(data))
        if role is not None:
            draft.rewrite(place, set_members(data, {"type": role}))
            mended += 1
    return mended


def _sides(draft: Draft) -> int:
    """Set `isSidechain` to true or false as Claude Code understands its value."""
    mended = 0
    for place, piece in enumerate(draft.pieces):
        entry = piece.entry
        if entry is None or not piece.is_row or entry.isSidechain is not True or entry.agentId:
            continue
        data = draft.bytes_of(piece)
        if not says_side_plainly(data):
            draft.rewrite(place, set_members(data, {"isSidechain": False}))
            mended += 1
    return mended


def _uuids(draft: Draft) -> int:
    rows = draft.rows()
    known = {row.uuid for row, _ in rows if is_name(row.uuid)}
    mended = 0
    for number, (row, place) in enumerate(rows):
        if is_name(row.uuid):
            continue
        wanted = _asked_for(rows, number, known)
        if wanted is None:
            wanted = str(uuids.uuid5(_NAMESPACE, f"{draft.path.stem}/{row.line}/{row.offset}/{row.parent}"))
        known.add(wanted)
        draft.rewrite(place, set_members(draft.bytes_of(draft.pieces[place]), {"uuid": wanted}))
        mended += 1
    return mended


def is_name(uuid: str | None) -> bool:
    return bool(uuid) and uuid is not None and uuid[0] != "<"


def _asked_for(rows: list[tuple[Row, int]], number: int, known: set[str | None]) -> str | None:
    """Return the uuid that the next row names as its parent and no row has: it can only be this row's."""
    if number + 1 < len(rows):
        parent = rows[number + 1][0].parent
        if is_name(parent) and parent not in known:
            return parent
    return None
