"""Run the stage `entries`: index changed files as rows of the catalogue and, if the word index is open, as its words.

Rows are committed every few thousand lines, together with how far the file was read, so an interrupted sync continues
from there. Memory stays bounded: very long lines are not decoded in full, large files are committed piece by piece.

Side files become rows here too: the history of prompts, tasks, todos, notes about subagents, custom titles. A session that is
indexed from its start gets the statuses of its entries in the same run. A session that only grew keeps its old statuses and is
marked as outdated (`threaded = 0`); `renew_statuses` reads its file again when a query needs the statuses.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

import apsw

from ...errors import NotFound, RecollectError
from ...format.decode import Located, parse_as
from ...format.entries import REFUSED, ROW_TYPES, Entry, GraphEntry, decode_graph_entry, graph_entry_of
from ...format.history import parse_history_line
from ...format.line import Damage, RawLine, read_entry_lines, read_lines
from ...format.path_text import to_path, to_text
from ...format.salvage import salvage_line
from ...format.session_meta import parse_custom_title, parse_subagent_meta
from ...format.todos import parse_task, parse_todos, task_number
from ...format.worded_entry import LONG_LINE, IndexEntry, decode_index_entry, index_entry_of
from ...graph.rows import build_transcript, gc_paused
from ...graph.thread import Thread, find_thread
from ...store.home import Home, open_inside
from ..words.searchable_text import clean, clean_entry
from ..words.word_index import MARK, WordsWriter
from .catalogue import LOCK_SECONDS, Catalogue, Strings
from .left_out import LeftOut
from .sync import Progress as Progress
from .sync import SyncReport as SyncReport
from .tracking import (
    LINE_KINDS,
    FileChange,
    begin,
    begin_anew,
    done,
    done_unreadable,
    drop_rows,
    note_owner,
    note_touched,
    open_changed,
)
from .transcript_rows import TranscriptRows

SIZE_LIMIT: Final = 64 << 20
"""Side files are small. A larger one could be read only in part, so it is left out."""


def take_in_history(db: apsw.Connection, change: FileChange, lines: Iterable[RawLine], left_out: LeftOut) -> None:
    for line in lines:
        if line.more or line.part:
            continue
        try:
            _take_in_line(db, change, line)
        except Exception as problem:
            left_out.note(change.full_path, f"line {line.number}", problem)


def _take_in_line(db: apsw.Connection, change: FileChange, line: RawLine) -> None:
    for part, entry in enumerate(parse_history_line(line.data, number=line.number, offset=line.offset)):
        if entry.display is not None:
            db.execute(
                "INSERT OR REPLACE INTO prompts VALUES (?, ?, ?, ?, ?, ?, ?)",
                (change.file_id, line.number, part, _moment(entry.timestamp), clean(entry.project),
                 clean(entry.session_id), clean(entry.display)),
            )  # fmt: skip
        elif entry.problem is not None:
            db.execute(
                "INSERT INTO damage VALUES (?, ?, ?, ?, 'not-json', ?)",
                (change.file_id, line.number, line.offset, len(line.data), clean(entry.problem)),
            )


def take_in(db: apsw.Connection, change: FileChange, stream: BinaryIO) -> int:
    """Index one small file. Return how many bytes were read."""
    data = stream.read(SIZE_LIMIT + 1) or b""
    if len(data) > SIZE_LIMIT:
        data = b""
    if change.kind == "subagent_meta":
        meta = parse_subagent_meta(data)
        db.execute(
            "INSERT OR REPLACE INTO subagent_notes VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (change.file_id, change.session_id, change.subagent_id, clean(meta.subagent_type), clean(meta.description),
             clean(meta.tool_use_id), clean(meta.parent_subagent_id), clean(meta.model)),
        )  # fmt: skip
    elif change.kind == "title":
        title = parse_custom_title(data)
        db.execute(
            "INSERT OR REPLACE INTO titles VALUES (?, ?, ?)", (change.file_id, change.session_id, clean(title.title))
        )
    elif change.kind == "task":
        task = parse_task(data)
        number = task_number(change.path.rsplit("/", 1)[-1]) or 0
        _insert_task(db, change, number, "task", task.id, task.subject, task.description, task.status, task.owner)
    elif change.kind == "todo":
        for place, todo in enumerate(parse_todos(data).items, 1):
            _insert_task(db, change, place, "todo", todo.id, todo.content, todo.active_form, todo.status, None)
    return len(data)


def _insert_task(db: apsw.Connection, change: FileChange, place: int, source: str, *texts: str | None) -> None:
    ident, subject, description, status, owner = (clean(text) for text in texts)
    db.execute(
        "INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (change.file_id, place, source, change.session_id, change.subagent_id, ident, subject, description, status, owner,
         change.mtime_ns // 1000),
    )  # fmt: skip


def _moment(value: datetime | None) -> int | None:
    return None if value is None else round(value.timestamp() * 1_000_000)


LINES_PER_COMMIT: Final = 2_000
BYTES_PER_COMMIT: Final = 32 << 20
WHOLE: Final = 64 << 20
"""A transcript up to this size is indexed in one piece, together with the statuses of its entries."""
WORDS_PER_COMMIT: Final = 192 << 20
"""Bytes of transcripts that are read between two commits of the word index."""

_BROKEN_OFF: Final = frozenset({"torn", "not-json", "nul", "glued", "not-object", "control-character"})


class Ingest:
    """Index changed files one by one. The caller holds the catalogue's lock."""

    def __init__(
        self, catalogue: Catalogue, words: WordsWriter | None, report: SyncReport, progress: Callable[[int], None]
    ) -> None:
        self._catalogue = catalogue
        self._db = catalogue.connection
        self._words = words
        self._report = report
        self._progress = progress
        self._strings = Strings(self._db)
        self._last_id = catalogue.note("last_entry")
        self._lines = self._bytes = self._bytes_of_words = 0

    def run(self, changes: Iterable[FileChange]) -> None:
        self._begin()
        try:
            for change in changes:
                self._take_in(change)
                if self._lines >= LINES_PER_COMMIT or self._bytes >= BYTES_PER_COMMIT:
                    self._commit()
                    self._begin()
            self._commit()
            self._commit_words()
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _begin(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def _commit(self) -> None:
        self._catalogue.set_note("last_entry", self._last_id)
        self._db.execute("COMMIT")
        self._progress(self._bytes)
        self._bytes_of_words += self._bytes
        self._lines = self._bytes = 0
        if self._bytes_of_words >= WORDS_PER_COMMIT:
            self._commit_words()

    def _commit_words(self) -> None:
        """Commit the words, then the mark in the catalogue: after a crash in between, the words are added again."""
        self._bytes_of_words = 0
        if self._words is None:
            return
        self._words.commit(self._last_id)
        with self._catalogue.transaction() as db:
            self._catalogue.set_note(MARK, self._last_id)
            db.execute("DELETE FROM words_stale")

    def _take_in(self, change: FileChange) -> None:
        if note_touched(self._catalogue, change):
            return
        if change.reason == "moved" and change.stage == "entries":
            # The path determines session and project, which are part of rows and words: index the file from its start.
            begin_anew(self._catalogue, change)
        else:
            begin(self._catalogue, change)
        if self._words is not None and change.reason in ("gone", "moved", "rewritten"):
            self._words.forget_file(change.file_id)
        if change.reason == "gone":
            self._report.gone += 1
            self._lines += 1
            return
        try:
            stream = open_changed(change)
        except RecollectError:
            self._report.unreadable.append(str(change.full_path))
            done_unreadable(self._catalogue, change)
            return
        self._report.files += 1
        with stream:
            try:
                if change.kind in ("session", "subagent"):
                    self._take_in_transcript(change, stream)
                else:
                    self._take_in_side_file(change, stream)
            except OSError:  # of the disk or of a network file system
                self._report.unreadable.append(str(change.full_path))
                self._drop(change)
            except Exception as problem:
                self._report.left_out.note(change.full_path, "", problem)
                self._drop(change)

    def _drop(self, change: FileChange) -> None:
        """Leave a file out of the index until its stamp changes."""
        drop_rows(self._catalogue, change)
        if self._words is not None:
            self._words.forget_file(change.file_id)
        done_unreadable(self._catalogue, change)

    def _take_in_side_file(self, change: FileChange, stream: BinaryIO) -> None:
        if change.kind in LINE_KINDS:
            lines = FileLines(stream, change, read_lines)
            take_in_history(self._db, change, lines, self._report.left_out)
            self._count(lines.lines - change.lines_before, lines.end - change.start)
            done(self._catalogue, change, stream, offset=lines.end, lines=lines.lines)
            return
        size = take_in(self._db, change, stream)
        self._count(0, size)
        done(self._catalogue, change, stream, offset=size, lines=0)

    def _take_in_transcript(self, change: FileChange, stream: BinaryIO) -> None:
        note_owner(self._catalogue, change, stream)
        lines = FileLines(stream, change)
        damage: list[Damage] = []
        self._db.execute("DELETE FROM damage WHERE file_id = ? AND offset >= ?", (change.file_id, change.start))
        left_out = self._report.left_out
        rows = TranscriptRows(self._db, change, self._strings, self._last_id + 1, self._words, left_out)
        located = parse_as(lines, damage, decode_index_entry, _salvaged)
        threaded, reachable = rows.is_subagent_file, None
        if change.start == 0 and change.size <= WHOLE:
            with gc_paused():
                if rows.is_subagent_file:
                    for item in located:
                        rows.note(item)
                else:
                    threaded = True
                    try:
                        transcript = build_transcript(rows.through(located), damage)
                        transcript.lines, transcript.size = lines.lines, lines.end
                        thread = find_thread(transcript)
                        rows.set_statuses(placement.status for placement in thread.placements)
                        reachable = thread.reachable_share
                    except Exception as problem:
                        left_out.note(change.full_path, "statuses", problem)
                        for item in located:
                            rows.note(item)
        else:
            self._take_in_piecewise(change, stream, lines, located, rows, damage)
        if lines.unfinished is not None:
            damage.append(lines.unfinished)
        rows.flush(damage, lines=lines.lines, size=lines.end, threaded=threaded, reachable=reachable)
        self._note_read(rows, lines, lines.end, lines.lines)
        done(self._catalogue, change, stream, offset=lines.end, lines=lines.lines)

    def _take_in_piecewise(
        self, change: FileChange, stream: BinaryIO, lines: FileLines, located: Iterator[Located[IndexEntry]],
        rows: TranscriptRows, damage: list[Damage],
    ) -> None:  # fmt: skip
        """Index a large or grown file with commits on the way, which bound the memory and the work lost by a crash."""
        line = 0
        for item in located:
            full = len(rows.entries) >= LINES_PER_COMMIT or lines.taken - lines.noted > BYTES_PER_COMMIT
            if full and item.line != line:
                rows.flush(
                    damage, lines=lines.taken_lines, size=lines.taken, threaded=rows.is_subagent_file, reachable=None
                )
                self._note_read(rows, lines, lines.taken, lines.taken_lines)
                done(self._catalogue, change, stream, offset=lines.taken, lines=lines.taken_lines, complete=False)
                self._commit()
                self._begin()
            line = item.line
            rows.note(item)

    def _note_read(self, rows: TranscriptRows, lines: FileLines, end: int, count: int) -> None:
        self._report.entries += rows.next_id - 1 - self._last_id
        self._last_id = rows.next_id - 1
        self._count(count - lines.noted_lines, end - lines.noted)
        lines.noted, lines.noted_lines = end, count

    def _count(self, lines: int, size: int) -> None:
        self._lines += lines
        self._bytes += size
        self._report.lines += lines
        self._report.bytes += size


def _salvaged(entry: Entry) -> IndexEntry:
    found: IndexEntry = clean_entry(index_entry_of(entry))
    return found


class FileLines:
    """Iterate over the complete lines of a file from where the last sync stopped, and record how far they reach."""

    def __init__(
        self, stream: BinaryIO, change: FileChange, read: Callable[..., Iterator[RawLine]] = read_entry_lines
    ) -> None:
        self._read = read
        self._descriptor = stream.fileno()
        self._size = change.size
        self.end = self.taken = self.noted = change.start
        """Ends of three lines: the last one yielded, the last one indexed in full, the last one counted in a report."""
        self.lines = self.taken_lines = self.noted_lines = change.lines_before
        self.unfinished: Damage | None = None
        """The end of the file, if it is not a complete object: Claude Code may still be writing it."""

    def __iter__(self) -> Iterator[RawLine]:
        with os.fdopen(os.dup(self._descriptor), "rb", buffering=1 << 20) as stream:
            stream.seek(self.end)
            if self.end:
                self._skip_end_of_line(stream)
            for line in self._read(stream, offset=self.end, number=self.lines + 1):
                if line.offset >= self._size and not line.part:
                    return
                if not line.more and not line.data.endswith(b"\n") and not self._is_complete(line):
                    return
                if line.unclosed:
                    words = "something that goes over line ends is not closed"
                    self.unfinished = Damage("torn", line.number, line.offset, len(line.data.rstrip(b"\r\n")), words)
                    return
                if not line.part:
                    self.taken, self.taken_lines = self.end, self.lines
                if not line.more:
                    self.lines += line.lines
                    self.end = line.offset + len(line.data)
                yield line

    def _skip_end_of_line(self, stream: BinaryIO) -> None:
        """Skip a line end that was written after the line before it had been read."""
        stream.seek(self.end - 1)
        if stream.read(1) != b"\n":
            ending = stream.read(2)
            skip = 1 if ending[:1] == b"\n" else 2 if ending == b"\r\n" else 0
            self.end += skip
            stream.seek(self.end)

    def _is_complete(self, line: RawLine) -> bool:
        """Return whether a line without a line end holds a complete object. If not, record it as unfinished."""
        if line.part:
            self.unfinished = Damage(
                "torn", line.number, line.offset, len(line.data), "a very long line without an end"
            )
            return False
        if not line.data.strip():
            return False
        try:
            decode_index_entry(line.data)
            return True
        except REFUSED:
            pass
        saved = salvage_line(line)
        if saved.found and not any(item.kind in _BROKEN_OFF for item in saved.damage):
            return True
        self.unfinished = Damage("torn", line.number, line.offset, len(line.data), "the last line has no end")
        return False


_KINDS: Final = ", ".join(f"'{kind}'" for kind in sorted(ROW_TYPES))
_BEHIND: Final = """
SELECT s.file_id, h.path, f.path, p.offset FROM sessions s JOIN files f ON f.id = s.file_id
JOIN homes h ON h.id = f.home_id JOIN progress p ON p.file_id = s.file_id AND p.stage = 'entries'
WHERE s.threaded = 0
"""


def renew_statuses(
    catalogue: Catalogue, homes: Sequence[Home], left_out: LeftOut, *, lock_seconds: float = LOCK_SECONDS
) -> int:
    """Renew the statuses of all sessions of these homes that have outdated ones. Return how many were renewed."""
    wanted = {to_text(home.real_root) for home in homes}
    if not _behind(catalogue, wanted):
        return 0
    count = 0
    with catalogue.locked(lock_seconds):
        behind = _behind(catalogue, wanted)
        if behind:
            with catalogue.transaction():
                catalogue.set_note("change", catalogue.note("change") + 1)
        for file_id, root, path, offset in behind:
            count += _renew(catalogue, file_id, Home(Path(to_path(root))), path, offset, left_out)
    return count


def _behind(catalogue: Catalogue, roots: set[str]) -> list[tuple[int, str, str, int]]:
    rows = catalogue.connection.execute(_BEHIND)
    return [(int(file_id), str(root), str(path), int(end)) for file_id, root, path, end in rows if root in roots]


def _renew(
    catalogue: Catalogue, file_id: int, home: Home, path: str, offset: int, left_out: LeftOut
) -> bool:  # fmt: skip
    try:
        with gc_paused():
            rows, thread = _read(catalogue, home, path, offset)
    except (RecollectError, OSError):
        return False  # gone or unreadable: the next sync handles that
    except Exception as problem:
        left_out.note(home.root / path, "statuses", problem)
        with catalogue.transaction() as db:
            db.execute("UPDATE sessions SET threaded = 1 WHERE file_id = ?", (file_id,))
        return False
    with catalogue.transaction() as db:
        places = db.execute(
            f"SELECT id, line FROM entries WHERE file_id = ? AND type IN ({_KINDS}) ORDER BY line, part", (file_id,)
        ).fetchall()
        # Rows that were left out of the index have a status, but no row in `entries` to store it in.
        placed = zip(rows, thread.placements, strict=True)
        statuses = [
            (next((placement.status for at, placement in placed if at == line), None), ident) for ident, line in places
        ]
        if any(status is None for status, _ in statuses):
            return False  # the file was rewritten meanwhile
        db.executemany("UPDATE entries SET status = ? WHERE id = ?", statuses)
        db.execute(
            "UPDATE sessions SET threaded = 1, reachable = ? WHERE file_id = ?", (thread.reachable_share, file_id)
        )
        db.execute("UPDATE files SET change = ? WHERE id = ?", (catalogue.note("change"), file_id))
    return True


def _read(catalogue: Catalogue, home: Home, path: str, offset: int) -> tuple[list[int], Thread]:
    """Return the line numbers of the rows, and the thread, of the part of a file that is indexed."""
    damage: list[Damage] = []
    with _opened(catalogue, home, path) as stream:
        lines = FileLines(stream, FileChange(home, "entries", path, "session", "new", size=offset))
        transcript = build_transcript(parse_as(lines, damage, _decode, graph_entry_of), damage)
        transcript.lines, transcript.size = lines.lines, lines.end
    return [row.line for row in transcript.rows], find_thread(transcript)


def _opened(catalogue: Catalogue, home: Home, path: str) -> BinaryIO:
    try:
        return open_inside(home, home.root / path, buffering=0)
    except NotFound:
        if catalogue.kept is None:
            raise
        return catalogue.kept.open(home.real_root, path)


def _decode(data: bytes) -> GraphEntry:
    """Decode a line; of a very long line without its text, which may take four times its bytes in memory."""
    return decode_graph_entry(data) if len(data) <= LONG_LINE else decode_index_entry(data)
