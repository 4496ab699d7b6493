"""Replace each picture that the API refuses by a line of text."""

from __future__ import annotations

from typing import Any, Final

from ....format.entries import decode_exactly
from ....format.row_edit import change_blocks, refused_image, refused_images, text_block
from ..draft import Draft

NAME: Final = "images"
WORDS: Final = "put words in place of pictures that are too large"
_MARK: Final = b'"image/'


def fix(draft: Draft) -> int:
    mended = 0
    for row, place in draft.rows():
        if not row.is_message or row.length < 1000:
            continue
        data = draft.bytes_of(draft.pieces[place])
        if _MARK not in data:
            continue
        value = decode_exactly(data)
        if isinstance(value, dict) and refused_images(value):
            draft.rewrite(place, change_blocks(data, _in_words), keep="original")
            mended += 1
    return mended


def _in_words(block: Any) -> list[Any]:
    if not isinstance(block, dict):
        return [block]
    words = refused_image(block)
    if words is not None:
        return [text_block(f"[Picture taken out, too large to be sent: {words}]")]
    inner = block.get("content") if block.get("type") == "tool_result" else None
    if isinstance(inner, list):
        return [block | {"content": [new for item in inner for new in _in_words(item)]}]
    return [block]
