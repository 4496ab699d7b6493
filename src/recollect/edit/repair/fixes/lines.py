"""Fix lines and what each says of itself: damaged ones, text, copies, rows of other sessions, types and uuids."""

from __future__ import annotations

import uuid as uuids
from typing import Final

from ....format.decode import Located, parse_row_entries
from ....format.entries import GraphEntry, decode_loosely
from ....format.line import Damage, RawLine
from ....format.row_edit import fixed_text, on_one_line, role_of, says_side_plainly, set_members
from ....graph.rows import Row
from ....store.layout import is_session_id
from ..draft import IN_THE_TEXT, Draft, Piece, between, entry_of


def fix_lines(draft: Draft) -> int:
    """Put every object on a line of its own; move everything else into the side file.

    Torn, glued and NUL-filled lines hide what stands on them, and so does a list around rows.
    """
    pieces: list[Piece] = []
    fixed = 0
    for piece in draft.pieces:
        if piece.broken is None:
            pieces.append(piece)
        else:
            pieces += _split(draft, piece, piece.broken)
            fixed += 1
    draft.pieces = pieces
    return fixed


def _split(draft: Draft, piece: Piece, found: tuple[Located[GraphEntry], ...]) -> list[Piece]:
    spans = [(item.offset, item.offset + item.length) for item in found]
    draft.fragments += between(piece, spans, draft.read)
    return [_alone(draft, piece.number, start, end) for start, end in spans]


def _alone(draft: Draft, number: int, start: int, end: int) -> Piece:
    damage: list[Damage] = []
    data = draft.read(start, end)
    found = list(parse_row_entries([RawLine(data + b"\n", start, 2)], damage))
    faults = {item.kind for item in damage} & (IN_THE_TEXT | {"nul"})
    entry = found[0].entry if len(found) == 1 else None
    reads = found[0].client_reads if len(found) == 1 else True
    return Piece(
        number, start, end, entry, start, end, client_reads=reads, alone=False, text_faults=frozenset(faults),
        data=on_one_line(data) if b"\n" in data else None,
    )  # fmt: skip


def fix_one_line(draft: Draft) -> int:
    """Put objects that were written over several lines on one line each: for files above 5 MiB, and for older versions."""
    fixed = 0
    for place, piece in enumerate(draft.pieces):
        if piece.entry is not None and piece.lines > 1 and piece.data is None:
            draft.rewrite(place, on_one_line(draft.bytes_of(piece)))
            fixed += 1
    return fixed


def fix_text(draft: Draft) -> int:
    """Replace text that some version cannot read: bad bytes, half surrogate pairs, NULs, raw control characters, NaN."""
    fixed = 0
    for place, piece in enumerate(draft.pieces):
        if not piece.text_faults or piece.entry is None:
            continue
        old = draft.bytes_of(piece)
        new = fixed_text(old)
        if new != old and entry_of(new) is not None:
            draft.rewrite(place, new, keep="original")
            fixed += 1
    return fixed


def fix_copies(draft: Draft) -> int:
    """Remove the second of two identical lines."""
    first: dict[str, Piece] = {}
    pieces: list[Piece] = []
    fixed = 0
    for piece in draft.pieces:
        uuid = piece.entry.uuid if piece.entry is not None and piece.is_row else None
        known = first.setdefault(uuid, piece) if uuid else piece
        if known is not piece and draft.bytes_of(known) == draft.bytes_of(piece):
            draft.take_out("copy", piece)
            fixed += 1
        else:
            pieces.append(piece)
            if uuid:
                first[uuid] = piece  # Claude Code goes by the last copy
    draft.pieces = pieces
    return fixed


def fix_sessions(draft: Draft) -> int:
    """Move rows of another session that were written into this file into a file of that session. Only on request.

    Only rows on which no row of this session hangs can go: they are a conversation of their own.
    """
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


_NAMESPACE: Final = uuids.UUID("5f0c1f8e-7b0e-5a52-9a3e-0f6f3b6f6c11")


def fix_identity(draft: Draft) -> int:
    """Complete rows that lack a type, a uuid, or a true or false `isSidechain`."""
    return _types(draft) + _sides(draft) + _uuids(draft)


def _types(draft: Draft) -> int:
    """Set the type of messages to their role if it is not a text."""
    fixed = 0
    for place, piece in enumerate(draft.pieces):
        if piece.entry is None or piece.entry.type is not None:
            continue
        data = draft.bytes_of(piece)
        role = role_of(decode_loosely(data))
        if role is not None:
            draft.rewrite(place, set_members(data, {"type": role}))
            fixed += 1
    return fixed


def _sides(draft: Draft) -> int:
    """Set `isSidechain` to true or false as Claude Code understands its value."""
    fixed = 0
    for place, piece in enumerate(draft.pieces):
        entry = piece.entry
        if entry is None or not piece.is_row or entry.isSidechain is not True or entry.agentId:
            continue
        data = draft.bytes_of(piece)
        if not says_side_plainly(data):
            draft.rewrite(place, set_members(data, {"isSidechain": False}))
            fixed += 1
    return fixed


def _uuids(draft: Draft) -> int:
    rows = draft.rows()
    known = {row.uuid for row, _ in rows if is_name(row.uuid)}
    fixed = 0
    for number, (row, place) in enumerate(rows):
        if is_name(row.uuid):
            continue
        wanted = _asked_for(rows, number, known)
        if wanted is None:
            wanted = str(uuids.uuid5(_NAMESPACE, f"{draft.path.stem}/{row.line}/{row.offset}/{row.parent}"))
        known.add(wanted)
        draft.rewrite(place, set_members(draft.bytes_of(draft.pieces[place]), {"uuid": wanted}))
        fixed += 1
    return fixed


def is_name(uuid: str | None) -> bool:
    return bool(uuid) and uuid is not None and uuid[0] != "<"


def _asked_for(rows: list[tuple[Row, int]], number: int, known: set[str | None]) -> str | None:
    """Return the uuid that the next row names as its parent and no row has: it can only be this row's."""
    if number + 1 < len(rows):
        parent = rows[number + 1][0].parent
        if is_name(parent) and parent not in known:
            return parent
    return None
