"""The stage "calls": every API call of every file, for `usage`. It looks only at lines that hold token counts.

    changes = sync_calls(catalogue, homes)       # files that are as they were are not opened

A call that stands in several files of a home (forks, resumed copies, sub-agents' copies) is booked once, on the file where
it appeared first: see `sharing`. Whoever keeps sums over the calls of a file finds the files to renew in `sums_stale`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..errors import RecollectError
from ..store.home import Home
from .catalogue import Catalogue
from .tracking import FileChange, begin, changed, done, done_unreadable, open_changed

if TYPE_CHECKING:
    from .file_calls import FileCalls

STAGE: Final = "calls"
BUFFER: Final = 1 << 20
LONGEST: Final = 160 << 20
"""No longer line is held: no client can read such a line either."""
BATCH_BYTES: Final = 256 << 20
TIMESTAMP: Final = b'"timestamp":"'
COST_STATE: Final = b'{"type":"cost-state"'

_INSERT: Final = f"INSERT INTO call_rows VALUES ({', '.join('?' * 22)})"


@dataclass(slots=True)
class CallsReport:
    """What a sync of this stage did."""

    files: int = 0
    bytes: int = 0
    calls: int = 0
    lines: int = 0
    """Lines that were decoded."""
    unreadable: int = 0


#: Told of a file's calls right after they were read: (file_id, rows of `call_rows`). Not called for files that only grew.
Listener = Callable[[int, Sequence[tuple[Any, ...]]], None]


def sync_calls(
    catalogue: Catalogue,
    homes: Iterable[Home],
    *,
    listener: Listener | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CallsReport:
    """Bring the calls of these homes up to date. Without changes nothing is locked, opened or written."""
    homes = list(homes)
    report = CallsReport()
    before = catalogue.note("change")
    changes = changed(catalogue, homes, STAGE)
    if not changes:
        return report
    with catalogue.locked():
        if catalogue.note("change") != before:  # another process may have done it meanwhile
            changes = changed(catalogue, homes, STAGE)
        if changes:
            from ..graph.collector import collector_waits

            with collector_waits():
                _Intake(catalogue, changes, report, listener, progress).run()
    return report


class _Intake:
    def __init__(
        self,
        catalogue: Catalogue,
        changes: list[FileChange],
        report: CallsReport,
        listener: Listener | None,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        from .sharing import Sharing
        from .strings import Strings

        self._catalogue = catalogue
        self._changes = changes
        self._report = report
        self._listener = listener
        self._progress = progress
        self._strings = Strings(catalogue.connection)
        self._sharing = Sharing(catalogue, many=len(changes) > 20)
        self._buffer = bytearray(BUFFER)
        self._begun: int | None = None

    def run(self) -> None:
        place, total = 0, len(self._changes)
        while place < total:
            size = 0
            with self._catalogue.transaction() as db:
                if place == 0:
                    self._catalogue.set_note("change", self._catalogue.note("change") + 1)
                while place < total and size < BATCH_BYTES:
                    change = self._changes[place]
                    size += change.size - change.start
                    self._file(change)
                    place += 1
                for file_id in self._sharing.settle():
                    db.execute("INSERT OR IGNORE INTO sums_stale VALUES (?)", (file_id,))
            if self._progress is not None:
                self._progress(place, total)

    def _file(self, change: FileChange) -> None:
        db = self._catalogue.connection
        if change.reason in ("rewritten", "gone"):
            self._sharing.forget(change)
        told = None
        if (
            change.reason == "moved" and change.session_id is None
        ):  # its lines said whose it is, and they are not read again
            told = db.execute("SELECT session_id FROM files WHERE id = ?", (change.file_id,)).get
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
            from .file_calls import FileCalls

            found = FileCalls(change.session_id if change.kind == "session" else None, change.agent_id)
            end, lines, state = self._read(stream.fileno(), change, found)
            if state is not None:
                db.execute("INSERT OR REPLACE INTO cost_states VALUES (?, ?, ?)", (change.file_id, state[0], state[1]))
            told = found.told_session or told
            if change.kind == "agent" and change.session_id is None and told is not None:
                change.session_id = told
                db.execute("UPDATE files SET session_id = ? WHERE id = ?", (change.session_id, change.file_id))
            if change.start == 0:
                if self._begun is not None:
                    db.execute("INSERT OR REPLACE INTO call_files VALUES (?, ?)", (change.file_id, self._begun))
                self._put(change, found)
            else:
                self._add(change, found)
            done(self._catalogue, change, stream, offset=end, lines=lines)
            self._report.bytes += end - change.start

    def _put(self, change: FileChange, found: FileCalls) -> None:
        """The calls of a file that was read from its start."""
        file_id = change.file_id
        rows = list(found.rows(file_id, self._strings.number))
        if rows:
            self._catalogue.connection.executemany(_INSERT, rows)
            self._sharing.note(change, rows)
            self._report.calls += len(rows)
        if self._listener is not None:
            self._listener(file_id, rows)
        else:
            self._catalogue.connection.execute("INSERT OR IGNORE INTO sums_stale VALUES (?)", (file_id,))

    def _add(self, change: FileChange, found: FileCalls) -> None:
        """What came to a file that grew: new calls, and more lines of calls that are there."""
        from .file_calls import LOWER_BOUND, ODD, PROGRESS

        db = self._catalogue.connection
        file_id = change.file_id
        db.execute("INSERT OR IGNORE INTO sums_stale VALUES (?)", (file_id,))
        known = {
            (row[0], row[1], row[2]): row[3:]
            for row in db.execute(
                "SELECT message_id, request_id, model_id, number, flags, input, output, cache_write_5m, cache_write_1h, "
                "cache_read, thinking, web_searches FROM call_rows WHERE file_id = ?",
                (file_id,),
            )
        }
        next_number = max((row[0] for row in known.values()), default=-1) + 1
        rows: list[tuple[Any, ...]] = []
        for _, _, *columns in found.rows(file_id, self._strings.number):
            new = tuple(columns)
            old = known.get(new[:3])
            if old is None:
                rows.append((file_id, next_number, *new))
                db.execute(_INSERT, rows[-1])
                next_number += 1
                continue
            counts = [max(pair) for pair in zip(old[2:], new[5:12], strict=True)]
            both = LOWER_BOUND | PROGRESS  # these hold only as long as all lines say so
            flags = old[1] & ~both | old[1] & new[19] & both | new[19] & ODD
            db.execute(
                "UPDATE call_rows SET input = ?, output = ?, cache_write_5m = ?, cache_write_1h = ?, cache_read = ?, "
                "thinking = ?, web_searches = ?, stop_id = coalesce(?, stop_id), flags = ? WHERE file_id = ? AND number = ?",
                (*counts, new[15], flags, file_id, old[0]),
            )
            rows.append((file_id, old[0], *new))
        self._sharing.note(change, rows)
        self._report.calls += len(rows)

    def _read(self, fd: int, change: FileChange, found: FileCalls) -> tuple[int, int, tuple[int, str] | None]:
        """Hand on every line with token counts. Returns the end of the last line, the number of lines, the cost state."""
        from .call_lines import NEEDLE
        from .file_calls import microseconds

        self._begun = None

        os.lseek(fd, change.start, os.SEEK_SET)
        buffer = self._buffer
        view = memoryview(buffer)
        left = change.size - change.start
        base, have, lines = change.start, 0, change.lines_before  # `base`: where the buffer's first byte stands
        state: tuple[int, str] | None = None
        first = change.start > 0
        skipping = False
        find, starts, take, decoded = buffer.find, buffer.startswith, found.take, 0
        while True:
            got = os.readv(fd, [view[have : have + max(min(len(buffer) - have, left), 0)]]) if left > 0 else 0
            left -= got
            end = have + got
            if first and end:  # the line feed of a line that was taken without it
                first = False
                cut = 2 if buffer.startswith(b"\r\n") else 1 if buffer[:1] == b"\n" else 0
                if cut:
                    view[: end - cut] = bytes(view[cut:end])
                    base, end = base + cut, end - cut
            last = buffer.rfind(b"\n", 0, end) + 1
            if last == 0 and got and left > 0:
                if end < len(buffer):
                    have = end
                    continue
                if len(buffer) >= LONGEST:
                    base, have, skipping = base + end, 0, True  # too long: only its end is looked for
                    continue
                larger = bytearray(min(len(buffer) * 4, LONGEST))
                larger[:end] = buffer
                view.release()
                buffer = self._buffer = larger
                view, find, starts, have = memoryview(buffer), buffer.find, buffer.startswith, end
                continue
            start = 0
            if skipping and last:
                start = find(b"\n", 0, end) + 1
                lines, skipping = lines + 1, False
            if base == 0 and (mark := find(TIMESTAMP, 0, last)) >= 0:
                mark += len(TIMESTAMP)
                self._begun = microseconds(bytes(buffer[mark : mark + 24]).decode("ascii", "replace"))
            needle = find(NEEDLE, start, last)
            while start < last:  # looking for the next line feed is quicker than counting line feeds up to a needle
                stop = find(b"\n", start, last)
                lines += 1
                if 0 <= needle < stop:
                    take(view[start:stop], lines)
                    decoded += 1
                    needle = find(NEEDLE, stop, last)
                elif starts(COST_STATE, start):
                    state = base + start, bytes(view[start:stop]).decode("utf-8", "replace")
                start = stop + 1
            have = end - last
            if got == 0 or left <= 0:
                self._report.lines += decoded
                return self._tail(buffer, view, last, end, base, lines, found, state, skipping)
            view[:have] = bytes(view[last:end])
            base += last

    def _tail(
        self, buffer: bytearray, view: memoryview, last: int, end: int, base: int, lines: int, found: FileCalls,
        state: tuple[int, str] | None, skipping: bool,
    ) -> tuple[int, int, tuple[int, str] | None]:  # fmt: skip
        """The rest of a file behind its last line feed is taken where it is one whole object."""
        from .call_lines import NEEDLE, is_whole

        data = bytes(view[last:end])
        view.release()
        if len(buffer) > BUFFER * 8:
            self._buffer = bytearray(BUFFER)
        if not data.strip() or skipping or not is_whole(data):
            return base + last, lines, state
        if NEEDLE in data:
            found.take(data, lines + 1)
            self._report.lines += 1
        if data.startswith(COST_STATE):
            state = base + last, data.decode("utf-8", "replace")
        return base + end, lines + 1, state
