"""Check cheaply whether anything changed since the last sync: one `stat` per known folder and file.

A sync lists every folder. This check assumes that a folder holds the same names as long as its mtime is the same, so it
needs a `stat` of known paths only. These paths are stored as a note in the catalogue, written after a sync that finished
all its work. If anything is in doubt, the check gives no answer (None), and a normal sync follows.
"""

from __future__ import annotations

import marshal
import os
import time
from collections.abc import Iterable, Sequence

import apsw

from ...format.path_text import to_path, to_text
from ...store.home import Home
from ...store.opening import file_stamp
from .vault_transcripts import DEVICE as KEPT

FORM = 4
"""Version of the note's format."""
_SETTLED_NS = 100_000_000
"""A folder written less than this time ago may be written again and keep its mtime: file systems' clocks are coarse."""
_Folders = list[tuple[str, int]]
_Known = tuple[str, int, int, int, int]
"""A path and the stamp of the file there (`store.file_stamp`)."""


class ChangedHome:
    """A home whose folders are unchanged: its id, its note, and the paths of its known files that changed."""

    __slots__ = ("note", "number", "paths", "root")

    def __init__(self, root: str, number: int, note: bytes) -> None:
        self.root = root
        self.number = number
        self.note = note
        self.paths: list[str] = []


def changed_homes(db: apsw.Connection, roots: Sequence[str], most: int = 64) -> list[ChangedHome] | None:
    """Return the changed files of homes whose index was up to date at the last sync.

    Returns None if this is not certain for every home, or more than `most` files of a home changed.
    """
    try:
        notes = _notes(db)
        homes = [_looked_at(db, notes, root, most) for root in roots]
    except (ValueError, EOFError, TypeError, OSError):
        return None
    found = [home for home in homes if home is not None]
    return found if len(found) == len(homes) else None


def statuses_are_current(db: apsw.Connection) -> bool:
    """Return whether no session has grown since the statuses of its entries were set."""
    return db.execute("SELECT 1 FROM sessions WHERE threaded = 0 LIMIT 1").get is None


def _looked_at(db: apsw.Connection, notes: dict[str, object], root: str, most: int) -> ChangedHome | None:
    number = db.execute("SELECT id FROM homes WHERE path = ?", (to_text(root),)).get
    note = db.execute("SELECT value FROM notes WHERE name = ?", (f"seen:{number}",)).get
    if number is None or not isinstance(note, bytes):
        return None
    form, state, folders, files = marshal.loads(note)
    if (form, state) != (FORM, _state(notes)):
        return None
    found = ChangedHome(root, int(number), note)
    stat = os.stat
    for path, mtime_ns in folders:
        if stat(path).st_mtime_ns != mtime_ns:
            return None
    for path, *before in files:
        if file_stamp(stat(path)) != tuple(before):
            if len(found.paths) == most or not path.startswith(f"{root}/"):
                return None
            found.paths.append(to_text(path[len(root) + 1 :]))
    return found


def _notes(db: apsw.Connection) -> dict[str, object]:
    return dict(db.execute("SELECT name, value FROM notes WHERE name NOT GLOB 'seen:*' AND name NOT GLOB 'kept:*'"))


def _state(notes: dict[str, object]) -> list[object]:
    """Return the state of the catalogue for which a note is valid, with the stamp of the code that wrote it."""
    try:
        code = os.stat(os.path.join(os.path.dirname(__file__), "schema.py"))
        made_by = [code.st_mtime_ns, code.st_size]
    except OSError:  # not installed as files
        made_by = []
    return [notes.get("change"), notes.get("words_mark"), notes.get("last_entry"), made_by]


def folder_times(home: Home) -> _Folders | None:
    """Return the folders of a home that may hold transcripts, with their mtimes. Call it before a sync, for `remember`.

    Returns None if one of them has links: what a link leads to may change without a change of the folder's mtime.
    """
    from ...store.scan import transcript_folders

    found: _Folders = []
    for folder in transcript_folders(home):
        if folder.has_links:
            return None
        found.append((folder.path, folder.mtime_ns))
    return found or None


def remember(db: apsw.Connection, root: str, folders: _Folders | None, manifest: str | None = None) -> bool:
    """Store the note after a sync, if it can be relied on. Return whether it was stored. Needs no open transaction.

    `manifest` is the vault's: it changes with every commit of the vault, whose files the index covers too.
    """
    import apsw

    number = db.execute("SELECT id FROM homes WHERE path = ?", (to_text(root),)).get
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
    except apsw.Error:  # another process is writing all the time: the next search stores the note
        return False
    return True


def remember_again(db: apsw.Connection, before: ChangedHome) -> bool:
    """Update a home's note after a sync of only the files that `changed_homes` returned. Return whether that worked."""
    import apsw

    notes = _notes(db)
    unfinished = db.execute("SELECT 1 FROM words_stale").get or notes.get("words_mark") != notes.get("last_entry")
    if unfinished:
        return False
    _, _, folders, files = marshal.loads(before.note)
    places = {path: place for place, (path, *_) in enumerate(files)}
    for path in before.paths:
        row = db.execute(
            "SELECT p.size, p.mtime_ns, p.ctime_ns, p.inode FROM files f JOIN progress p ON p.file_id = f.id "
            "WHERE f.home_id = ? AND f.path = ? AND p.stage = 'entries'",
            (before.number, path),
        ).fetchone()
        if row is None or row[0] < 0:
            return False
        full = f"{before.root}/{to_path(path)}"
        files[places[full]] = (full, *row)
    kept = marshal.dumps((FORM, _state(notes), folders, files))
    try:
        db.execute(
            "UPDATE notes SET value = ? WHERE name = ? AND value = ?", (kept, f"seen:{before.number}", before.note)
        )
    except apsw.Error:
        return False
    return True


def _known_files(db: apsw.Connection, number: int, root: str, manifest: str | None) -> list[_Known] | None:
    rows: Iterable[_Known] = db.execute(
        "SELECT f.path, p.size, p.mtime_ns, p.ctime_ns, p.inode FROM files f JOIN progress p ON p.file_id = f.id "
        "WHERE f.home_id = ? AND p.stage = 'entries' AND f.kind IN ('session', 'subagent', 'title') AND f.device <> ?",
        (number, KEPT),
    )
    files: list[_Known] = []
    if manifest is not None:
        try:
            files.append((manifest, *file_stamp(os.stat(manifest))))
        except OSError:
            return None
    for path, size, mtime_ns, ctime_ns, inode in rows:
        if size < 0:
            return None
        files.append((f"{root}/{to_path(path)}", size, mtime_ns, ctime_ns, inode))
    return files
