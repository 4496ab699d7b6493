"""Lines to entries: the fast path for plain objects, `salvage` for the rest, damage noted on the side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, Generic, NamedTuple, TypeVar

from . import line as line_module
from .entries import REFUSED, Entry, decode_entry
from .line import BOM, Damage, RawLine, read_lines
from .row_entry import RowEntry, decode_row_entry, row_entry_of
from .salvage import is_utf8, salvage_line

E = TypeVar("E")
E_co = TypeVar("E_co", covariant=True)


class Located(NamedTuple, Generic[E_co]):
    """An entry and where its bytes stand in the file. `client_reads` is False where the client skips what we could salvage."""

    entry: E_co
    line: int
    offset: int
    length: int
    client_reads: bool


def parse_lines(lines: Iterable[RawLine], damage: list[Damage]) -> Iterator[Located[Entry]]:
    """All entries of some lines in file order. What is wrong is appended to `damage`; nothing raises."""
    return parse_as(lines, damage, decode_entry, lambda entry: entry)


def parse_row_entries(lines: Iterable[RawLine], damage: list[Damage]) -> Iterator[Located[RowEntry]]:
    """The same for the graph, which needs less of each entry and wants it faster."""
    return parse_as(lines, damage, decode_row_entry, row_entry_of)


class FileEntries(Generic[E]):
    """The same for a whole file: ordinary lines go straight from the stream into the decoder, the others the usual way."""

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
        """How many there were; known when all have been read."""
        self.size = 0

    def __iter__(self) -> Iterator[Located[E]]:
        readline, piece, decode, place = self._stream.readline, line_module.PIECE, self._decode, tuple.__new__
        check_text = self._check_text
        offset = number = 0
        while data := readline(piece):
            number += 1
            length = len(data)
            if data[-1] == 0x0A and data[-2:-1] != b"\r":
                try:
                    entry = decode(data)
                except REFUSED:
                    pass
                else:
                    if check_text and not data.isascii() and not is_utf8(data):
                        self._damage.append(Damage("encoding", number, offset, length - 1, "invalid UTF-8"))
                    yield place(Located, (entry, number, offset, length - 1, True))
                    offset += length
                    continue
            self._stream.seek(offset)
            yield from parse_as(_one_line(self._stream, offset, number), self._damage, decode, self._convert)
            offset = self._stream.tell()
        self.lines, self.size = number, offset


def file_entries(stream: BinaryIO, damage: list[Damage]) -> FileEntries[Entry]:
    """All entries of a file, read as they are asked for."""
    return FileEntries(stream, damage, decode_entry, lambda entry: entry)


def file_row_entries(stream: BinaryIO, damage: list[Damage], *, check_text: bool = True) -> FileEntries[RowEntry]:
    """The same for the graph. Without `check_text`, invalid UTF-8 in words that nobody decodes is not noticed."""
    return FileEntries(stream, damage, decode_row_entry, row_entry_of, check_text=check_text)


def _one_line(stream: BinaryIO, offset: int, number: int) -> Iterator[RawLine]:
    """The line there, in pieces where it is too long to be held."""
    for line in read_lines(stream, offset=offset, number=number):
        yield line
        if not line.more:
            return


def parse_as(
    lines: Iterable[RawLine], damage: list[Damage], decode: Callable[[bytes], E], convert: Callable[[Entry], E]
) -> Iterator[Located[E]]:
    """The same for any other view: `decode` for plain lines, `convert` for what had to be salvaged."""
    start = 0
    for line in lines:
        data = line.data
        if line.more or line.part:
            start = line.offset if line.part == 0 else start
            if not line.more:
                length = line.offset + len(data.rstrip(b"\r\n")) - start
                damage.append(Damage("oversize", line.number, start, length, "longer than can be held in memory"))
            continue
        try:
            entry = decode(data)
        except REFUSED:
            for item in _refused(line, damage):
                yield Located(convert(item.entry), item.line, item.offset, item.length, item.client_reads)
            continue
        if not data.isascii() and not is_utf8(data):
            damage.append(Damage("encoding", line.number, line.offset, len(data.rstrip(b"\r\n")), "invalid UTF-8"))
        length = len(data)
        if data[-1] == 0x0A:
            length -= 1
            if data[-2:-1] == b"\r":
                length -= 1
                damage.append(Damage("crlf", line.number, line.offset + length, 2))
        else:
            damage.append(Damage("no-newline", line.number, line.offset + length, 0))
        yield Located(entry, line.number, line.offset, length, True)


def _refused(line: RawLine, damage: list[Damage]) -> Iterator[Located[Entry]]:
    if line.number == 1 and line.data.startswith(BOM):
        damage.append(Damage("bom", 1, line.offset, 3))
        rest = RawLine(line.data[3:], line.offset + 3, 2)  # not line 1 again, or the mark would be looked for twice
        shifted: list[Damage] = []
        for located in parse_lines([rest], shifted):
            yield located._replace(line=1)
        damage.extend(Damage(item.kind, 1, item.offset, item.length, item.detail) for item in shifted)
        return
    data = line.data
    if not data.strip():
        damage.append(Damage("blank", line.number, line.offset, len(data)))
        return
    if data.endswith(b"\r\n"):
        damage.append(Damage("crlf", line.number, line.offset + len(data) - 2, 2))
    elif not data.endswith(b"\n"):
        damage.append(Damage("no-newline", line.number, line.offset + len(data), 0))
    saved = salvage_line(line)
    damage.extend(saved.damage)
    for found in saved.found:
        yield Located(found.entry, line.number, line.offset + found.start, found.end - found.start, found.client_reads)
