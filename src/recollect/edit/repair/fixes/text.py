"""Replace text that some version cannot read: bad bytes, half surrogate pairs, NULs, raw control characters, NaN."""

from __future__ import annotations

from typing import Final

from ....format.row_edit import mended_text
from ..draft import Draft, entry_of

NAME: Final = "text"
WORDS: Final = "write text that every client reads"


def fix(draft: Draft) -> int:
    mended = 0
    for place, piece in enumerate(draft.pieces):
        if not piece.text_faults or piece.entry is None:
            continue
        old = draft.bytes_of(piece)
        new = mended_text(old)
        if new != old and entry_of(new) is not None:
            draft.rewrite(place, new, keep="original")
            mended += 1
    return mended
