"""Every object on a line of its own; what is no object leaves the file and is kept beside it.

Torn, glued and NUL-filled lines hide what stands on them. Objects that were spread over several lines, as a pretty printer
writes them, are put on one line again.
"""

from __future__ import annotations

import json
import re
from typing import Final

from ....format.decode import Located, parse_row_entries
from ....format.line import Damage, RawLine
from ....format.row_entry import RowEntry
from ....format.salvage import salvage_line
from ..draft import IN_THE_TEXT, Draft, Fragment, Piece, between, entry_of

NAME: Final = "lines"
WORDS: Final = "give every object a line of its own"
_JOINED_LIMIT: Final = 32 << 20
_BLANK: Final = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\r\n]+', re.DOTALL)


def fix(draft: Draft) -> int:
    pieces: list[Piece] = []
    run: list[Piece] = []
    mended = 0
    for piece in draft.pieces:
        if piece.broken is not None and not piece.broken:
            run.append(piece)
            mended += 1
            continue
        pieces += _end_run(draft, run)
        run = []
        if piece.broken is None:
            pieces.append(piece)
        else:
            pieces += _split(draft, piece, piece.broken)
            mended += 1
    pieces += _end_run(draft, run)
    draft.pieces = pieces
    return mended


def _split(draft: Draft, piece: Piece, found: tuple[Located[RowEntry], ...]) -> list[Piece]:
    spans = [(item.offset, item.offset + item.length) for item in found]
    draft.fragments += between(piece, spans, draft.read)
    return [_alone(draft, piece.number, start, end) for start, end in spans]


def _alone(draft: Draft, number: int, start: int, end: int) -> Piece:
    damage: list[Damage] = []
    found = list(parse_row_entries([RawLine(draft.read(start, end) + b"\n", start, 2)], damage))
    faults = {item.kind for item in damage} & (IN_THE_TEXT | {"nul"})
    entry = found[0].entry if len(found) == 1 else None
    reads = found[0].client_reads if len(found) == 1 else True
    return Piece(number, start, end, entry, start, end, client_reads=reads, alone=False, text_faults=frozenset(faults))


def _end_run(draft: Draft, run: list[Piece]) -> list[Piece]:
    """Lines without any object: perhaps the lines of one that was spread over them."""
    if not run:
        return []
    joined: list[Piece] = []
    if len(run) > 1 and run[-1].end - run[0].start <= _JOINED_LIMIT:
        joined = _join(draft, run)
    if not joined:
        for piece in run:
            draft.fragments += between(piece, [], draft.read)
    return joined


def _join(draft: Draft, run: list[Piece]) -> list[Piece]:
    start = run[0].start
    data = draft.read(start, run[-1].end)
    found = []
    for item in salvage_line(RawLine(data, start, 2)).found:
        text = data[item.start : item.end]
        try:
            json.loads(text)  # strictly: a string that runs over a line end was torn, not spread
        except (ValueError, RecursionError):
            continue
        if item.entry.type is not None:
            found.append((item.start, item.end, text))
    pieces: list[Piece] = []
    place = 0
    for begin, end, text in found:
        _keep(draft, run[0].number, start + place, data[place:begin])
        line = _BLANK.sub(
            lambda match: match[1] or b"", text
        )  # as the client writes it: old ones look for the spelling
        pieces.append(
            Piece(run[0].number, start + begin, start + end, entry_of(line), start + begin, start + end, data=line)
        )
        place = end
    if pieces:
        _keep(draft, run[-1].number, start + place, data[place:])
    return pieces


def _keep(draft: Draft, number: int, offset: int, data: bytes) -> None:
    if data.strip():
        draft.fragments.append(Fragment("fragment", number, offset, data.strip()))
