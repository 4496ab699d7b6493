"""Remove thoughts without a signature: the API refuses them, on this turn and on every later one."""

from __future__ import annotations

from typing import Any, Final

from ....format.entries import decode_exactly
from ....format.row_edit import change_blocks, is_unsigned_thought, text_block, unsigned_thoughts
from ....graph.thread import LIVE
from ..draft import Draft

NAME: Final = "thinking"
WORDS: Final = "take out thoughts that the API refuses"
#: What the client itself says where nothing is left of a message.
NOTHING: Final = "(no content)"


def fix(draft: Draft) -> int:
    placements = draft.thread().placements
    mended = 0
    for row, place in draft.rows():
        if "thinking" not in row.block_types or placements[row.index].status != LIVE:
            continue
        data = draft.bytes_of(draft.pieces[place])
        value = decode_exactly(data)
        if not isinstance(value, dict) or not unsigned_thoughts(value):
            continue
        left = len(row.block_types) - len(unsigned_thoughts(value))

        def without(block: Any, left: int = left) -> list[Any]:
            if not is_unsigned_thought(block):
                return [block]
            return [] if left else [text_block(NOTHING)]

        draft.rewrite(place, change_blocks(data, without), keep="original")
        mended += 1
    return mended
