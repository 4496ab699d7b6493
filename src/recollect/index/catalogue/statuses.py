"""Renew the statuses of entries (live, abandoned, before a compaction, ...) for sessions that grew.

A session that is indexed from its start gets its statuses in the same run. A session that only grew keeps its old
statuses and is marked as outdated (`threaded = 0`); this module reads its file again when a query needs the statuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

from ...errors import NotFound, RecollectError
from ...format.decode import parse_as
from ...format.entries import ROW_TYPES, GraphEntry, decode_graph_entry, graph_entry_of
from ...format.line import Damage
from ...format.path_text import to_path, to_text
from ...format.worded_entry import LONG_LINE, decode_index_entry
from ...graph.rows import build_transcript, gc_paused
from ...graph.thread import Thread, find_thread
from ...store.home import Home
from ...store.paths import open_inside
from .catalogue import LOCK_SECONDS, Catalogue
from .ingest import FileLines
from .left_out import LeftOut
from .tracking import FileChange

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
