"""Whether anything changed since the last sync, as cheaply as can be told: one `stat` per known folder and file.

A sync looks into every folder. Here a folder is taken to hold the same names as long as its own time is the same, so that only
known paths are asked for. The list of them is kept as a note in the catalogue, written after a sync that left nothing undone.
Whenever anything is in doubt the answer is no, and the usual sync finds out.
"""

from __future__ import annotations

import marshal
import os
import time
from collections.abc import Iterable, Sequence

from .kept import DEVICE as KEPT

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

FORM = 3
"""Goes up when the form of the note changes."""
_SETTLED_NS = 100_000_000
"""A folder that was written to within this time may be written to again without a new time: clocks of file systems tick."""
_Folders = list[tuple[str, int]]


def unchanged(db: apsw.Connection, roots: Sequence[str]) -> list[int] | None:
    """The numbers of the homes, if the index is up to date with all of them; None where that is not sure."""
    try:
        found = _notes(db)
        numbers = [_unchanged_home(db, found, root) for root in roots]
    except (ValueError, EOFError, TypeError, OSError):
        return None
    return None if None in numbers else [number for number in numbers if number is not None]


def _unchanged_home(db: apsw.Connection, notes: dict[str, object], root: str) -> int | None:
    number = db.execute("SELECT id FROM homes WHERE path = ?", (root,)).get
    kept = db.execute("SELECT value FROM notes WHERE name = ?", (f"seen:{number}",)).get
    if number is None or not isinstance(kept, bytes):
        return None
    form, state, folders, files = marshal.loads(kept)
    if (form, state) != (FORM, _state(notes)):
        return None
    stat = os.stat
    for path, mtime_ns in folders:
        if stat(path).st_mtime_ns != mtime_ns:
            return None
    for path, size, mtime_ns, inode in files:
        info = stat(path)
        if info.st_mtime_ns != mtime_ns or info.st_size != size or info.st_ino != inode:
            return None
    return int(number)


def _notes(db: apsw.Connection) -> dict[str, object]:
    return dict(db.execute("SELECT name, value FROM notes WHERE name NOT GLOB 'seen:*' AND name NOT GLOB 'kept:*'"))


def _state(notes: dict[str, object]) -> list[object]:
    """What the catalogue itself had come to, and the code that made it."""
    try:
        code = os.stat(__file__.replace("freshness.py", "schema.py"))
        made_by = [code.st_mtime_ns, code.st_size]
    except OSError:  # not installed as files
        made_by = []
    return [notes.get("change"), notes.get("words_mark"), notes.get("last_entry"), made_by]


def folder_times(root: str) -> _Folders | None:
    """The folders of a home in which transcripts may stand, with their times. Take them before a sync, for `remember`.

    None where a link is among them: what it leads to may change unseen.
    """
    found: _Folders = []
    waiting = [(f"{root}/projects", 0)]
    try:
        while waiting:
            path, depth = waiting.pop()
            found.append((path, os.stat(path, follow_symlinks=False).st_mtime_ns))
            with os.scandir(path) as entries:
                for entry in entries:
                    if entry.is_symlink():
                        return None
                    if entry.name != "tool-results" and depth < 5 and entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
    except OSError:
        return None
    return found


def remember(db: apsw.Connection, root: str, folders: _Folders | None, manifest: str | None = None) -> bool:
    """After a sync: note what was seen, if it can be relied on. The caller has begun no transaction.

    `manifest` is the vault's: with it, the index also knows what the home has lost.
    """
    import apsw

    number = db.execute("SELECT id FROM homes WHERE path = ?", (root,)).get
    if number is None or folders is None or not folders:
        return False
    if max(mtime_ns for _, mtime_ns in folders) > time.time_ns() - _SETTLED_NS:
        return False
    files = _known_files(db, int(number), root, manifest)
    notes = _notes(db)
    unfinished = db.execute("SELECT 1 FROM words_stale").get or notes.get("words_mark") != notes.get("last_entry")
    if files is None or unfinished:
        return False
    kept = marshal.dumps((FORM, _state(notes), folders, files))
    try:
        db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (f"seen:{number}", kept))
    except apsw.Error:  # somebody else is writing all the time: then the next search notes it
        return False
    return True


def _known_files(
    db: apsw.Connection, number: int, root: str, manifest: str | None
) -> list[tuple[str, int, int, int]] | None:
    rows: Iterable[tuple[str, int, int, int]] = db.execute(
        "SELECT f.path, p.size, p.mtime_ns, p.inode FROM files f JOIN progress p ON p.file_id = f.id "
        "WHERE f.home_id = ? AND p.stage = 'entries' AND f.kind IN ('session', 'agent', 'title') AND f.device <> ?",
        (number, KEPT),
    )
    files: list[tuple[str, int, int, int]] = []
    if manifest is not None:
        try:
            info = os.stat(manifest)
        except OSError:
            return None
        files.append((manifest, info.st_size, info.st_mtime_ns, info.st_ino))
    for path, size, mtime_ns, inode in rows:
        if size < 0:
            return None
        files.append((f"{root}/{path}", size, mtime_ns, inode))
    return files
