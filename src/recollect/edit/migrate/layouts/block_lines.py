"""Clients to 1.0.0 wrote a whole answer on one line. Since 1.0.30 each block of it has a line of its own.

The last line keeps the row's uuid, so that what follows still hangs on it; the lines before get uuids derived from it.
"""

from __future__ import annotations

from typing import Final

from ....format.block_split import split_blocks
from ...repair.draft import Piece, entry_of
from ..session_layout import LayoutDraft

NAME: Final = "a line for each block"
FROM: Final = "0.2.126"
TO: Final = "1.0.30"
DESCRIPTION: Final = "Give every block of an answer a line of its own."


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
