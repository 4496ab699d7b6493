"""Run the stage "calls": index every API call of every file, for `usage`. Only lines with token counts are decoded.

    report = sync_calls(catalogue, homes, pricing)       # files that did not change are not opened

The calls go to a sink (see `store`), which counts a call once even if several files of a home contain it.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Final

from ...errors import RecollectError
from ...store.home import Home
from ..catalogue.catalogue import LOCK_SECONDS, Catalogue
from ..catalogue.left_out import LeftOut
from ..catalogue.schema import STAGE_TABLES
from ..catalogue.tracking import (
    PARTLY,
    FileChange,
    begin,
    begin_anew,
    changed,
    done,
    done_unreadable,
    note_owner,
    note_touched,
    open_changed,
    read_at,
)

if TYPE_CHECKING:
    from .collect import FileCalls
    from .store import CallSink, Pricing

STAGE: Final = "calls"
BUFFER: Final = 1 << 19
"""Small enough to stay in the processor's cache while its lines are searched and decoded."""
LONGEST: Final = 160 << 20
"""A longer line is skipped: Claude Code cannot read such a line either."""
BATCH_BYTES: Final = 512 << 20
"""Bytes that are read between two commits. At each commit, copies are searched among all calls stored so far."""
_PRICES: Final = "prices"
"""The note with the version of the price table that gave the calls in the catalogue their costs."""
TIMESTAMP: Final = b'"timestamp":"'
LONGEST_TIME: Final = 48
"""The most bytes of a time, in whatever format."""


@dataclass(slots=True)
class CallsReport:
    """What a sync of this stage did."""

    files: int = 0
    bytes: int = 0
    calls: int = 0
    lines: int = 0
    """Lines that were decoded."""
    unreadable: int = 0
    left_out: LeftOut = field(default_factory=LeftOut)
    """Rows that could not be indexed."""
    left: list[FileChange] = field(default_factory=list)
    """Files that were not read, or not to their end, because `most_bytes` was reached."""


def sync_calls(
    catalogue: Catalogue,
    homes: Iterable[Home],
    pricing: Pricing,
    *,
    progress: Callable[[int, int], None] | None = None,
    changes: list[FileChange] | None = None,
    lock_seconds: float = LOCK_SECONDS,
    most_bytes: int | None = None,
) -> CallsReport:
    """Bring the calls of these homes up to date. Without changes nothing is locked, opened or written.

    `changes` are the changes, if the caller has just found them. After `most_bytes` the sync stops at the end of a line,
    and the next sync continues there. Every sync reads at least some lines, however small `most_bytes` is.
    """
    homes = list(homes)
    report = CallsReport()
    before = catalogue.note("change")
    if changes is None:
        drop_other_prices(catalogue, pricing, lock_seconds)
        changes = changed(catalogue, homes, STAGE)
    if not changes:
        return report
    with catalogue.locked(lock_seconds):
        if catalogue.note("change") != before:  # another process may have indexed the changes meanwhile
            changes = changed(catalogue, homes, STAGE)
        if changes:
            from ...graph.rows import gc_paused
            from .store import SqliteCalls

            sink = SqliteCalls(catalogue.connection, pricing, report.left_out)
            with gc_paused():
                _Intake(catalogue, sink, changes, report, progress, most_bytes).run()
    catalogue.say(report.left_out.sentence)
    return report


def drop_other_prices(catalogue: Catalogue, pricing: Pricing, lock_seconds: float = LOCK_SECONDS) -> None:
    """Delete calls priced with another price table, so that they are indexed again. Call it before finding changes."""
    if _priced_by(catalogue) == pricing.version:
        return
    with catalogue.locked(lock_seconds), catalogue.transaction() as db:
        if _priced_by(catalogue) != pricing.version:
            for table in STAGE_TABLES[STAGE]:
                db.execute(f"DELETE FROM {table}")
            db.execute("DELETE FROM progress WHERE stage = ?", (STAGE,))
            catalogue.set_note(_PRICES, pricing.version)


def _priced_by(catalogue: Catalogue) -> object:
    return catalogue.connection.execute("SELECT value FROM notes WHERE name = ?", (_PRICES,)).get


class _Intake:
    def __init__(
        self,
        catalogue: Catalogue,
        sink: CallSink,
        changes: list[FileChange],
        report: CallsReport,
        progress: Callable[[int, int], None] | None,
        most_bytes: int | None = None,
    ) -> None:
        from .collect import FileCalls, microseconds

        self._calls_of, self._microseconds = FileCalls, microseconds
        self._catalogue = catalogue
        self._sink = sink
        self._changes = changes
        self._report = report
        self._progress = progress
        self._allowed = None if most_bytes is None else max(most_bytes, 1)
        # Memory that begins at the start of a page: the system copies much more slowly into memory that does not.
        self._buffer = mmap.mmap(-1, BUFFER)
        self._view = memoryview(self._buffer)
        self._begun: int | None = None
        self._begins = False
        """Whether no time of the file's beginning has been found yet."""
        self._cut_short = False
        """Whether reading of the last file stopped before its end, because `most_bytes` was reached."""
        self._ends_oddly = False
        """Whether the last line does not look like an object: it may be part of an object that spans several lines."""

    def run(self) -> None:
        place, total = 0, len(self._changes)
        while place < total:
            size = 0
            with self._catalogue.transaction():
                if place == 0:
                    self._catalogue.set_note("change", self._catalogue.note("change") + 1)
                while place < total and size < BATCH_BYTES and not self._is_enough:
                    change = self._changes[place]
                    size += change.size - change.start
                    self._file(change)
                    place += 1
                self._sink.settle()
            if self._progress is not None:
                self._progress(place, total)
            if self._is_enough:
                self._report.left += self._changes[place:]
                return

    @property
    def _is_enough(self) -> bool:
        return self._allowed is not None and self._report.bytes >= self._allowed

    def _file(self, change: FileChange) -> None:
        if note_touched(self._catalogue, change):
            return
        if change.reason == "moved":  # the path helps to decide which copy of a call counts
            self._sink.revisit(change.file_id)
        if change.reason in ("rewritten", "gone"):
            self._sink.forget(change.file_id)
        if change.reason == "moved" and self._is_of_another(change):
            self._sink.forget(change.file_id)
            begin_anew(self._catalogue, change)
        else:
            begin(self._catalogue, change)
        if change.reason == "gone":
            return
        self._report.files += 1
        try:
            stream = open_changed(change)
        except RecollectError:
            done_unreadable(self._catalogue, change)
            self._report.unreadable += 1
            return
        with stream:
            try:
                self._take_in(change, stream)
            except Exception as problem:
                self._report.left_out.note(change.full_path, "", problem)
                self._sink.forget(change.file_id)
                done_unreadable(self._catalogue, change)

    def _take_in(self, change: FileChange, stream: BinaryIO) -> None:
        def failed(line: int, problem: Exception) -> None:
            self._report.left_out.note(change.full_path, f"line {line}", problem)

        db = self._catalogue.connection
        note_owner(self._catalogue, change, stream)
        found = self._calls_of(change.session_id if change.kind == "session" else None, change.subagent_id, failed)
        end, lines, state = self._read(stream, change, found)
        if found.counts_without_object or self._ends_oddly:
            found = self._calls_of(change.session_id if change.kind == "session" else None, change.subagent_id, failed)
            end, lines, state = self._read_entries(stream, change, found)
        self._report.lines += found.decoded
        if state is not None:
            db.execute("INSERT OR REPLACE INTO cost_states VALUES (?, ?, ?)", (change.file_id, state[0], state[1]))
        if self._begun is not None:
            db.execute("INSERT OR REPLACE INTO call_files VALUES (?, ?)", (change.file_id, self._begun))
            if change.start > 0:  # with its first time, this file's calls may rank differently among copies
                self._sink.revisit(change.file_id)
        if found.calls:
            self._add(change, found)
        if self._cut_short:
            change.size = PARTLY
            self._report.left.append(change)
        done(self._catalogue, change, stream, offset=end, lines=lines)
        self._report.bytes += end - change.start

    def _add(self, change: FileChange, found: FileCalls) -> None:
        from .store import add_calls

        add_calls(self._sink, change.file_id, list(found.calls.values()), grown=change.start > 0)
        self._report.calls += len(found.calls)

    def _is_of_another(self, change: FileChange) -> bool:
        """Return whether a moved file may now belong to another session or subagent: then other lines of it are copies.

        If another stage has already recorded the new path, the old one is unknown, and the answer is yes.
        """
        path, session, subagent = self._catalogue.connection.execute(
            "SELECT path, iif(kind = 'session', session_id, NULL), subagent_id FROM files WHERE id = ?",
            (change.file_id,),
        ).fetchall()[0]
        own = change.session_id if change.kind == "session" else None
        return path == change.path or session != own or subagent != change.subagent_id

    def _read(self, stream: BinaryIO, change: FileChange, found: FileCalls) -> tuple[int, int, tuple[int, str] | None]:
        """Collect the calls of a file. Return the end of the last line, the number of lines, the last cost state."""
        self._begun, self._cut_short, self._ends_oddly = None, False, False
        self._begins = change.start == 0 or self._has_no_begin(change)
        if len(self._buffer) > BUFFER * 8:
            self._use(mmap.mmap(-1, BUFFER))
        if change.start:
            stream.seek(change.start)
        fill = stream.readinto  # type: ignore[attr-defined]  # of every unbuffered file
        buffer, view = self._buffer, self._view
        room = len(buffer)
        left = change.size - change.start
        enough = None if self._allowed is None else change.start + self._allowed - self._report.bytes
        base, have, lines = (
            change.start,
            0,
            change.lines_before,
        )  # `base`: offset in the file of the buffer's first byte
        state: tuple[int, str] | None = None
        first = change.start > 0
        skipping = False
        while True:
            got = fill(view[have : have + min(room - have, left)]) or 0 if left > 0 else 0
            left -= got
            end = have + got
            if first and end:  # the line feed of a line that was read before it had one
                first = False
                cut = 2 if buffer[:2] == b"\r\n" else 1 if buffer[:1] == b"\n" else 0
                if cut and read_at(stream, change.start - 1, 1) != b"\n":  # else this is a blank line
                    view[: end - cut] = bytes(view[cut:end])
                    base, end = base + cut, end - cut
            last = buffer.rfind(b"\n", 0, end) + 1
            if last == 0 and got and left > 0:
                if end < room:
                    have = end
                    continue
                if room >= LONGEST:
                    base, have, skipping = base + end, 0, True  # too long: search only for the end of the line
                    continue
                larger = mmap.mmap(-1, min(room * 4, LONGEST))
                larger[:end] = buffer[:end]
                buffer, have, room = larger, end, len(larger)
                view = self._use(larger)
                continue
            start = 0
            if skipping and last:
                start = buffer.find(b"\n", 0, end) + 1
                lines, skipping = lines + 1, False
            if self._begins:
                self._look_for_begin(buffer, last)
            lines = found.scan(buffer, view, start, last, lines)
            if found.cost_state is not None:
                begin_at, end_at = found.cost_state
                state = base + begin_at, buffer[begin_at:end_at].decode("utf-8", "replace")
                found.cost_state = None
            have = end - last
            if got == 0 or left <= 0:
                self._ends_oddly = last > start and not _looks_like_an_object(buffer, last)
                if last == end and not skipping:
                    return base + end, lines, state
                return self._tail(buffer, last, end, base, lines, found, state, skipping)
            view[:have] = bytes(view[last:end])
            base += last
            if enough is not None and base >= enough:
                self._cut_short = True
                return base, lines, state

    def _read_entries(
        self, stream: BinaryIO, change: FileChange, found: FileCalls
    ) -> tuple[int, int, tuple[int, str] | None]:
        """Collect the calls of a file entry by entry, because some objects span several lines, or may do so.

        Returns what `_read` returns.
        """
        from ..catalogue.ingest import FileLines
        from .collect import ANSWER, is_cost_state
        from .decode import NEEDLE, time_of

        self._begun, self._cut_short = None, False
        self._begins = change.start == 0 or self._has_no_begin(change)
        state: tuple[int, str] | None = None
        lines = FileLines(stream, change)
        for line in lines:
            if line.more or line.part:
                continue
            data = line.data
            if self._begins:
                self._look_for_begin(data, len(data))
            if self._begins and line.lines > 1:
                self._begun = self._microseconds(time_of(data))
                self._begins = self._begun is None
            if NEEDLE in data or ANSWER in data:
                found.take_or_note(data, line.number)
            if is_cost_state(data):
                state = line.offset, data.decode("utf-8", "replace")
        return lines.end, lines.lines, state

    def _has_no_begin(self, change: FileChange) -> bool:
        """Return whether no line of the file had a time in earlier syncs."""
        db = self._catalogue.connection
        return db.execute("SELECT 1 FROM call_files WHERE file_id = ?", (change.file_id,)).get is None

    def _look_for_begin(self, data: mmap.mmap | bytes, end: int) -> None:
        """Search for the first time in the data, and record it as the file's beginning."""
        mark = -1
        while self._begun is None and (mark := data.find(TIMESTAMP, mark + 1, end)) >= 0:
            place = mark + len(TIMESTAMP)
            stop = data.find(b'"', place, place + LONGEST_TIME)
            self._begun = self._microseconds(data[place:stop].decode("ascii", "replace")) if stop > place else None
        self._begins = self._begun is None

    def _tail(
        self, buffer: mmap.mmap, last: int, end: int, base: int, lines: int, found: FileCalls,
        state: tuple[int, str] | None, skipping: bool,
    ) -> tuple[int, int, tuple[int, str] | None]:  # fmt: skip
        """Collect the calls of what follows the last line feed, if it is a complete object. Returns like `_read`."""
        from .collect import ANSWER, is_cost_state
        from .decode import NEEDLE, is_whole

        data = buffer[last:end]
        if not data.strip() or skipping or not is_whole(data):
            return base + last, lines, state
        if self._begins:
            self._look_for_begin(data, len(data))
        if NEEDLE in data or ANSWER in data:
            found.take_or_note(data, lines + 1)
        if is_cost_state(data):
            state = base + last, data.decode("utf-8", "replace")
        return base + end, lines + 1, state

    def _use(self, buffer: mmap.mmap) -> memoryview:
        self._view.release()
        self._buffer, self._view = buffer, memoryview(buffer)
        return self._view


def _looks_like_an_object(buffer: mmap.mmap, end: int) -> bool:
    """Return whether the line that ends at `end` begins and ends with a brace."""
    line = buffer[buffer.rfind(b"\n", 0, end - 1) + 1 : end].strip()
    return line[:1] == b"{" and line[-1:] == b"}"
