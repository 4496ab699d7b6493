"""Since 2.1.70 a small file beside a subagent's transcript says what it is and which call started it."""

from __future__ import annotations

from typing import Any, Final

from ....format.subagent_meta import call_input, subagent_meta_bytes
from ....graph.subagents import Subagent
from ....store.read import EntryBytes
from ..session_layout import LayoutDraft

NAME: Final = "descriptions of subagents"
FROM: Final = "2.1.9"
TO: Final = "2.1.70"
DESCRIPTION: Final = "Write down for every subagent what it is and which call started it."


def migrate(draft: LayoutDraft) -> int:
    known = {subagent.subagent_id: subagent for subagent in draft.subagents}
    written = 0
    for item in draft.file.subagents:
        subagent = known.get(item.subagent_id)
        if item.meta_path is not None or subagent is None or subagent.tool_use_id is None:
            continue
        place = draft.moved.get(item.path, item.path)
        draft.written[place.with_suffix(".meta.json")] = [described(draft, subagent)]
        written += 1
    return written


def verify(draft: LayoutDraft) -> str | None:
    there = [path.name for path in draft.written if path.name.endswith(".meta.json") and path.exists()]
    return f"there is a {there[0]} already" if there else None


def described(draft: LayoutDraft, subagent: Subagent) -> bytes:
    """Return what the call that started a subagent says of it."""
    for piece in draft.main.pieces:
        head = piece.entry.message if piece.entry is not None and piece.entry.type == "assistant" else None
        blocks = head.content if head is not None and isinstance(head.content, list) else []
        if any(block.id == subagent.tool_use_id for block in blocks):
            given = call_input(draft.main.bytes_of(piece), subagent.tool_use_id or "")
            break
    else:
        given = _in_other_subagents(draft, subagent)
    return subagent_meta_bytes(given, subagent.tool_use_id, subagent.parent_subagent)


def _in_other_subagents(draft: LayoutDraft, subagent: Subagent) -> dict[str, Any]:
    """Return the input of a call that another subagent made."""
    for other in draft.subagents:
        for row in other.rows:
            if row.file and any(ident == subagent.tool_use_id for ident, _ in row.tool_uses):
                with EntryBytes(draft.file.subagents[row.file - 1].path, draft.file.home) as source:
                    return call_input(source.bytes_at(row.offset, row.length), subagent.tool_use_id or "")
    return {}
