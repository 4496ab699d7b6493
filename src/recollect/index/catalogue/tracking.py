"""Find the files that changed since a stage last read them, by their stamps; files that did not change are not opened.

    for change in changed(catalogue, homes, "calls"):
        with catalogue.transaction():
            begin(catalogue, change)                      # removes outdated rows, sets change.file_id
            with open_changed(change) as stream:          # skip this for change.reason == "gone"
                ... read from change.start, not beyond change.size; line numbers go on at change.lines_before + 1 ...
                done(catalogue, change, stream, offset=end_of_last_line, lines=number_of_lines)

A grown file is read on from where the stage stopped, if the bytes before that place are unchanged. A renamed file keeps
its id. Every other file that differs is read from its start.

The ctime is compared too, because Claude Code keeps the mtime when it appends some lines, such as titles. The ctime also
differs after a new link to the file or a change of its permissions; then the checksums of the bytes already read show that
the file is unchanged (`note_touched`).
"""

from __future__ import annotations

import os
import stat
from binascii import crc32
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO, Final

from ...errors import RecollectError
from ...format.path_text import to_path, to_text
from ...store.home import Home, open_inside, why_left_out
from ...store.layout import CUSTOM_TITLE, HISTORY, PROJECTS, TASKS, TODOS, file_at, is_subagent_name, subagent_id_of
from ...store.opening import file_stamp, signed
from ...store.scan import transcript_folders
from .catalogue import Catalogue
from .schema import STAGE_KINDS, STAGE_TABLES
from .vault_transcripts import DEVICE

#: A listed file: its kind, its stamp (`store.file_stamp`) and its device.
Seen = tuple[str, int, int, int, int, int]
#: Files by their path below the home, as text (`format.path_text`): the form of all paths in the catalogue.
Files = dict[str, Seen]


def list_files(home: Home, kinds: frozenset[str]) -> Files:
    """List all files of these kinds by their path below the home."""
    found: Files = {}
    for folder in transcript_folders(home, session_folders=False):
        below = "/".join((PROJECTS, *folder.parts))
        match len(folder.parts):
            case 1:
                for entry in folder.files:
                    if entry.name.endswith(".jsonl"):
                        kind = "subagent" if is_subagent_name(entry.name) else "session"
                        _note(home, entry, f"{below}/{entry.name}", kind, found)
                if "title" in kinds:
                    for entry in folder.folders:  # most have no title: one `stat` is faster than listing the folder
                        note_file(found, home, to_text(f"{below}/{entry.name}/{CUSTOM_TITLE}"), "title")
            case 3 | 5:
                for entry in folder.files:
                    if subagent_id_of(entry.name) is None:
                        continue
                    kind = "subagent" if is_subagent_name(entry.name) else "subagent_meta"
                    if kind in kinds:
                        _note(home, entry, f"{below}/{entry.name}", kind, found)
    if "history" in kinds:
        note_file(found, home, HISTORY, "history")
    root = str(home.root)
    if "task" in kinds:
        for inner in _folder(home, f"{root}/{TASKS}"):
            if _is_folder(home, inner):
                for entry in _entries(inner.path):
                    if entry.name.endswith(".json") and entry.name[:-5].isdigit():
                        _note(home, entry, f"{TASKS}/{inner.name}/{entry.name}", "task", found)
    if "todo" in kinds:
        for entry in _folder(home, f"{root}/{TODOS}"):
            if entry.name.endswith(".json"):
                _note(home, entry, f"{TODOS}/{entry.name}", "todo", found)
    return found


def _folder(home: Home, folder: str) -> Iterable[os.DirEntry[str]]:
    """List a folder; nothing if it is a link that must not be followed."""
    return () if os.path.islink(folder) and why_left_out(home, folder) is not None else _entries(folder)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listing:
            return list(listing)
    except OSError:
        return []


def _is_folder(home: Home, entry: os.DirEntry[str]) -> bool:
    try:
        if entry.is_dir(follow_symlinks=False):
            return True
        return entry.is_dir() and why_left_out(home, entry.path) is None
    except OSError:
        return False


def _note(home: Home, entry: os.DirEntry[str], path: str, kind: str, found: Files) -> None:
    try:
        info = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(info.st_mode):
            if why_left_out(home, entry.path) is not None:
                return
            info = entry.stat()
    except OSError:
        return
    if stat.S_ISREG(info.st_mode):
        found[to_text(path)] = (kind, *file_stamp(info), signed(info.st_dev))


def note_file(found: Files, home: Home, path: str, kind: str) -> None:
    """Add one file by its path below the home, if it exists."""
    full = f"{home.root}/{to_path(path)}"
    try:
        info = os.stat(full)
        if os.path.islink(full) and why_left_out(home, full) is not None:
            return
    except OSError:
        return
    if stat.S_ISREG(info.st_mode):
        found[path] = (kind, *file_stamp(info), signed(info.st_dev))


LINE_KINDS: Final = frozenset({"session", "subagent", "history"})
"""Files that grow line by line. Others are small and are read whole."""
WINDOW: Final = 4096
_READ: Final = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOFOLLOW"))
_FEW: Final = 30
PARTLY: Final = -1
RENAMED: Final = -2


@dataclass(slots=True)
class FileChange:
    """A file whose stamp differs from what a stage last recorded.

    `reason`: new, grown, rewritten, moved (another name, same bytes), gone, or touched (no new bytes: see `note_touched`).
    """

    home: Home
    stage: str
    path: str
    """Below the home, with `/`, as text (`format.path_text`)."""
    kind: str
    reason: str
    file_id: int = 0
    """0 for a new file, until `begin`."""
    start: int = 0
    lines_before: int = 0
    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    inode: int = 0
    device: int = 0
    session_id: str | None = None
    subagent_id: str | None = None
    folder: str | None = None
    workflow: str | None = None
    source: Callable[[], BinaryIO] | None = None
    """Opens the vault's copy of a file that the home has lost; None for a file in the home."""

    @property
    def full_path(self) -> Path:
        return self.home.root / to_path(self.path)


def changed(
    catalogue: Catalogue, homes: Iterable[Home], stage: str, seen: Mapping[str, Files] | None = None
) -> list[FileChange]:
    """Return the changes that a stage has to process, in a stable order. Opens only files that grew or have a new name.

    `seen` is the result of `look_at`, so that a caller with several stages lists each home once.
    """
    found: list[FileChange] = []
    kinds = STAGE_KINDS[stage]
    for home in homes:
        files = list_files(home, kinds) if seen is None else seen[home.real_root]
        kept = catalogue.kept.files(catalogue.connection, home.real_root) if catalogue.kept is not None else {}
        if kept:
            files = kept | files
        found += _changed_in(catalogue, home, stage, files, kinds)
    return found


def changed_among(catalogue: Catalogue, home: Home, stage: str, paths: Iterable[str]) -> list[FileChange]:
    """Return the changes among known files, for a caller that is sure that no other file changed, came or went."""
    seen: Files = {}
    home_id = catalogue.home_id(home.real_root)
    for path in paths:
        kind = catalogue.connection.execute(
            "SELECT kind FROM files WHERE home_id = ? AND path = ?", (home_id, path)
        ).get
        if kind in STAGE_KINDS[stage]:
            note_file(seen, home, path, str(kind))
    return _Sorter(catalogue, home, home_id, stage, seen).sort(list(seen), [])


def look_at(homes: Iterable[Home], stages: Iterable[str]) -> dict[str, Files]:
    """List all files that these stages read, by home."""
    kinds = frozenset().union(*(STAGE_KINDS[stage] for stage in stages))
    return {home.real_root: list_files(home, kinds) for home in homes}


def _changed_in(catalogue: Catalogue, home: Home, stage: str, seen: Files, kinds: frozenset[str]) -> list[FileChange]:
    home_id = catalogue.home_id(home.real_root)
    known: dict[Any, tuple[Any, Any, Any, Any]] = {}
    if home_id is not None:
        rows = catalogue.connection.execute(
            "SELECT f.path, p.size, p.mtime_ns, p.ctime_ns, p.inode FROM progress p JOIN files f ON p.file_id = f.id "
            "WHERE f.home_id = ? AND p.stage = ?",
            (home_id, stage),
        )
        known = {path: (size, mtime_ns, ctime_ns, inode) for path, size, mtime_ns, ctime_ns, inode in rows}
    different = [path for path, item in seen.items() if known.get(path) != item[1:5] and item[0] in kinds]
    gone = [path for path in known if path not in seen]
    if not different and not gone:
        return []
    return _Sorter(catalogue, home, home_id, stage, seen).sort(different, gone)


class _Sorter:
    """Find the reason of each change: compare the files listed in a home with their rows in the catalogue."""

    def __init__(self, catalogue: Catalogue, home: Home, home_id: int | None, stage: str, seen: Files) -> None:
        self._db = catalogue.connection
        self._kept = catalogue.kept
        self._home = home
        self._home_id = home_id
        self._stage = stage
        self._seen = seen

    def sort(self, different: list[str], gone: list[str]) -> list[FileChange]:
        unnamed: dict[tuple[int, int], str] | None = None
        changes: list[FileChange] = []
        kept: set[str] = set()
        known = self._known(different)
        for path in sorted(different):
            kind, size, mtime_ns, ctime_ns, inode, device = self._seen[path]
            change = FileChange(
                self._home, self._stage, path, kind, "new", size=size, mtime_ns=mtime_ns, ctime_ns=ctime_ns, inode=inode,
                device=device,
            )  # fmt: skip
            describe(change)
            if device == DEVICE and self._kept is not None:
                change.source = partial(self._kept.open, self._home.real_root, path)
            row = self._row("f.path = ?", path) if path in known else None
            if row is None and unnamed is None:
                unnamed = self._files_without_a_name()
            if row is None and unnamed is not None and (before := unnamed.get((device, inode))) is not None:
                row = self._row("f.path = ?", before)
                if row is not None and self._fits(change, row, must_have_read=False):
                    unnamed.pop((device, inode))
                    kept.add(before)
                    change.file_id, change.reason = row[0], "moved"
                    change.start, change.lines_before = row[4] or 0, row[5] or 0
                    changes.append(change)
                    continue
                row = None
            if row is not None:
                change.file_id = row[0]
                self._decide(change, row)
            changes.append(change)
        for path in sorted(gone):
            if path not in kept:
                change = FileChange(self._home, self._stage, path, "", "gone")
                row = self._row("f.path = ?", path)
                if row is not None:
                    change.file_id, change.kind = row[0], row[8]
                    changes.insert(0, change)
        return changes

    def _known(self, paths: Collection[str]) -> Collection[str]:
        """Return the paths that may have a row. For many paths, one query for all rows is faster than one for each."""
        if self._home_id is None:
            return ()
        if len(paths) <= _FEW:
            return paths
        return {row[0] for row in self._db.execute("SELECT path FROM files WHERE home_id = ?", (self._home_id,))}

    def _row(self, where: str, value: str) -> tuple[Any, ...] | None:
        return self._db.execute(
            "SELECT f.id, p.size, p.mtime_ns, p.inode, p.offset, p.lines, p.head_hash, p.tail_hash, f.kind FROM files f "
            f"LEFT JOIN progress p ON p.file_id = f.id AND p.stage = ? WHERE f.home_id = ? AND {where}",
            (self._stage, self._home_id, value),
        ).fetchone()

    def _files_without_a_name(self) -> dict[tuple[int, int], str]:
        """Return the paths of the catalogue at which there is no file any more, by device and inode."""
        if self._home_id is None:
            return {}
        rows = self._db.execute("SELECT path, device, inode FROM files WHERE home_id = ?", (self._home_id,))
        return {(device, inode): path for path, device, inode in rows if inode and path not in self._seen}

    def _decide(self, change: FileChange, row: tuple[Any, ...]) -> None:
        _, size, mtime_ns, inode, offset, lines, *_ = row
        if size is None:
            change.reason = "new"  # another stage has read the file, this one has not
            return
        change.reason = "rewritten"
        # With the old size and a new mtime, bytes may have been overwritten: trust only growth, or no change of either.
        is_touched = (change.size, change.mtime_ns) == (size, mtime_ns)
        may_go_on = change.inode == inode and (size in (PARTLY, RENAMED) or change.size > size or is_touched)
        if change.kind in LINE_KINDS and may_go_on and self._fits(change, row, must_have_read=True):
            change.reason = "moved" if size == RENAMED else "touched" if is_touched else "grown"
            change.start, change.lines_before = offset, lines

    def _fits(self, change: FileChange, row: tuple[Any, ...], *, must_have_read: bool) -> bool:
        """Return whether the bytes that were read are unchanged, and new bytes do not continue the last line read."""
        _, size, mtime_ns, _, offset, _, head, tail, _ = row
        if size is None:
            return not must_have_read
        if change.size < offset:
            return False
        if change.kind not in LINE_KINDS and (change.size, change.mtime_ns) != (size, mtime_ns):
            return False
        try:
            with open_inside(change.home, change.full_path, buffering=0) as stream:
                if hashes(stream, offset) != (head, tail):
                    return False
                if change.kind not in LINE_KINDS or offset == 0:
                    return True
                around = read_at(stream, offset - 1, 3)
                return around[:1] == b"\n" or around[1:2] in (b"", b"\n") or around[1:3] == b"\r\n"
        except (RecollectError, OSError):
            return False


INSERT_FILE: Final = (
    "INSERT INTO files(home_id, path, kind, session_id, subagent_id, folder, workflow, device, inode, change) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_PROGRESS: Final = (
    "INSERT OR REPLACE INTO progress(file_id, stage, size, mtime_ns, ctime_ns, inode, offset, lines, head_hash, tail_hash) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def progress_row(
    change: FileChange, offset: int = 0, lines: int = 0, hashes: tuple[int, int] = (0, 0), *, complete: bool = True
) -> tuple[Any, ...]:
    """Build the row of `progress` that records how far a stage has read a file."""
    size = change.size if complete else PARTLY
    return (
        change.file_id, change.stage, size, change.mtime_ns, change.ctime_ns, change.inode, offset, lines, *hashes,
    )  # fmt: skip


def begin(catalogue: Catalogue, change: FileChange) -> int:
    """Prepare the catalogue for a change: insert or update the file's row, delete outdated rows of the stage.

    Returns the id of the file.
    """
    db = catalogue.connection
    home_id = catalogue.home_id(change.home.real_root, make=True)
    number = catalogue.note("change")
    if change.file_id == 0:
        db.execute(
            INSERT_FILE,
            (
                home_id, change.path, change.kind, change.session_id, change.subagent_id, change.folder, change.workflow,
                change.device, change.inode, number,
            ),
        )  # fmt: skip
        change.file_id = db.last_insert_rowid()
        return change.file_id
    if change.reason in ("rewritten", "gone"):
        drop_rows(catalogue, change)
    if change.reason == "gone":
        db.execute("DELETE FROM progress WHERE file_id = ? AND stage = ?", (change.file_id, change.stage))
        if db.execute("SELECT 1 FROM progress WHERE file_id = ?", (change.file_id,)).get is None:
            db.execute("DELETE FROM files WHERE id = ?", (change.file_id,))
        return change.file_id
    if (
        change.reason == "moved"
        and db.execute("SELECT path FROM files WHERE id = ?", (change.file_id,)).get != change.path
    ):
        db.execute(
            "UPDATE files SET path = ?, kind = ?, session_id = ?, subagent_id = ?, folder = ?, workflow = ? WHERE id = ?",
            (change.path, change.kind, change.session_id, change.subagent_id, change.folder, change.workflow, change.file_id),
        )  # fmt: skip
        db.execute(
            "UPDATE progress SET size = ? WHERE file_id = ? AND stage <> ? AND size <> ?",
            (RENAMED, change.file_id, change.stage, RENAMED),
        )
    db.execute(
        "UPDATE files SET device = ?, inode = ?, change = ? WHERE id = ?",
        (change.device, change.inode, number, change.file_id),
    )
    return change.file_id


def begin_anew(catalogue: Catalogue, change: FileChange) -> int:
    """Prepare the catalogue to index a file from its start, even if its bytes are unchanged. Return the file's id."""
    begin(catalogue, change)
    drop_rows(catalogue, change)
    change.start = change.lines_before = 0
    return change.file_id


def drop_rows(catalogue: Catalogue, change: FileChange) -> None:
    """Delete all rows that a stage has stored for a file."""
    for table in STAGE_TABLES[change.stage]:
        catalogue.connection.execute(f"DELETE FROM {table} WHERE file_id = ?", (change.file_id,))
    if change.stage == "entries" and change.kind in ("session", "subagent"):
        catalogue.connection.execute("INSERT OR IGNORE INTO words_stale VALUES (?)", (change.file_id,))


def open_changed(change: FileChange) -> BinaryIO:
    """Open a file unbuffered, and set the stamp of the change to that of the opened file.

    Raises NotFound, Refused or DamagedData, like every read in a home.
    """
    if change.source is not None:
        return change.source()
    stream = _open_as_seen(change)
    if stream is not None:
        return stream
    stream = open_inside(change.home, change.full_path, buffering=0)
    info = os.fstat(stream.fileno())
    change.size, change.mtime_ns, change.ctime_ns, change.inode = file_stamp(info)
    change.device = signed(info.st_dev)
    return stream


def _open_as_seen(change: FileChange) -> BinaryIO | None:
    """Open the regular file that `list_files` found, without the checks of links that `open_inside` makes.

    Those checks were made when the file was listed. Returns None if the path is a link, or no longer leads to that file.
    """
    try:
        descriptor = os.open(f"{change.home.root}/{to_path(change.path)}", _READ)
    except (OSError, ValueError):
        return None
    info = os.fstat(descriptor)
    seen = change.inode != 0 and (signed(info.st_ino), signed(info.st_dev)) == (change.inode, change.device)
    if not seen or not stat.S_ISREG(info.st_mode):
        os.close(descriptor)
        return None
    change.size, change.mtime_ns, change.ctime_ns, _ = file_stamp(info)
    return FileIO(descriptor)


def done(
    catalogue: Catalogue, change: FileChange, stream: BinaryIO, *, offset: int, lines: int, complete: bool = True
) -> None:
    """Record how far the stage has read. If it is not `complete`, the next sync continues from there."""
    row = progress_row(change, offset, lines, hashes(stream, offset), complete=complete)
    catalogue.connection.execute(INSERT_PROGRESS, row)


def note_touched(catalogue: Catalogue, change: FileChange) -> bool:
    """Record the new ctime of a file that is only "touched", in place of `begin` and `done`. Return whether it was."""
    if change.reason != "touched":
        return False
    catalogue.connection.execute(
        "UPDATE progress SET ctime_ns = ? WHERE file_id = ? AND stage = ?",
        (change.ctime_ns, change.file_id, change.stage),
    )
    return True


def done_unreadable(catalogue: Catalogue, change: FileChange) -> None:
    """Record the stamp of a file that could not be read: it is tried again when its stamp changes."""
    catalogue.connection.execute(INSERT_PROGRESS, progress_row(change))


def hashes(stream: BinaryIO, offset: int) -> tuple[int, int]:
    """Return checksums of the first and of the last `WINDOW` bytes before an offset."""
    head = read_at(stream, 0, min(WINDOW, offset))
    if offset <= WINDOW:
        value = crc32(head)
        return value, value
    return crc32(head), crc32(read_at(stream, offset - WINDOW, WINDOW))


def read_at(stream: BinaryIO, offset: int, length: int) -> bytes:
    """Read bytes from an offset, and leave the position of the stream unchanged."""
    if hasattr(os, "pread"):
        return os.pread(stream.fileno(), length, offset)
    position = stream.tell()
    stream.seek(offset)
    data = stream.read(length)
    stream.seek(position)
    return data


def describe(change: FileChange) -> None:
    """Set session, subagent, folder and workflow of a file from its path."""
    _, change.folder, change.session_id, change.subagent_id, change.workflow, _ = file_at(change.path.split("/"))


_HEAD: Final = 1 << 14
"""Bytes that usually hold the whole first line, which names the session in every file that Claude Code wrote."""


def note_owner(catalogue: Catalogue, change: FileChange, stream: BinaryIO) -> None:
    """Record the session of a subagent's transcript that was just opened, if its path does not name the session.

    It is the first session that the lines of the transcript name. Every stage and the readers of the store
    (`session_named_in`) follow this one rule, so a transcript belongs to one session however it grew or was moved.
    """
    if change.kind != "subagent" or change.session_id is not None:
        return
    change.session_id = _first_named(stream, change.size)
    catalogue.connection.execute("UPDATE files SET session_id = ? WHERE id = ?", (change.session_id, change.file_id))


def _first_named(stream: BinaryIO, size: int) -> str | None:
    from ...format.entries import REFUSED  # imported here: most homes have no such files
    from ..api_calls.decode import decode_call_line

    head = read_at(stream, 0, min(_HEAD, size))
    try:
        named = decode_call_line(head[: head.find(b"\n") + 1]).sessionId
    except REFUSED:
        named = None
    return named or _named_further_on(stream, size)


def _named_further_on(stream: BinaryIO, size: int) -> str | None:
    from ...format.decode import parse_lines
    from ...format.line import read_entry_lines
    from ..words.searchable_text import clean_entry

    position = stream.tell()
    try:
        with os.fdopen(os.dup(stream.fileno()), "rb") as lines:
            lines.seek(0)
            for item in parse_lines(read_entry_lines(lines), []):
                if item.offset >= size:
                    return None
                if item.entry.sessionId:
                    return str(clean_entry(item.entry.sessionId))
    finally:
        stream.seek(position)  # the duplicated descriptor shares its position
    return None
