"""Decode lines to entries: a fast path for plain objects, `salvage` for all other lines. Damage is collected in a list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, chain, count, repeat
from operator import methodcaller
from typing import BinaryIO, Final, Generic, NamedTuple, TypeVar

from . import line as line_module
from .entries import REFUSED, Entry, GraphEntry, decode_entry, decode_graph_entry, graph_entry_of
from .line import BOM, Damage, RawLine, read_entry_lines
from .salvage import is_utf8, salvage_line

AT_ONCE: Final = 1 << 17
"""About how many bytes of lines are read and decoded in one step: small enough for the processor's cache."""
_ENDS: Final = methodcaller("endswith", b"}\n")

E = TypeVar("E")
E_co = TypeVar("E_co", covariant=True)


class Located(NamedTuple, Generic[E_co]):
    """An entry and the place of its bytes in the file. `client_reads` is False where Claude Code skips the entry."""

    entry: E_co
    line: int
    offset: int
    length: int
    client_reads: bool


def parse_lines(lines: Iterable[RawLine], damage: list[Damage]) -> Iterator[Located[Entry]]:
    """Yield all entries of the lines in file order. Damage is appended to `damage` and never raised."""
    return parse_as(lines, damage, decode_entry, lambda entry: entry)


def parse_row_entries(lines: Iterable[RawLine], damage: list[Damage]) -> Iterator[Located[GraphEntry]]:
    """Yield all entries of the lines as `GraphEntry`, which holds fewer fields and decodes faster. See `parse_lines`."""
    return parse_as(lines, damage, decode_graph_entry, graph_entry_of)


class FileEntries(Generic[E]):
    """Iterate over the entries of a whole file.

    Lines that are plain objects go from the stream straight into the decoder, all others through `parse_as`.
    """

    def __init__(
        self, stream: BinaryIO, damage: list[Damage], decode: Callable[[bytes], E], convert: Callable[[Entry], E], *,
        check_text: bool = True,
    ) -> None:  # fmt: skip
        self._stream = stream
        self._damage = damage
        self._decode = decode
        self._convert = convert
        self._check_text = check_text
        self.lines = 0
        """Number of lines read so far; that of the file after the iteration."""
        self.size = 0
        """Number of bytes read so far; that of the file after the iteration."""

    def __iter__(self) -> Iterator[Located[E]]:
        return map(Located._make, self.bare())

    def bare(self) -> Iterator[tuple[E, int, int, int, bool]]:
        """Iterate over plain tuples instead of `Located`. Faster for a loop that unpacks them: Python reuses the tuple."""
        return chain.from_iterable(self._parts())

    def _parts(self) -> Iterator[Iterable[tuple[E, int, int, int, bool]]]:
        """Yield the entries in groups of lines. Groups of ordinary lines are decoded without a Python loop per line."""
        while lines := self._next_lines():
            found = self._ordinary(lines)
            yield self._one_by_one(self.size + sum(map(len, lines))) if found is None else found

    def _next_lines(self) -> list[bytes]:
        readline, piece = self._stream.readline, line_module.PIECE
        lines: list[bytes] = []
        room = AT_ONCE
        while room > 0 and (data := readline(piece)):
            lines.append(data)
            room -= len(data)
        return lines

    def _ordinary(self, lines: list[bytes]) -> Iterable[tuple[E, int, int, int, bool]] | None:
        """Return the entries of these lines, if each line is one plain object; else None."""
        if not all(map(_ENDS, lines)):
            return None
        try:
            entries = list(map(self._decode, lines))
        except REFUSED:
            return None
        offsets = list(accumulate(map(len, lines), initial=self.size))
        if self._check_text:
            for place in [place for place, data in enumerate(lines) if not data.isascii() and not is_utf8(data)]:
                where = (self.lines + place + 1, offsets[place], len(lines[place]) - 1)
                self._damage.append(Damage("encoding", *where, "invalid UTF-8"))
        numbers, lengths = count(self.lines + 1), [len(data) - 1 for data in lines]
        self.lines, self.size = self.lines + len(lines), offsets[-1]
        return zip(entries, numbers, offsets, lengths, repeat(True))  # not strict: numbers, offsets and flags go on

    def _one_by_one(self, end: int) -> Iterator[Located[E]]:
        """Decode lines of any kind one by one, from the current place at least up to the byte `end`."""
        self._stream.seek(self.size)
        lines = self._lines_up_to(end)
        return parse_as(lines, self._damage, self._decode, self._convert, check_text=self._check_text)

    def _lines_up_to(self, end: int) -> Iterator[RawLine]:
        for line in read_entry_lines(self._stream, offset=self.size, number=self.lines + 1):
            self.lines, self.size = line.last_number, line.offset + len(line.data)
            yield line
            if self.size >= end and not line.more:
                self._stream.seek(self.size)  # `read_entry_lines` has read ahead
                return


def file_entries(stream: BinaryIO, damage: list[Damage]) -> FileEntries[Entry]:
    """Return all entries of a file, read during the iteration."""
    return FileEntries(stream, damage, decode_entry, lambda entry: entry)


def file_row_entries(stream: BinaryIO, damage: list[Damage], *, check_text: bool = True) -> FileEntries[GraphEntry]:
    """Return all entries of a file as `GraphEntry`, read during the iteration.

    Without `check_text`, invalid UTF-8 in text that is not decoded is not reported.
    """
    return FileEntries(stream, damage, decode_graph_entry, graph_entry_of, check_text=check_text)


def parse_as(
    lines: Iterable[RawLine], damage: list[Damage], decode: Callable[[bytes], E], convert: Callable[[Entry], E], *,
    check_text: bool = True,
) -> Iterator[Located[E]]:  # fmt: skip
    """Yield the entries of the lines in any view: `decode` makes it from plain bytes, `convert` from a salvaged entry."""
    start = 0
    for line in lines:
        data = line.data
        if line.more or line.part:
            start = line.offset if line.part == 0 else start
            if not line.more:
                length = line.offset + len(data.rstrip(b"\r\n")) - start
                damage.append(Damage("oversize", line.number, start, length, "longer than can be held in memory"))
            continue
        if line.lines > 1 and not (line.number == 1 and data.startswith(BOM)):
            kind = "several-lines-unread" if line.unread else "several-lines"
            damage.append(Damage(kind, line.number, line.offset, len(data.rstrip(b"\r\n"))))
        try:
            entry = decode(data)
        except REFUSED as problem:
            yield from _refused(line, problem, damage, decode, convert)
            continue
        if check_text and not data.isascii() and not is_utf8(data):
            damage.append(Damage("encoding", line.number, line.offset, len(data.rstrip(b"\r\n")), "invalid UTF-8"))
        length = len(data)
        if data[-1] == 0x0A:
            length -= 1
            if data[-2:-1] == b"\r":
                length -= 1
                damage.append(Damage("crlf", line.last_number, line.offset + length, 2))
        else:
            damage.append(Damage("no-newline", line.last_number, line.offset + length, 0))
        yield Located(entry, line.number, line.offset, length, not line.unread)


def _refused(
    line: RawLine, problem: Exception, damage: list[Damage], decode: Callable[[bytes], E], convert: Callable[[Entry], E]
) -> Iterable[Located[E]]:
    """Salvage a line that the decoder refused."""
    data = line.data
    if line.number == 1 and data.startswith(BOM):
        return _behind_bom(line, damage, decode, convert)
    if not data.strip():
        damage.append(Damage("blank", line.number, line.offset, len(data)))
        return ()
    if data[-1] != 0x0A:
        damage.append(Damage("no-newline", line.last_number, line.offset + len(data), 0))
    elif data[-2:] == b"\r\n":
        damage.append(Damage("crlf", line.last_number, line.offset + len(data) - 2, 2))
    saved = salvage_line(line, problem)
    damage += saved.damage
    located = []
    for found in saved.found:
        try:
            entry = decode(found.data)
        except REFUSED:
            entry = convert(found.entry)
        start, reads = found.start, found.client_reads and not line.unread
        located.append(Located(entry, line.number_at(start), line.offset + start, found.end - start, reads))
    return located


def _behind_bom(
    line: RawLine, damage: list[Damage], decode: Callable[[bytes], E], convert: Callable[[Entry], E]
) -> Iterator[Located[E]]:
    damage.append(Damage("bom", 1, line.offset, 3))
    # Numbered as line 2 for now, because only on line 1 a byte order mark is expected.
    rest = RawLine(line.data[3:], line.offset + 3, 2, lines=line.lines, unread=line.unread)
    shifted: list[Damage] = []
    for located in parse_as([rest], shifted, decode, convert):
        yield located._replace(line=located.line - 1)
    damage.extend(Damage(item.kind, item.line - 1, item.offset, item.length, item.detail) for item in shifted)
