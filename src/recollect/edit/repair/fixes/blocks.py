"""Turn blocks of unknown types into plain text. Only on request: a newer version may know them."""

from __future__ import annotations

import json
from typing import Any, Final

from ....format.blocks import KNOWN_BLOCKS
from ....format.row_edit import change_blocks, text_block
from ..draft import Draft

NAME: Final = "blocks"
WORDS: Final = "write unknown blocks as words"


def fix(draft: Draft) -> int:
    mended = 0
    for row, place in draft.rows():
        if any(kind is not None and kind not in KNOWN_BLOCKS for kind in row.block_types):
            data = draft.bytes_of(draft.pieces[place])
            draft.rewrite(place, change_blocks(data, _in_words), keep="original")
            mended += 1
    return mended


def _in_words(block: Any) -> list[Any]:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or kind in KNOWN_BLOCKS:
        return [block]
    return [text_block(f"[Block of type {kind}] {json.dumps(block, ensure_ascii=True)}")]
