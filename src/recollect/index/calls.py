"""The stage "calls": every API call of every file, for `usage`. It looks only at lines that hold token counts.

    changes = sync_calls(catalogue, homes)       # files that are as they were are not opened

A call that stands in several files of a home (forks, resumed copies, sub-agents' copies) is booked once, on the file where
it appeared first: see `sharing`. Whoever keeps sums over the calls of a file finds the files to renew in `sums_stale`.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol

from ..errors import RecollectError
from ..store.home import Home
from .call_packs import INSERT_PACK, Columns, calls_of, packed
from .catalogue import LOCK_SECONDS, Catalogue
from .flat_agents import note_owner
from .new_files import NewFiles
from .system_search import WORTH_IN_ALL, address_of, system_search
from .tracking import (
    PARTLY,
    FileChange,
    begin,
    begin_anew,
    changed,
    done,
    done_unreadable,
    hashes,
    hashes_within,
    note_touched,
    open_changed,
    read_at,
)

if TYPE_CHECKING:
    from .file_calls import FileCalls

STAGE: Final = "calls"
BUFFER: Final = 1 << 19
"""Small enough to stay close to the processor: what was just copied into it is searched and decoded there."""
LONGEST: Final = 160 << 20
"""No longer line is held: no client can read such a line either."""
BATCH_BYTES: Final = 512 << 20
"""After so many bytes what was found is kept for good. Calls in several files are looked for among all that there are then."""
TIMESTAMP: Final = b'"timestamp":"'
LONGEST_TIME: Final = 48
"""Bytes within which a time ends, whatever way it is written."""


@dataclass(slots=True)
class CallsReport:
    """What a sync of this stage did."""

    files: int = 0
    bytes: int = 0
    calls: int = 0
    lines: int = 0
    """Lines that were decoded."""
    unreadable: int = 0
    left: list[FileChange] = field(default_factory=list)
    """What was not taken in, or not to its end, since it was enough."""


class Listener(Protocol):
    """Told of a file's calls right after they were read; not of those of files that only grew."""

    def start(self) -> None:
        """A transaction begins."""

    def take(self, file_id: int, columns: Columns) -> None: ...

    def write(self) -> None:
        """It ends: what was made of what was taken goes into the catalogue."""


def sync_calls(
    catalogue: Catalogue,
    homes: Iterable[Home],
    *,
    listener: Listener | None = None,
    progress: Callable[[int, int], None] | None = None,
    changes: list[FileChange] | None = None,
    lock_seconds: float = LOCK_SECONDS,
    most_bytes: int | None = None,
) -> CallsReport:
    """Bring the calls of these homes up to date. Without changes nothing is locked, opened or written.

    `changes` are those that the caller has found just now. After `most_bytes` it stops, at the end of some line: the next sync
    goes on there. However few they are, something is taken in.
    """
    homes = list(homes)
    report = CallsReport()
    before = catalogue.note("change")
    if changes is None:
        changes = changed(catalogue, homes, STAGE)
    if not changes:
        return report
    with catalogue.locked(lock_seconds):
        if catalogue.note("change") != before:  # another process may have done it meanwhile
            changes = changed(catalogue, homes, STAGE)
        if changes:
            from ..graph.collector import collector_waits

            with collector_waits():
                _Intake(catalogue, changes, report, listener, progress, most_bytes).run()
    return report


class _Intake:
    def __init__(
        self,
        catalogue: Catalogue,
        changes: list[FileChange],
        report: CallsReport,
        listener: Listener | None,
        progress: Callable[[int, int], None] | None,
        most_bytes: int | None = None,
    ) -> None:
        from .file_calls import FileCalls, microseconds
        from .sharing import Sharing
        from .strings import Strings

        self._calls_of, self._microseconds = FileCalls, microseconds

        self._catalogue = catalogue
        self._changes = changes
        self._report = report
        self._listener = listener
        self._progress = progress
        self._allowed = None if most_bytes is None else max(most_bytes, 1)
        self._strings = Strings(catalogue.connection)
        # Calls without a model are rare: only where that text is known some may have to be joined with others.
        if catalogue.connection.execute("SELECT 1 FROM strings WHERE text = ''").get is not None:
            self._strings.number("")
        # To know all calls that there are pays only for who takes in more than a few.
        self._sharing = Sharing(catalogue, many=len(changes) > 20 and most_bytes is None)
        self._new = NewFiles(catalogue)
        self._packs: list[tuple[int, int, int | None, str, bytes]] = []
        self._begun_files: list[tuple[int, int]] = []
        reading = sum(change.size - change.start for change in changes)
        self._search = system_search() if reading >= WORTH_IN_ALL else None
        # Memory of its own pages: the system copies into what begins a few bytes behind a page's start much more slowly.
        self._buffer = mmap.mmap(-1, BUFFER + 1)
        self._view = memoryview(self._buffer)
        self._base = address_of(self._buffer) if self._search is not None else 0
        self._begun: int | None = None
        self._begins = False
        """Whether the time that the file was begun at is still looked for."""
        self._all_there = False
        """Whether the buffer holds the file that was read last from its first byte on."""
        self._cut_short = False
        """Whether that file was left before its end, since it was enough."""

    def run(self) -> None:
        place, total = 0, len(self._changes)
        while place < total:
            size = 0
            with self._catalogue.transaction() as db:
                if place == 0:
                    self._catalogue.set_note("change", self._catalogue.note("change") + 1)
                self._new.start()
                if self._listener is not None:
                    self._listener.start()
                while place < total and size < BATCH_BYTES and not self._is_enough:
                    change = self._changes[place]
                    size += change.size - change.start
                    self._file(change)
                    place += 1
                self._new.write()
                self._write()
                if self._listener is not None:
                    self._listener.write()
                for file_id in self._sharing.settle():
                    db.execute("INSERT OR IGNORE INTO sums_stale VALUES (?)", (file_id,))
            if self._progress is not None:
                self._progress(place, total)
            if self._is_enough:
                self._report.left += self._changes[place:]
                return

    @property
    def _is_enough(self) -> bool:
        return self._allowed is not None and self._report.bytes >= self._allowed

    def _write(self) -> None:
        """What was gathered of files that were read from their start."""
        db = self._catalogue.connection
        db.executemany(INSERT_PACK, self._packs)
        db.executemany("INSERT OR REPLACE INTO call_files VALUES (?, ?)", self._begun_files)
        self._packs, self._begun_files = [], []

    def _file(self, change: FileChange) -> None:
        if note_touched(self._catalogue, change):
            return
        db = self._catalogue.connection
        if change.reason in ("rewritten", "gone", "moved"):  # by its name, too, it is told where a call is booked
            self._sharing.forget(change)
        is_new = change.file_id == 0
        if is_new:
            self._new.begin(change)
        elif change.reason == "moved" and self._is_of_another(change):
            begin_anew(self._catalogue, change)
        else:
            begin(self._catalogue, change)
        if change.reason == "gone":
            return
        self._report.files += 1
        try:
            stream = open_changed(change)
        except RecollectError:
            if is_new:
                self._new.unreadable(change)
            else:
                done_unreadable(self._catalogue, change)
            self._report.unreadable += 1
            return
        with stream:
            note_owner(self._catalogue, change, stream)
            found = self._calls_of(
                change.session_id if change.kind == "session" else None, change.agent_id, self._strings.numbers
            )
            end, lines, state = self._read(stream, change, found)
            self._report.lines += found.decoded
            if state is not None:
                db.execute("INSERT OR REPLACE INTO cost_states VALUES (?, ?, ?)", (change.file_id, state[0], state[1]))
            if self._begun is not None:
                self._begun_files.append((change.file_id, self._begun))
            if change.start == 0:
                self._put(change, found)
            else:
                self._add(change, found)
            if self._cut_short:
                change.size = PARTLY
                self._report.left.append(change)
            if is_new:
                self._new.done(change, self._hashes(stream, end), end, lines)
            else:
                done(self._catalogue, change, stream, offset=end, lines=lines)
            self._report.bytes += end - change.start

    def _is_of_another(self, change: FileChange) -> bool:
        """Whether a file got the name of another session or sub-agent: then other lines of it are copies. It may also have
        been another stage that took note of the new name; then it cannot be told."""
        path, session, agent = self._catalogue.connection.execute(
            "SELECT path, iif(kind = 'session', session_id, NULL), agent_id FROM files WHERE id = ?", (change.file_id,)
        ).fetchall()[0]
        own = change.session_id if change.kind == "session" else None
        return path == change.path or session != own or agent != change.agent_id

    def _put(self, change: FileChange, found: FileCalls) -> None:
        """The calls of a file that was read from its start."""
        if "" in self._strings.numbers:
            from .nameless_calls import named

            found.calls = named(found.calls, "")
            self._sharing.note_nameless(change, found.calls)
        columns = found.columns()
        if columns:
            self._packs.append(packed(change.file_id, columns))
            self._sharing.note(change, found.calls)
            self._report.calls += len(found.calls)
        if self._listener is not None:
            self._listener.take(change.file_id, columns)
        else:
            self._catalogue.connection.execute("INSERT OR IGNORE INTO sums_stale VALUES (?)", (change.file_id,))

    def _add(self, change: FileChange, found: FileCalls) -> None:
        """What came to a file that grew: new calls, and more lines of calls that are there."""
        from .file_calls import joined_rows

        db = self._catalogue.connection
        db.execute("INSERT OR IGNORE INTO sums_stale VALUES (?)", (change.file_id,))
        if self._begun is not None:  # it may be another file's copy now
            self._sharing.forget(change)
        if not found.calls:
            return
        rows = {row[:3]: row for row in calls_of(db, change.file_id)}
        for new in map(tuple, found.calls.values()):
            old = rows.get(new[:3])
            rows[new[:3]] = new if old is None else joined_rows(old, new)
        nameless = self._strings.numbers.get("")
        if nameless is not None:
            from .nameless_calls import named

            before, rows = rows, named(rows, nameless)
            if rows is not before:  # their places are other ones
                self._sharing.forget(change)
            self._sharing.note_nameless(change, found.calls)
        db.execute(INSERT_PACK, packed(change.file_id, tuple(zip(*rows.values(), strict=True))))
        self._sharing.note(change, found.calls)
        self._report.calls += len(found.calls)

    def _read(self, stream: BinaryIO, change: FileChange, found: FileCalls) -> tuple[int, int, tuple[int, str] | None]:
        """Hand on every line with token counts. Returns the end of the last line, the number of lines, the cost state."""
        self._begun, self._all_there, self._cut_short = None, False, False
        self._begins = change.start == 0 or self._has_no_begin(change)
        if len(self._buffer) > BUFFER * 8 + 1:
            self._use(mmap.mmap(-1, BUFFER + 1))
        if change.start:
            stream.seek(change.start)
        fill = stream.readinto  # type: ignore[attr-defined]  # of every unbuffered file
        buffer, view = self._buffer, self._view
        room = len(buffer) - 1  # one byte stays free: the system's search ends there
        left = change.size - change.start
        enough = None if self._allowed is None else change.start + self._allowed - self._report.bytes
        base, have, lines = change.start, 0, change.lines_before  # `base`: where the buffer's first byte stands
        state: tuple[int, str] | None = None
        first = change.start > 0
        skipping = False
        while True:
            got = fill(view[have : have + min(room - have, left)]) or 0 if left > 0 else 0
            left -= got
            end = have + got
            buffer[end] = 0
            if first and end:  # the line feed of a line that was taken without it
                first = False
                cut = 2 if buffer[:2] == b"\r\n" else 1 if buffer[:1] == b"\n" else 0
                if cut and read_at(stream, change.start - 1, 1) != b"\n":  # else it is a blank line
                    view[: end - cut] = bytes(view[cut:end])
                    base, end = base + cut, end - cut
            last = buffer.rfind(b"\n", 0, end) + 1
            if last == 0 and got and left > 0:
                if end < room:
                    have = end
                    continue
                if room >= LONGEST:
                    base, have, skipping = base + end, 0, True  # too long: only its end is looked for
                    continue
                larger = mmap.mmap(-1, min(room * 4, LONGEST) + 1)
                larger[:end] = buffer[:end]
                buffer, have, room = larger, end, len(larger) - 1
                view = self._use(larger)
                continue
            start = 0
            if skipping and last:
                start = buffer.find(b"\n", 0, end) + 1
                lines, skipping = lines + 1, False
            if self._begins:
                self._look_for_begin(buffer, last)
            lines = found.scan(buffer, view, start, last, lines, self._search, self._base)
            if found.cost_state is not None:
                begin_at, end_at = found.cost_state
                state = base + begin_at, buffer[begin_at:end_at].decode("utf-8", "replace")
                found.cost_state = None
            have = end - last
            if got == 0 or left <= 0:
                self._all_there = base == 0
                if last == end and not skipping:
                    return base + end, lines, state
                return self._tail(buffer, last, end, base, lines, found, state, skipping)
            view[:have] = bytes(view[last:end])
            base += last
            if enough is not None and base >= enough:
                self._cut_short = True
                return base, lines, state

    def _has_no_begin(self, change: FileChange) -> bool:
        """Whether no line of a file had a time until now."""
        db = self._catalogue.connection
        return db.execute("SELECT 1 FROM call_files WHERE file_id = ?", (change.file_id,)).get is None

    def _look_for_begin(self, data: mmap.mmap | bytes, end: int) -> None:
        """The first time that stands there, as long as none was found."""
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
        """The rest of a file behind its last line feed is taken where it is one whole object."""
        from .call_lines import NEEDLE, is_whole
        from .file_calls import ANSWER, is_cost_state

        data = buffer[last:end]
        if not data.strip() or skipping or not is_whole(data):
            return base + last, lines, state
        if self._begins:
            self._look_for_begin(data, len(data))
        if NEEDLE in data or ANSWER in data:
            found.take(data, lines + 1)
        if is_cost_state(data):
            state = base + last, data.decode("utf-8", "replace")
        return base + end, lines + 1, state

    def _use(self, buffer: mmap.mmap) -> memoryview:
        self._view.release()
        self._buffer, self._view = buffer, memoryview(buffer)
        if self._search is not None:
            self._base = address_of(buffer)
        return self._view

    def _hashes(self, stream: BinaryIO, offset: int) -> tuple[int, int]:
        """The checksums of what was read up to a place."""
        return hashes_within(self._view[:offset]) if self._all_there else hashes(stream, offset)
