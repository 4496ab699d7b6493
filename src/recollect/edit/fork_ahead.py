"""Forking a large session with a second process: it reads half of the file, and takes lines apart before they are asked for.

    with ForkAhead(path, home) as ahead:
        transcript = ahead.transcript()
        ahead.ask(offsets, names)
        lines = ahead.answer()

Everything that it does not do, or that it cannot do alone, is done as without it.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from msgspec import Struct, msgpack

from ..format.decode import LINES_BEFORE, Part
from ..format.entries import REFUSED
from ..format.line import Damage
from ..format.rename_lines import Members, NewNames, split_lines, with_names
from ..graph.rows import Row, StateLine, Transcript
from ..store.home import Home
from ..store.paths import open_inside
from ..store.read import read_transcript, transcript_of
from . import second_process
from .second_process import Questions, SecondProcess

LEAST: Final = 16 << 20
"""Smaller files are read before a second process would be of use."""
MOST: Final = 256 << 20
"""Of larger ones it would need too much memory: about twice their size."""
_OWN_SHARE: Final = 0.46
"""How much of the file the first process reads: it also takes in what the second one has read."""
_PART: Final = 4 << 20
"""The second one gives what it has read in parts of so many bytes: the rows of nearly any file take less room than that."""
_BLOCK: Final = 2 << 20
"""Bytes of lines that are taken apart at once."""
_LONGEST_LINE: Final = 1 << 20
_TURN_SECONDS: Final = 0.0005
"""How long Python goes on before it lets another thread have a turn: the one that writes needs one between two pieces, and
would wait ten times as long for it. There are no others, or there would be no second process."""

AT_ONCE: Final = 6
"""So many questions are without an answer, so that there always is something to do."""


class _Rest(Struct):
    """The second half of a transcript on its way."""

    rows: list[Row]
    states: list[StateLine]
    damage: list[Damage]
    counts: list[dict[str, int]]
    folded: dict[str, Any]
    size: int
    lines: int
    others: list[int]


class _Wanted(Struct, array_like=True):
    """A question for lines: where they begin, and what they shall say."""

    offsets: list[int]
    names: NewNames


class ForkAhead:
    def __init__(self, path: Path, home: Home) -> None:
        self._path = path
        self._home = home
        self._middle = 0
        self._file = (0, 0)
        self._size = 0
        self._second: SecondProcess | None = None
        self._turn_before = 0.0

    def __enter__(self) -> ForkAhead:
        if second_process.is_of_use():
            with open_inside(self._home, self._path, buffering=1 << 16) as stream:
                self._file = _identity(stream)
                self._size = os.fstat(stream.fileno()).st_size
                self._middle = _line_near_the_middle(stream, self._size)
            if self._middle:
                self._second = SecondProcess(self._be_second)
                self._second.__enter__()
                self._turn_before = sys.getswitchinterval()
                sys.setswitchinterval(_TURN_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        if self._second is not None:
            sys.setswitchinterval(self._turn_before)
            self._second.__exit__()

    def _be_second(self, questions: Questions) -> None:
        with open_inside(self._home, self._path) as stream:
            if _identity(stream) == self._file:
                _Second(stream, self._middle, self._size).run(questions)

    def transcript(self) -> Transcript:
        """The rows of the file, as `read_transcript` gives them; some without those of their facts that no fork asks for."""
        if self._second is None:
            return read_transcript(self._path, self._home, check_text=False)
        parts = _number_of_parts(self._size, self._middle)
        for _ in range(parts):
            self._second.ask(b"")
        with open_inside(self._home, self._path) as stream:
            found = transcript_of(stream, check_text=False, part=Part(0, self._middle))
            complete = True
            for _ in range(parts):
                part = self._second.answer()
                complete = complete and part is not None
                if part is not None and complete:
                    found.go_on(_as_transcript(part), LINES_BEFORE)
            if not complete:
                found.go_on(transcript_of(stream, check_text=False, part=Part(found.size)), LINES_BEFORE)
        return found

    @property
    def helps(self) -> bool:
        return self._second is not None

    def ask(self, offsets: Sequence[int], names: NewNames) -> None:
        """Ask for the lines that begin there, under these names."""
        if self._second is not None:
            self._second.ask(_encode(_Wanted(list(offsets), names)))

    def answer(self) -> memoryview | None:
        """They; None where they have to be looked at more closely, or nobody answers."""
        return None if self._second is None else self._second.answer()

    def no_more(self) -> None:
        """That was the last one."""
        if self._second is not None:
            self._second.no_more()


class _Second:
    """What the second process does."""

    def __init__(self, stream: BinaryIO, middle: int, size: int) -> None:
        self._stream = stream
        self._middle = middle
        self._size = size
        self._bytes = mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ)
        self._view = memoryview(self._bytes)
        self._lines: dict[int, Members] = {}
        """Lines that were taken apart, by where they begin."""
        self._place = 0
        """So far they are."""

    def run(self, questions: Questions) -> None:
        """Until nobody asks any more."""
        for part in self._parts():
            questions.next()
            questions.answer(_as_bytes(transcript_of(self._stream, check_text=False, part=part)))
        while True:
            while self._place < _END and not questions.waiting():
                self._take_apart()
            wanted = _decode(questions.next())
            questions.answer(self._renamed(wanted.offsets, wanted.names))

    def _parts(self) -> Iterator[Part]:
        start = self._middle
        parts = _number_of_parts(self._size, start)
        for number in range(1, parts):
            stop = self._middle + (self._size - self._middle) * number // parts
            stop = max(self._bytes.rfind(b"\n", start, stop) + 1, start)
            yield Part(start, stop)
            start = stop
        yield Part(start)

    def _take_apart(self) -> None:
        """The next lines, many at once."""
        base, data = self._place, self._bytes
        end = data.rfind(b"\n", base, base + _BLOCK) + 1
        if not end:  # a line longer than this, or one without an end
            self._place = base + _BLOCK if base + _BLOCK < len(data) else _END
            return
        self._place = end if end < len(data) else _END
        starts: list[int] = []
        start, plain = base, True
        while start < end:
            starts.append(start)
            stop = data.find(b"\n", start)
            # Else an object could go on behind a line feed, and lines be taken for others: blank ones are skipped.
            plain = plain and data[start] == 0x7B and data[stop - 1] == 0x7D
            start = stop + 1
        with contextlib.suppress(*REFUSED):
            if plain and len(lines := split_lines(self._view[base : end - 1])) == len(starts):
                self._lines.update(zip(starts, lines, strict=True))
                return
        self._take_each_apart(starts)

    def _take_each_apart(self, starts: list[int]) -> None:
        """Lines of which some are no plain objects: these are left out."""
        for start in starts:
            with contextlib.suppress(*REFUSED):
                lines = split_lines(self._view[start : self._bytes.find(b"\n", start)])
                if len(lines) == 1:
                    self._lines[start] = lines[0]

    def _renamed(self, offsets: list[int], names: NewNames) -> bytes | None:
        while self._place <= offsets[-1]:
            self._take_apart()
        try:
            return with_names([self._lines.pop(offset) for offset in offsets], names)
        except KeyError:
            return None


def _as_bytes(found: Transcript) -> bytes:
    for row in found.rows:
        row.prompt_id = row.request_id = row.stop_reason = None  # no fork asks for them
    counts: list[dict[str, int]] = [dict(count) for count in found.counts()]
    return _encode(
        _Rest(found.rows, found.states, found.damage, counts, found.folded, found.size, found.lines, found.others)
    )


def _as_transcript(data: memoryview) -> Transcript:
    rest = _decode_rest(data)
    types, unknown, versions, cwds, branches, sessions = (Counter(count) for count in rest.counts)
    return Transcript(
        rest.rows, rest.states, rest.damage, types, unknown, versions, cwds, branches, sessions, rest.folded, rest.size,
        rest.lines, rest.others,
    )  # fmt: skip


_END: Final = sys.maxsize
_encode: Final = msgpack.Encoder().encode
_decode_rest: Final = msgpack.Decoder(_Rest).decode
_decode: Final = msgpack.Decoder(_Wanted).decode


def _number_of_parts(size: int, middle: int) -> int:
    return (size - middle) // _PART + 1


def _line_near_the_middle(stream: BinaryIO, size: int) -> int:
    """Where a line begins, so that the parts before and behind it take equally long; 0 where there is no use in that."""
    if not LEAST <= size <= MOST:
        return 0
    stream.seek(int(size * _OWN_SHARE))
    line = stream.readline(_LONGEST_LINE)
    return stream.tell() if line.endswith(b"\n") else 0


def _identity(stream: BinaryIO) -> tuple[int, int]:
    status = os.fstat(stream.fileno())
    return status.st_dev, status.st_ino
