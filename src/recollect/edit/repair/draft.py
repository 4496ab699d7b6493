"""Hold a transcript while it is repaired: its pieces in order, with their old or new bytes.

Pieces are never changed, only replaced, so that a list of them is a state to return to. Bytes that stay are not
held in memory: they are copied from the file when the new one is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from ...format.decode import Located, parse_row_entries
from ...format.entries import ROW_TYPES, GraphEntry
from ...format.line import HARMLESS, Damage, RawLine, read_entry_lines
from ...graph.rows import Row, Transcript, build_transcript
from ...graph.thread import Thread, find_thread
from ...store.home import Home
from ...store.read import OpenFiles

CHUNK: Final = 1 << 20
NUL_ESCAPE: Final = b"\\u0000"
#: Damage to the words of a line whose object is whole.
IN_THE_TEXT: Final = frozenset({"encoding", "surrogate", "control-character", "nonstandard-number"})
_WHOLE: Final = HARMLESS | IN_THE_TEXT | {"too-deep", "several-lines-unread"}
_INK: Final = re.compile(rb"[^ \t\r\n]")


@dataclass(frozen=True, slots=True)
class Fragment:
    """Bytes that are removed from the file, with the reason and their place."""

    why: str
    line: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Piece:
    """One line, or bytes that are not a line. `start` and `end` are its offsets in the file, with the line ending."""

    number: int
    start: int
    end: int
    entry: GraphEntry | None = None
    """None for blank lines, and for lines on which there is not exactly one object."""
    object_start: int = 0
    object_end: int = 0
    client_reads: bool = True
    data: bytes | None = None
    """The new bytes of the object; None where they are the old ones."""
    alone: bool = True
    """Whether the object stands alone on its line; if not, it is written on a line of its own."""
    text_faults: frozenset[str] = frozenset()
    broken: tuple[Located[GraphEntry], ...] | None = None
    """For a line that is not one object, or stands inside of something else: the objects that were found on it."""
    lines: int = 1
    """How many lines of the file it is: an object may go over several."""

    @property
    def is_row(self) -> bool:
        return self.entry is not None and self.entry.type in ROW_TYPES

    @property
    def size(self) -> int:
        return self.end - self.start if self.data is None else len(self.data) + 1


@dataclass
class Draft:
    path: Path
    home: Home
    pieces: list[Piece] = field(default_factory=list)
    fragments: list[Fragment] = field(default_factory=list)
    beside: dict[Path, list[bytes]] = field(default_factory=dict)
    """Further files that a fix wants to write: long outputs, rows of another session."""
    _files: OpenFiles | None = None
    """Holds the file open until `close`."""

    # --- reading ------------------------------------------------------------------------------------------------------

    @classmethod
    def of(cls, path: Path, home: Home) -> Draft:
        """Read a file into a draft."""
        draft = cls(path, home)
        try:
            draft._read_lines()
        except BaseException:
            draft.close()
            raise
        return draft

    def _read_lines(self) -> None:
        held: tuple[int, int, int] | None = None
        with self._opened().stream(self.path) as stream:
            for line in read_entry_lines(stream):
                if line.more or line.part:  # too long to be held: passed on as it is
                    number, start, _ = held or (line.number, line.offset, 0)
                    held = (number, start, line.offset + len(line.data))
                    if not line.more:
                        self.pieces.append(Piece(*held))
                        held = None
                    continue
                self.pieces.append(_piece(line))

    def bytes_of(self, piece: Piece) -> bytes:
        """Return the object of a piece as it will be written."""
        return piece.data if piece.data is not None else self.read(piece.object_start, piece.object_end)

    def read(self, start: int, end: int) -> bytes:
        return self._opened().bytes_at(self.path, start, end - start)

    def _opened(self) -> OpenFiles:
        if self._files is None:
            self._files = OpenFiles(self.home).__enter__()
        return self._files

    def close(self) -> None:
        if self._files is not None:
            self._files.__exit__()
            self._files = None

    # --- views --------------------------------------------------------------------------------------------------------

    def transcript(self) -> Transcript:
        """Return the rows that a reader of the new file would find."""
        transcript = build_transcript(self._located(), [])
        transcript.size = sum(piece.size for piece in self.pieces)
        return transcript

    def thread(self) -> Thread:
        return find_thread(self.transcript())

    def row_places(self) -> list[int]:
        """Return the place of the piece of each row of `transcript()`; -1 for rows on broken lines."""
        found: list[int] = []
        for place, piece in enumerate(self.pieces):
            if piece.is_row:
                found.append(place)
            elif piece.broken is not None:
                found += [-1 for item in piece.broken if item.entry.type in ROW_TYPES]
        return found

    def rows(self) -> list[tuple[Row, int]]:
        """Yield rows with the places of their pieces in file order, without rows on broken lines."""
        pairs = zip(self.transcript().rows, self.row_places(), strict=True)
        return [(row, place) for row, place in pairs if place >= 0]

    def _located(self) -> Iterator[Located[GraphEntry]]:
        for piece in self.pieces:
            if piece.broken is not None:
                yield from piece.broken
            elif piece.entry is not None:
                length = len(piece.data) if piece.data is not None else piece.object_end - piece.object_start
                yield Located(piece.entry, piece.number, piece.object_start, length, piece.client_reads)

    # --- changing -----------------------------------------------------------------------------------------------------

    def rewrite(self, place: int, data: bytes, *, keep: str | None = None) -> None:
        """Give a piece new bytes. `keep` is the reason why its old ones are kept in the side file."""
        old = self.pieces[place]
        if keep is not None:
            self.take_out(keep, old)
        self.pieces[place] = replace(
            old, data=data, entry=entry_of(data), client_reads=True, text_faults=frozenset(), alone=True
        )

    def take_out(self, why: str, piece: Piece) -> None:
        """Keep the present bytes of a piece in the side file."""
        self.fragments.append(Fragment(why, piece.number, piece.start, self.bytes_of(piece)))

    def insert(self, place: int, data: bytes) -> None:
        """Insert a new line before the piece at `place`."""
        near = self.pieces[min(place, len(self.pieces) - 1)]
        self.pieces.insert(
            place, Piece(near.number, near.start, near.start, entry_of(data), near.start, near.start, data=data)
        )

    # --- writing ------------------------------------------------------------------------------------------------------

    def state(self) -> tuple[list[Piece], list[Fragment], dict[Path, list[bytes]]]:
        """Return the present state, for `restore`."""
        return list(self.pieces), list(self.fragments), dict(self.beside)

    def restore(self, state: tuple[list[Piece], list[Fragment], dict[Path, list[bytes]]]) -> None:
        self.pieces, self.fragments, self.beside = list(state[0]), list(state[1]), dict(state[2])

    def chunks(self, renamed: Callable[[bytes], bytes] | None = None) -> Iterator[bytes]:
        """Yield the bytes of the new file. `renamed` changes every object (for a copy with another name)."""
        start = end = 0  # a run of the old file that is copied as it stands
        ends_in_newline = True
        for piece in self.pieces:
            is_same = piece.data is None and piece.alone and (renamed is None or piece.entry is None)
            if is_same and piece.start == end and end > start:
                end = piece.end
                continue
            if end > start:
                yield from self._copied(start, end)
                ends_in_newline = self.read(end - 1, end) == b"\n"
                start = end = 0
            if not ends_in_newline:
                yield b"\n"
                ends_in_newline = True
            if is_same:
                start, end = piece.start, piece.end
            else:
                data = self.bytes_of(piece)
                yield (data if renamed is None or piece.entry is None else renamed(data)) + b"\n"
        if end > start:
            yield from self._copied(start, end)

    def _copied(self, start: int, end: int) -> Iterator[bytes]:
        for place in range(start, end, CHUNK):
            yield self.read(place, min(place + CHUNK, end))


def entry_of(data: bytes) -> GraphEntry | None:
    """Return the row or state line that a reader finds in the bytes of one object."""
    found = list(parse_row_entries([RawLine(data + b"\n", 0, 2)], []))
    return found[0].entry if len(found) == 1 else None


def _piece(line: RawLine) -> Piece:
    damage: list[Damage] = []
    found = tuple(parse_row_entries([line], damage))
    start, end = line.offset, line.offset + len(line.data)
    kinds = {item.kind for item in damage}
    if line.unread and line.lines == 1 and found:
        return Piece(line.number, start, end, broken=found, client_reads=False, alone=True)
    if len(found) == 1 and kinds <= _WHOLE:
        return _whole(line, found[0], kinds)
    if len(found) == 1 and kinds == {"nul"} and found[0].length == len(line.body):
        return _whole(line, found[0], {"nul"})  # NULs inside a string
    if not found and kinds <= HARMLESS | {"too-deep"}:
        return Piece(line.number, start, end)
    return Piece(line.number, start, end, broken=found, client_reads=False, alone=True)


def _whole(line: RawLine, item: Located[GraphEntry], kinds: set[str]) -> Piece:
    faults = kinds & (IN_THE_TEXT | {"nul"})
    if NUL_ESCAPE in line.data:
        faults.add("nul-in-text")
    return Piece(
        line.number, line.offset, line.offset + len(line.data), item.entry, item.offset, item.offset + item.length,
        item.client_reads, text_faults=frozenset(faults), lines=line.lines,
    )  # fmt: skip


def between(piece: Piece, objects: Iterable[tuple[int, int]], read: Callable[[int, int], bytes]) -> Iterator[Fragment]:
    """Yield the bytes of a broken line around the objects that were found on it."""
    place = piece.start
    for start, end in (*objects, (piece.end, piece.end)):
        data = read(place, start)
        if _INK.search(data) is not None:
            skipped = len(data) - len(data.lstrip(b" \t\r\n"))
            kept = data.strip(b" \t\r\n")
            yield Fragment("nul" if not kept.strip(b"\x00") else "fragment", piece.number, place + skipped, kept)
        place = end
