"""Remove the second of two identical lines."""

from __future__ import annotations

from typing import Final

from ..draft import Draft, Piece

NAME: Final = "copies"
WORDS: Final = "take out exact copies of rows"


def fix(draft: Draft) -> int:
    first: dict[str, Piece] = {}
    pieces: list[Piece] = []
    mended = 0
    for piece in draft.pieces:
        uuid = piece.entry.uuid if piece.entry is not None and piece.is_row else None
        known = first.setdefault(uuid, piece) if uuid else piece
        if known is not piece and draft.bytes_of(known) == draft.bytes_of(piece):
            draft.take_out("copy", piece)
            mended += 1
        else:
            pieces.append(piece)
            if uuid:
                first[uuid] = piece  # the client goes by the last copy
    draft.pieces = pieces
    return mended
