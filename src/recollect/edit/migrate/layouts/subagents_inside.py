"""Clients to 2.0.26 wrote the lines of subagents into the main file. Since 2.1.9 each has a file in `<session>/subagents/`."""

from __future__ import annotations

import hashlib
from typing import Final

from ....format.row_edit import set_members
from ....store.layout import meta_of, subagent_name
from ..session_layout import LayoutDraft
from .subagent_meta import described

NAME: Final = "subagents out of the main file"
FROM: Final = "2.0.26"
TO: Final = "2.1.9"
DESCRIPTION: Final = "Give every subagent whose lines stand in the main file a file of its own."


def migrate(draft: LayoutDraft) -> int:
    inside = [subagent for subagent in draft.subagents if subagent.layout == "inside"]
    if not inside:
        return 0
    owner = {(row.line, row.offset): subagent for subagent in inside for row in subagent.rows}
    names = {subagent.subagent_id: _own_id(subagent.subagent_id, draft.file.session_id) for subagent in inside}
    lines: dict[str, list[bytes]] = {names[subagent.subagent_id]: [] for subagent in inside}
    seen: dict[str, set[str]] = {name: set() for name in lines}
    kept = []
    for piece in draft.main.pieces:
        subagent = (
            owner.get((piece.number, piece.object_start)) if piece.entry is not None and piece.data is None else None
        )
        if subagent is None and piece.entry is not None and piece.is_row and piece.entry.isSidechain:
            # A line that a step before has split: it goes where the line before it went.
            subagent = next(
                (item for item in inside if item.rows and piece.number in {row.line for row in item.rows}), None
            )
        if subagent is None or piece.entry is None:
            kept.append(piece)
            continue
        name = names[subagent.subagent_id]
        values: dict[str, object] = {"agentId": name}
        parent = piece.entry.parentUuid
        if isinstance(parent, str) and parent not in seen[name]:
            values["parentUuid"] = (
                None  # what it hung on stays in the main file: the description says which call it was
            )
        if piece.entry.uuid:
            seen[name].add(piece.entry.uuid)
        lines[name].append(set_members(draft.main.bytes_of(piece), values) + b"\n")
    draft.main.pieces = kept
    for subagent in inside:
        name = names[subagent.subagent_id]
        path = draft.subagent_folder / subagent_name(name)
        draft.written[path] = lines[name]
        draft.written[meta_of(path)] = [described(draft, subagent)]
    return len(inside)


def verify(draft: LayoutDraft) -> str | None:
    left = sum(1 for piece in draft.main.pieces if piece.is_row and piece.entry is not None and piece.entry.isSidechain)
    if left and any(subagent.layout == "inside" for subagent in draft.subagents):
        return f"{left} lines of subagents are still in the main file"
    return None


def _own_id(subagent_id: str, session_id: str) -> str:
    """Return a subagent's id as Claude Code makes them; lines without one get the same one each time."""
    if subagent_id.startswith("sidechain-") or not subagent_id.isalnum():
        return "a" + hashlib.sha256(f"{session_id}/{subagent_id}".encode()).hexdigest()[:16]
    return subagent_id
