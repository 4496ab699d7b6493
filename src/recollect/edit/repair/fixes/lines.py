"""Put every object on a line of its own; move everything else into the side file.

Torn, glued and NUL-filled lines hide what stands on them, and so does a list around rows.
"""

from __future__ import annotations

from typing import Final

from ....format.decode import Located, parse_row_entries
from ....format.entries import GraphEntry
from ....format.line import Damage, RawLine
from ....format.row_edit import on_one_line
from ..draft import IN_THE_TEXT, Draft, Piece, between

NAME: Final = "lines"
WORDS: Final = "give every object a line of its own"


def fix(draft: Draft) -> int:
    pieces: list[Piece] = []
    mended = 0
    for piece in draft.pieces:
        if piece.broken is None:
            pieces.append(piece)
        else:
            pieces += _split(draft, piece, piece.broken)
            mended += 1
    draft.pieces = pieces
    return mended


def _split(draft: Draft, piece: Piece, found: tuple[Located[GraphEntry], ...]) -> list[Piece]:
    spans = [(item.offset, item.offset + item.length) for item in found]
    draft.fragments += between(piece, spans, draft.read)
    return [_alone(draft, piece.number, start, end) for start, end in spans]


def _alone(draft: Draft, number: int, start: int, end: int) -> Piece:
    damage: list[Damage] = []
    data = draft.read(start, end)
    found = list(parse_row_entries([RawLine(data + b"\n", start, 2)], damage))
    faults = {item.kind for item in damage} & (IN_THE_TEXT | {"nul"})
    entry = found[0].entry if len(found) == 1 else None
    reads = found[0].client_reads if len(found) == 1 else True
    return Piece(
        number, start, end, entry, start, end, client_reads=reads, alone=False, text_faults=frozenset(faults),
        data=on_one_line(data) if b"\n" in data else None,
    )  # fmt: skip
