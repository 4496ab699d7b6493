"""Objects that were written over several lines, each on one line: for files above 5 MiB, and for older clients."""

from __future__ import annotations

import re
from typing import Final

from ..draft import Draft

NAME: Final = "one-line"
WORDS: Final = "put objects that go over several lines on one line"
_BLANK: Final = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\r\n]+', re.DOTALL)


def fix(draft: Draft) -> int:
    mended = 0
    for place, piece in enumerate(draft.pieces):
        if piece.entry is not None and piece.lines > 1 and piece.data is None:
            draft.rewrite(place, on_one_line(draft.bytes_of(piece)))
            mended += 1
    return mended


def on_one_line(data: bytes) -> bytes:
    """An object without the blanks between its parts, as the client writes it: old ones look for the spelling."""
    return _BLANK.sub(lambda match: match[1] or b"", data)
