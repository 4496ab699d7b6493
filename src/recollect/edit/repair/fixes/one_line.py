"""Put objects that were written over several lines on one line each: for files above 5 MiB, and for older versions."""

from __future__ import annotations

from typing import Final

from ....format.row_edit import on_one_line
from ..draft import Draft

NAME: Final = "one-line"
WORDS: Final = "put objects that go over several lines on one line"


def fix(draft: Draft) -> int:
    mended = 0
    for place, piece in enumerate(draft.pieces):
        if piece.entry is not None and piece.lines > 1 and piece.data is None:
            draft.rewrite(place, on_one_line(draft.bytes_of(piece)))
            mended += 1
    return mended
