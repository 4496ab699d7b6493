"""Clients to 1.0.0 wrote a whole answer on one line. Since 1.0.30 each block of it has a line of its own.

The last line keeps the row's uuid, so that what follows still hangs on it; the lines before get uuids derived from it.
"""

from __future__ import annotations

import uuid
from typing import Any, Final

from ....format.entries import decode_exactly
from ....format.json_edit import encode_value
from ....format.row_edit import set_in_message, set_members
from ...repair.draft import Piece, entry_of
from ..session_layout import LayoutDraft

NAME: Final = "a line for each block"
FROM: Final = "0.2.126"
TO: Final = "1.0.30"
DESCRIPTION: Final = "Give every block of an answer a line of its own."
_NAMESPACE: Final = uuid.UUID("0c2a1a39-6f0e-5d35-9a2b-5a4d7c1fd0a7")
#: What a row says of the whole answer: on one of its lines only, or sums over lines would be too high.
_ONCE: Final = ("costUSD", "durationMs")


def migrate(draft: LayoutDraft) -> int:
    pieces: list[Piece] = []
    split = 0
    for piece in draft.main.pieces:
        entry = piece.entry
        head = entry.message if entry is not None and entry.type == "assistant" else None
        if head is None or not isinstance(head.content, list) or len(head.content) < 2 or not piece.client_reads:
            pieces.append(piece)
            continue
        lines = split_blocks(draft.main.bytes_of(piece))
        if len(lines) < 2:
            pieces.append(piece)
            continue
        split += 1
        pieces += [
            Piece(piece.number, piece.start, piece.end, entry_of(line), piece.start, piece.end, data=line)
            for line in lines
        ]
    draft.main.pieces = pieces
    return split


def verify(draft: LayoutDraft) -> str | None:
    uuids = [piece.entry.uuid for piece in draft.main.pieces if piece.entry is not None and piece.is_row]
    return None if len(set(uuids)) == len(uuids) or not uuids else _repeated(draft)


def _repeated(draft: LayoutDraft) -> str | None:
    """Return the uuids that stand in the file twice. Those that did so before are no fault of this step."""
    made = [piece.entry.uuid for piece in draft.main.pieces if piece.entry is not None and piece.data is not None]
    return None if len(set(made)) == len(made) else "two lines got the same uuid"


def split_blocks(data: bytes) -> list[bytes]:
    """A line for each block of an answer's line; the line itself where it has one block, no uuid, or cannot be read."""
    value = decode_exactly(data)
    message = value.get("message") if isinstance(value, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(value, dict) or not isinstance(content, list) or len(content) < 2:
        return [data]
    own = value.get("uuid")
    if not isinstance(own, str):
        return [data]
    lines: list[bytes] = []
    parent: Any = value.get("parentUuid")
    for number, block in enumerate(content):
        is_last = number == len(content) - 1
        own_or_new = own if is_last else str(uuid.uuid5(_NAMESPACE, f"{own}/{number}"))
        if is_last:
            line = set_members(set_in_message(data, {"content": [block]}), {"parentUuid": parent})
        else:
            said = {name: item for name, item in value.items() if name not in _ONCE}
            said |= {"parentUuid": parent, "uuid": own_or_new, "message": {**(message or {}), "content": [block]}}
            line = encode_value(said)
        lines.append(line)
        parent = own_or_new
    return lines
