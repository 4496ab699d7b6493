"""Move rows behind their parents. Lines change places; none is changed."""

from __future__ import annotations

from typing import Final

from ..draft import Draft, Piece

NAME: Final = "order"
WORDS: Final = "put rows behind their parents"


def fix(draft: Draft) -> int:
    known = {
        piece.entry.uuid for piece in draft.pieces if piece.entry is not None and piece.is_row and piece.entry.uuid
    }
    written: set[str] = set()
    waiting: dict[str, list[Piece]] = {}
    pieces: list[Piece] = []
    moved = 0
    for piece in draft.pieces:
        entry = piece.entry
        parent = entry.parentUuid if entry is not None and piece.is_row and entry.parentUuid != entry.uuid else None
        if isinstance(parent, str) and parent in known and parent not in written:
            waiting.setdefault(parent, []).append(piece)
            moved += 1
            continue
        ready = [piece]
        while ready:
            now = ready.pop()
            pieces.append(now)
            uuid = now.entry.uuid if now.entry is not None and now.is_row else None
            if uuid:
                written.add(uuid)
                ready += reversed(waiting.pop(uuid, []))
    if waiting:  # a circle: not for this fix
        return 0
    draft.pieces = pieces
    return moved
