"""Move rows of another session that were written into this file into a file of that session. Only on request.

Only rows on which no row of this session hangs can go: they are a conversation of their own.
"""

from __future__ import annotations

from typing import Final

from ....store.layout import is_session_id
from ..draft import Draft, Piece

NAME: Final = "sessions"
WORDS: Final = "part rows of two sessions"


def fix(draft: Draft) -> int:
    own = draft.path.stem
    of: dict[str, list[Piece]] = {}
    owner: dict[str, str] = {}
    for piece in draft.pieces:
        named = piece.entry.sessionId if piece.entry is not None and piece.is_row else None
        if named:
            of.setdefault(named, []).append(piece)
            if piece.entry is not None and piece.entry.uuid:
                owner[piece.entry.uuid] = named
    leaving: set[str] = set()
    for other in of:
        target = draft.path.with_name(f"{other}.jsonl")
        if other == own or own not in of or not is_session_id(other) or target.exists():
            continue
        hangs = any(
            piece.entry is not None and isinstance(piece.entry.parentUuid, str)
            and owner.get(piece.entry.parentUuid) == other
            for name, pieces in of.items() if name != other for piece in pieces
        )  # fmt: skip
        if not hangs:
            draft.beside[target] = [draft.bytes_of(piece) + b"\n" for piece in of[other]]
            leaving.add(other)
    moved = sum(len(of[other]) for other in leaving)
    draft.pieces = [
        piece
        for piece in draft.pieces
        if piece.entry is None or not piece.is_row or (piece.entry.sessionId or own) not in leaving
    ]
    return moved
