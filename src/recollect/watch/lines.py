"""Follow one transcript: return every line that becomes complete, once and in order, whatever happens to the file.

Claude Code appends several lines, or half of one, in a write. Now and then it cuts the end off, or puts a shorter file in its
place.
So the file must prove to be the one that was read: its identity, its size, and the last bytes before the place where reading
stopped. Where it does not, it is read again from its start, and lines that were there before are known by their hashes. Of a
file whose start was never read (too long, or replaced before its first change was seen) the timestamps tell what is new.

Which transcripts there are is told by names and sizes (`walk`): the start of a watch opens no file.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from msgspec import structs

from ..format.decode import parse_lines
from ..format.line import HELD_LIMIT, SMALL_FILE, Damage, RawLine, join_lines
from ..format.path_text import to_text
from ..format.times import parse_time
from ..store.home import Home, open_inside
from ..store.layout import PROJECTS, FileKind, file_at, is_session_id
from ..store.layout import holds_transcripts as holds_transcripts
from ..store.opening import parts_below as parts_below
from ..store.scan import transcript_folders


class Place(NamedTuple):
    """Whose transcript a file is. Of subagents beside the sessions (2.0.28 - 2.1.8) only the lines tell the session."""

    session_id: str | None
    subagent_id: str | None = None
    workflow: str | None = None

    @property
    def key(self) -> str:
        """The same for the same transcript, wherever it stands."""
        return f"{self.session_id or ''}/{self.subagent_id or ''}"


class FoundFile(NamedTuple):
    path: str
    place: Place
    identity: int
    size: int
    mtime_ns: int


class FoundFolder(NamedTuple):
    path: str
    mtime_ns: int


def identity_of(info: os.stat_result) -> int:
    """What stays the same when a file is renamed, and differs when another one takes its place; 0 if the system has no such."""
    return info.st_dev << 64 | info.st_ino if info.st_ino else 0


def place_of(parts: Sequence[str]) -> Place | None:
    """Read whose transcript a file is by the parts of its path below `projects/`; None where Claude Code reads none there."""
    file = file_at((PROJECTS, *parts))
    if file.kind is FileKind.TRANSCRIPT:
        return Place(file.session_id) if is_session_id(file.session_id) else None
    if file.kind is not FileKind.SUBAGENT_TRANSCRIPT:
        return None
    session_id, subagent_id, workflow = (None if name is None else to_text(name) for name in file[2:5])
    return Place(session_id, subagent_id, workflow)


def walk(home: Home, folder: str, known: Container[str] = ()) -> Iterator[FoundFile | FoundFolder]:
    """Find transcripts in and below a folder, and the folders to look at for more.

    Folders below it that are `known` are not entered again.
    """
    for listed in transcript_folders(home, folder, known=known):
        yield FoundFolder(listed.path, listed.mtime_ns)
        for entry in listed.files:
            try:
                if (place := place_of((*listed.parts, entry.name))) is not None and entry.is_file():
                    # Windows tells a file's identity only when it is asked for the file itself.
                    info = os.stat(entry.path) if os.name == "nt" else entry.stat()
                    yield FoundFile(entry.path, place, identity_of(info), info.st_size, info.st_mtime_ns)
            except OSError:
                continue


BATCH: Final = 1 << 20
"""Bytes that are read at once, so that a reader that is slower than the writer takes no more memory."""
LEDGER_BYTES: Final = 64 << 20
LEDGER_LINES: Final = 250_000
"""The lines of longer files are not remembered; timestamps tell there which are new."""
CONTEXT: Final = 256 << 10
_PROOF: Final = 4096
"""How many bytes before the offset must be unchanged."""
_UNNUMBERED: Final = 2
"""The number of a line that was not counted: any but 1, since line 1 may begin with a byte order mark."""


class Known(NamedTuple):
    """The state of a file that was not read: lines that are complete within its first `size` bytes are old."""

    identity: int
    size: int
    mtime_ns: int


class Look(NamedTuple):
    """The new lines of a file. `more`: there is more to read now. `counted`: the line numbers are right."""

    lines: list[RawLine]
    damage: list[Damage]
    more: bool
    counted: bool


class FollowedFile:
    """One file under watch. Without `known` it is new: all of its lines count."""

    def __init__(self, home: Home, path: str, known: Known | None = None) -> None:
        self.home = home
        self.path = path
        self.context: list[RawLine] = []
        """The last lines before the first new one, after the first look: what they began may end in new ones."""
        self._unread = known
        self._identity = 0
        self._mtime_ns = 0
        self._size = 0
        self._offset = 0
        """Everything before was handed on, or is old."""
        self._scanned = 0
        """Between the offset and here no line ends, or none that nothing can go on behind."""
        self._before = b""
        """The last bytes before the offset, as they were read."""
        self._half = b""
        """The last bytes before the end of what was scanned."""
        self._number: int | None = 0
        """How many lines stand before the offset; None where nobody counted."""
        self._ledger = array("q")
        self._ledger_complete = True
        self._lost: dict[int, int] = {}
        """Known lines that are not in the file now. One that comes back is not new."""
        self._old_until: float | None = None
        """While set, an unknown line counts as new only from this time on."""

    @property
    def known(self) -> Known:
        """What must be remembered to go on later without the rest."""
        return self._unread or Known(self._identity, self._offset, self._mtime_ns)

    @property
    def seen(self) -> tuple[int, int, int]:
        """Identity, size and time of the last look; where they are still the same there is nothing new."""
        return self._identity, self._size, self._mtime_ns

    @property
    def weight(self) -> int:
        """How many lines are remembered."""
        return len(self._ledger) + 12 * len(self._lost)

    def look(self) -> Look:
        """Return new complete lines. Raises as `open_inside` does if the file cannot be read."""
        with open_inside(self.home, Path(self.path), buffering=0) as stream:
            info = os.fstat(stream.fileno())
            self._find_place(stream, info)
            self._identity, self._size, self._mtime_ns = identity_of(info), info.st_size, info.st_mtime_ns
            return self._read(stream)

    def get_ready(self) -> None:
        """Read the old lines before something changes. Raises as `look` does."""
        if self._unread is not None:
            self._identity, self._size, self._mtime_ns = self._unread
            with open_inside(self.home, Path(self.path), buffering=0) as stream:
                self._find_place(stream, os.fstat(stream.fileno()))

    # --- where to go on ----------------------------------------------------------------------------------------------

    def _find_place(self, stream: BinaryIO, info: os.stat_result) -> None:
        if self._unread is not None:
            self._begin(stream, info, self._unread)
            self._unread = None
        elif (
            identity_of(info) != self._identity
            or info.st_size < self._offset
            or not _stands(stream, self._before, self._offset)
        ):
            self._begin_again()
        elif info.st_size < self._scanned or not _stands(stream, self._half, self._scanned):
            self._scanned, self._half = self._offset, b""

    def _begin(self, stream: BinaryIO, info: os.stat_result, known: Known) -> None:
        """Find the offset at the first look at a file of which only the size was known."""
        if identity_of(info) != known.identity or info.st_size < known.size:
            self._old_until = known.mtime_ns / 1e9
        if identity_of(info) != known.identity:
            return
        end = _line_start(stream, min(known.size, info.st_size))
        context = _last_lines(stream, end)
        if context and context[-1].unclosed:  # what is open there may be closed behind it
            end = next(line.offset for line in context if line.unclosed)
            context = [line for line in context if not line.unclosed]
        self._offset = self._scanned = end
        self._before = _read_at(stream, max(end - _PROOF, 0), min(end, _PROOF))
        self._learn(stream, end)
        self.context = context

    def _learn(self, stream: BinaryIO, end: int) -> None:
        """Remember the lines before the offset, in case the file is rewritten."""
        self._ledger_complete = end <= LEDGER_BYTES
        self._number = None
        if not self._ledger_complete:
            return
        stream.seek(0)
        left, rest = end, b""
        while left > 0 and (data := stream.read(min(BATCH, left))):
            left -= len(data)
            lines = (rest + data).split(b"\n")
            rest = lines.pop()
            self._ledger.extend([hash(line) for line in lines])
        if len(self._ledger) > LEDGER_LINES:
            self._forget()
        else:
            self._number = len(self._ledger)

    def _begin_again(self) -> None:
        for digest in self._ledger:
            self._lost[digest] = self._lost.get(digest, 0) + 1
        if not self._ledger_complete:
            self._old_until = self._mtime_ns / 1e9
        self._ledger, self._ledger_complete = array("q"), True
        self._offset = self._scanned = 0
        self._before = self._half = b""
        self._number = 0

    def _forget(self) -> None:
        self._ledger, self._ledger_complete = array("q"), False
        self._lost.clear()

    # --- lines -------------------------------------------------------------------------------------------------------

    def _read(self, stream: BinaryIO) -> Look:
        """Return the complete lines from the offset on, at most about a batch."""
        while data := _read_at(stream, self._scanned, BATCH):
            last = data.rfind(b"\n") + 1
            if not last:  # half a line: its end is looked for behind it the next time
                self._scanned += len(data)
                self._half = (self._half + data[-_PROOF:])[-_PROOF:]
                continue
            damage: list[Damage] = []
            end = self._scanned + last
            block = data[:last]
            if self._scanned > self._offset:
                block = self._with_start(stream, block, damage)
            complete, open_end = self._entry_lines(block, end - len(block))
            lines = self._new_lines(complete)
            taken = len(block) - len(open_end)
            self._offset, self._scanned = end - len(open_end), end
            self._before, self._half = (self._before + block[:taken][-_PROOF:])[-_PROOF:], open_end[-_PROOF:]
            if complete or damage:
                return Look(lines, damage, end < self._size, self._number is not None)
        return Look([], [], False, self._number is not None)

    def _with_start(self, stream: BinaryIO, block: bytes, damage: list[Damage]) -> bytes:
        """The block with the part of its first line that was read before; or without that line if it is too long to be held."""
        first = block.index(b"\n") + 1
        length = self._scanned - self._offset + first
        if length <= HELD_LIMIT:
            return _read_at(stream, self._offset, self._scanned - self._offset) + block
        place = 0 if self._number is None else self._number + 1
        damage.append(Damage("oversize", place, self._offset, length - 1, "longer than can be held in memory"))
        self._remember(hash(block[:first]))
        return block[first:]

    def _entry_lines(self, block: bytes, offset: int) -> tuple[list[RawLine], bytes]:
        """The lines of a block, an object over several of them as one; and the end of it that something may go on behind."""
        found = _joined(block, offset, small=self._size <= SMALL_FILE)
        open_from = next((place for place, line in enumerate(found) if line.unclosed), len(found))
        return found[:open_from], b"".join([line.data for line in found[open_from:]])

    def _new_lines(self, lines: list[RawLine]) -> list[RawLine]:
        new: list[RawLine] = []
        for line in lines:
            digests = [hash(part) for part in line.data[:-1].split(b"\n")]
            numbers = [self._remember(digest) for digest in digests]
            known = [self._is_back(digest) for digest in digests]
            if not all(known):
                counted = structs.replace(line, number=1 if line.offset == 0 else numbers[0])
                if self._is_new(counted):
                    new.append(counted)
        return new

    def _remember(self, digest: int) -> int:
        """Remember a line of the file, and return its number."""
        if self._ledger_complete:
            self._ledger.append(digest)
            if len(self._ledger) > LEDGER_LINES:
                self._forget()
        if self._number is None:
            return _UNNUMBERED
        self._number += 1
        return self._number

    def _is_back(self, digest: int) -> bool:
        count = self._lost.get(digest, 0)
        if count > 1:
            self._lost[digest] = count - 1
        elif count:
            del self._lost[digest]
        return count > 0

    def _is_new(self, line: RawLine) -> bool:
        if self._old_until is None:
            return True
        moments = [parse_time(item.entry.timestamp) for item in parse_lines([line], [])]
        if not any(moment is not None and moment > self._old_until for moment in moments):
            return False
        self._old_until = None  # lines stand in the order of time: what follows is new as well
        return True


def _read_at(stream: BinaryIO, offset: int, length: int) -> bytes:
    """Return `length` bytes; fewer only at the end of the file."""
    stream.seek(offset)
    parts: list[bytes] = []
    while length > 0 and (data := stream.read(length)):
        parts.append(data)
        length -= len(data)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _stands(stream: BinaryIO, data: bytes, end: int) -> bool:
    """Whether the bytes before `end` are still `data`."""
    return not data or _read_at(stream, end - len(data), len(data)) == data


def _line_start(stream: BinaryIO, end: int) -> int:
    """Return the start of the line that holds the byte before `end`; `end` itself after a line feed."""
    while end > 0:
        start = max(end - (64 << 10), 0)
        found = _read_at(stream, start, end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _last_lines(stream: BinaryIO, end: int) -> list[RawLine]:
    """Return the whole lines in the last part before `end`, where a line ends; an object over several lines as one."""
    start = max(end - CONTEXT, 0)
    data = _read_at(stream, start, end - start)
    if start:
        cut = data.find(b"\n") + 1
        start, data = start + cut, data[cut:]
    return _joined(data, start, small=True)


def _joined(block: bytes, offset: int, *, small: bool) -> list[RawLine]:
    """The lines of some bytes that begin and end with a line, not counted; an object over several of them as one."""
    lines = []
    for part in block.split(b"\n")[:-1]:
        lines.append(RawLine(part + b"\n", offset, 1 if offset == 0 else _UNNUMBERED))
        offset += len(part) + 1
    return list(join_lines(lines, small=small))
