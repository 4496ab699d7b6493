"""Track how far a growing file was read, and whether it is still the same file."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from .entry_text import digest_of

_LOOKED_BACK: Final = 1024
"""Bytes before the mark that identify a file: they include ids of rows and times."""
_REMEMBERED_FILES: Final = 32


@dataclass(frozen=True, slots=True)
class Mark:
    """A position up to which a file was read. `tail` is a hash of the bytes just before `offset`."""

    offset: int = 0
    tail: str = ""

    def holds(self, fd: int) -> bool:
        """Return whether the file still has those bytes there: it was not cut, replaced or rewritten."""
        return self.offset == 0 or mark_at(fd, self.offset) == self


def mark_at(fd: int, offset: int) -> Mark:
    """Return the mark of a position in a file; the mark of position 0 if the file is shorter."""
    start = max(0, offset - _LOOKED_BACK)
    tail = read_at(fd, start, offset - start)
    if not tail or start + len(tail) != offset:
        return Mark()
    return Mark(offset, blake2b(tail, digest_size=8).hexdigest())


def read_at(fd: int, offset: int, length: int) -> bytes:
    os.lseek(fd, offset, os.SEEK_SET)
    parts = []
    while length > 0:
        data = os.read(fd, length)
        if not data:
            break
        parts.append(data)
        length -= len(data)
    return b"".join(parts)


def lines_from(fd: int, offset: int) -> Iterator[bytes]:
    """Yield the lines from `offset` to the end, with their line feeds."""
    with open(fd, "rb", buffering=1 << 20, closefd=False) as stream:
        stream.seek(offset)
        yield from stream


@dataclass(slots=True)
class _Known:
    mark: Mark = field(default_factory=Mark)
    digests: set[bytes] = field(default_factory=set)


class KnownLines:
    """Digests of the lines in recently appended files. Only what is new since the last call is read."""

    def __init__(self) -> None:
        self._files: OrderedDict[tuple[int, int], _Known] = OrderedDict()

    def of(self, fd: int) -> set[bytes]:
        """Return the digests of the complete lines of an open file that nobody else is appending to."""
        known = self._entry(fd)
        offset = known.mark.offset
        for line in lines_from(fd, offset):
            if line.endswith(b"\n"):
                offset += len(line)
                known.digests.add(digest_of(line.rstrip(b"\r\n")))
        known.mark = mark_at(fd, offset)
        return known.digests

    def distrust(self, fd: int) -> None:
        """Forget what was just written, after an error: it may be lost, and is written again if it comes again."""
        known = self._entry(fd)
        known.mark = mark_at(fd, os.fstat(fd).st_size)

    def _entry(self, fd: int) -> _Known:
        info = os.fstat(fd)
        identity = (info.st_dev, info.st_ino)
        known = self._files.pop(identity, None)
        if known is None or not known.mark.offset or not known.mark.holds(fd):
            known = _Known()
        self._files[identity] = known
        while len(self._files) > _REMEMBERED_FILES:
            self._files.popitem(last=False)
        return known
