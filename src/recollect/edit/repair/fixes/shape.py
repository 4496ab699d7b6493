"""Bring messages into the shape that all versions know: with role and model, an answer as a list of blocks."""

from __future__ import annotations

from typing import Any, Final

from ....format.encode import DEFAULT_MODEL
from ....format.entries import decode_exactly
from ....format.row_edit import content_blocks, set_in_message, text_block
from ..draft import Draft

NAME: Final = "shape"
WORDS: Final = "give messages the shape that all clients know"


def fix(draft: Draft) -> int:
    mended = 0
    model: str | None = None
    for place, piece in enumerate(draft.pieces):
        entry = piece.entry
        if entry is None or entry.type not in ("user", "assistant") or entry.message is None:
            continue
        head = entry.message
        if entry.type == "assistant" and head.model:
            model = head.model
        values: dict[str, Any] = {}
        if entry.type == "assistant":
            if not head.model:
                values["model"] = model or DEFAULT_MODEL
            if isinstance(head.content, str) and head.content.strip():
                values["content"] = [text_block(head.content)]
        data = draft.bytes_of(piece)
        if f'"role":"{entry.type}"'.encode() not in data:
            whole = decode_exactly(data)
            message = whole.get("message") if isinstance(whole, dict) else None
            if isinstance(message, dict) and message.get("role") != entry.type:
                values["role"] = entry.type
        keep = None
        if isinstance(head.content, list) and any(block.type is None for block in head.content):
            plain = _only_objects(data)
            if plain is not None:
                values["content"], keep = plain, "original"
        if values:
            draft.rewrite(place, set_in_message(data, values), keep=keep)
            mended += 1
    return mended


def _only_objects(data: bytes) -> list[Any] | None:
    """Return the blocks of a message that are objects; None if all are. 2.0.77 crashes on any other."""
    value = decode_exactly(data)
    blocks = content_blocks(value) if isinstance(value, dict) else []
    kept = [block for block in blocks if isinstance(block, dict)]
    if len(kept) == len(blocks):
        return None
    return kept or [text_block("(no content)")]
