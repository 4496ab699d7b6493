"""Count entry types, fields and blocks that Recollect does not know, and the versions of Claude Code that wrote the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from ..format.blocks import KNOWN_BLOCKS
from ..format.decode import parse_lines
from ..format.entries import KNOWN_TYPES, REFUSED, Entry
from ..format.known_fields import KNOWN_FIELDS
from ..format.line import Damage, RawLine, read_entry_lines
from ..store.home import Home, open_inside
from ..store.read import stream_lines

_ENDS: Final = 64 << 10


class _Typed(msgspec.Struct):
    type: str | None = None


class _Content(msgspec.Struct):
    content: str | list[_Typed] = ""


_keys = msgspec.json.Decoder(dict[str, msgspec.Raw])
_blocks = msgspec.json.Decoder(_Content)


class UnknownParts:
    """Counts over all files that were read. Fields are looked at only if `fields`: that costs a second decoding."""

    def __init__(self, *, fields: bool) -> None:
        self.look_at_fields = fields
        self.versions: Counter[str] = Counter()
        self.types: Counter[str] = Counter()
        self.fields: Counter[str] = Counter()
        self.blocks: Counter[str] = Counter()

    def read(self, path: Path, home: Home, *, whole: bool) -> list[Damage]:
        """Read a file (or, if not `whole`, its first and last part) and return the damage."""
        damage: list[Damage] = []
        lines = stream_lines(path, home) if whole else _ends(path, home)
        versions: set[str] = set()
        for item in parse_lines(self._watched(lines), damage):
            entry = item.entry
            if entry.version:
                versions.add(entry.version)
            if entry.type not in KNOWN_TYPES:
                self.types[entry.type or "(no type)"] += 1
            if entry.type in ("user", "assistant"):
                self._note_blocks(entry)
        self.versions.update(versions)
        return damage

    def _watched(self, lines: Iterable[RawLine]) -> Iterator[RawLine]:
        for line in lines:
            if self.look_at_fields:
                self._note_fields(line)
            yield line

    def _note_fields(self, line: RawLine) -> None:
        try:
            fields = _keys.decode(line.data)
            kind = msgspec.json.decode(fields.get("type", b"null"))
        except REFUSED:
            return
        known = KNOWN_FIELDS.get(kind) if isinstance(kind, str) else None
        if known is None:
            return
        for name in fields:
            if name not in known:
                self.fields[f"{kind}.{name}"] += 1

    def _note_blocks(self, entry: Entry) -> None:
        try:
            content = _blocks.decode(entry.message).content
        except REFUSED:
            return
        if isinstance(content, list):
            for block in content:
                if block.type not in KNOWN_BLOCKS:
                    self.blocks[block.type or "(no type)"] += 1


def _ends(path: Path, home: Home) -> list[RawLine]:
    """Return the complete lines of the first and last 64 KiB of a file."""
    with open_inside(home, path) as stream:
        head = _up_to(stream)
        size = stream.seek(0, 2)
        start = max(size - _ENDS, head[-1].offset + len(head[-1].data) if head else 0)
        stream.seek(start)
        skipped = stream.readline() if start > 0 and head and start > head[-1].offset + len(head[-1].data) else b""
        tail = list(read_entry_lines(stream, offset=start + len(skipped), number=0))
    return [*head, *(RawLine(line.data, line.offset, -1) for line in tail)]


def _up_to(stream: BinaryIO) -> list[RawLine]:
    lines: list[RawLine] = []
    for line in read_entry_lines(stream):
        if line.offset + len(line.data) > _ENDS and lines:
            break
        lines.append(line)
        if line.offset + len(line.data) > _ENDS:
            break
    return lines
