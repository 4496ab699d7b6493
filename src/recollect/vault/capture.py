"""Capture a home: store what is new since the last capture, byte range by byte range.

A file that only grew is read from where the last capture ended; the end of what was kept is compared, and of a short
file all of it. A file whose kept bytes changed (it was rewritten or cut) begins a new generation, and the old one
stays.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from ..errors import DamagedData, RecollectError
from ..journal import disk
from ..store.home import Home, open_inside
from ..store.layout import file_at
from ..store.opening import FileStamp, file_stamp
from .compact import compact_locked
from .health import Checkup, files_with, pieces_in_use, used_blocks
from .manifest import LOST, FileRecord, KeptFile, Piece, to_text
from .selection import SeenFiles, Walk, walk_home
from .vault import Vault
from .verify import verify
from .writer import BLOCK, VaultWriter, recover


@dataclass
class CaptureReport:
    """What a capture did."""

    home: str
    files: int = 0
    """Files found in the home."""
    new: int = 0
    grown: int = 0
    rewritten: int = 0
    healed: int = 0
    """Files of which the vault had lost something, and which were stored again."""
    bytes: int = 0
    """Newly kept bytes of files."""
    stored: int = 0
    """Bytes by which the vault grew."""
    sessions: set[str] = field(default_factory=set)
    """Sessions of which something is new."""
    skipped: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """Files of the vault, from any home, of which something is lost and was not found in the home either."""
    recovered: bool = False

    @property
    def changed(self) -> int:
        return self.new + self.grown + self.rewritten + self.healed


COMPARE_ALL: Final = 8 << 20
"""A grown file is compared as a whole if no more than this is kept of it; of a longer one, its start and its end."""
_SETTLED_SECONDS: Final = 2.0
"""A file written so recently may be written again with the same stamp: the next capture compares its bytes."""
_GROWS: Final = 6
"""How many times longer a piece must become when it is stored again together with others."""

Progress = Callable[[int, int], None]
"""Called with the number of files done and the number of files to do."""


def capture(
    vault: Vault,
    home: Home,
    *,
    cache: Path | None = None,
    full: bool = False,
    progress: Progress | None = None,
    walk: Walk | None = None,
) -> CaptureReport:
    """Store everything new of a home in the vault. `full` compares every file with what is kept, whatever its stamp.

    `walk` is a walk through the home that was made just now; without it, the home is walked here. If nothing is new, no
    lock is taken. On return, everything that the report counts is on disk. Raises Refused (no room, read-only) and
    StoreBusy.
    """
    walk = walk_home(home) if walk is None else walk
    seen = SeenFiles(cache, vault.folder, home.real_root)
    if walk.is_kept is None and not full:
        walk.is_kept = seen.is_all(walk.files)
    if walk.is_kept and not full:
        return CaptureReport(str(home.root), len(walk.files), skipped=walk.skipped)
    try:
        with vault.locked():
            return _Capture(vault, home, seen, full, progress).run(walk)
    except OSError as problem:
        raise disk.explain(problem, vault.folder) from problem
    finally:
        vault.refresh()


class _Capture:
    def __init__(self, vault: Vault, home: Home, seen: SeenFiles, full: bool, progress: Progress | None) -> None:
        self.vault = vault
        self.home = home
        self.full = full
        self.bad: set[int] = set()
        self.progress = progress
        self.seen = seen
        self.report = CaptureReport(str(home.root))

    def run(self, found: Walk) -> CaptureReport:
        self.report.files, self.report.skipped = len(found.files), found.skipped
        self.vault.refresh()
        self.report.recovered = recover(self.vault)
        if not found.files and not self.vault.exists:
            return self.report
        checkup = Checkup(self.vault, time.time())
        settled = self._take_all(found, checkup)
        lost = self.bad & used_blocks(self.vault.contents)  # a compaction renumbers the blocks
        if self.full:
            self._tidy_up()
        self.report.lost = files_with(self.vault.contents, lost)
        checkup.write(lost)
        if not lost and checkup.is_done:
            self.seen.write({name: stamp for name, stamp in settled.items() if _is_settled(stamp, found.time)})
        return self.report

    def _tidy_up(self) -> None:
        """Remove damaged blocks that no file depends on, by rewriting the vault."""
        self.vault.refresh()
        report = verify(self.vault)
        if not report.is_sound and not any(finding.files for finding in report.findings):
            with contextlib.suppress(DamagedData):  # then the damage stays, and `verify` reports it
                compact_locked(self.vault, needed=True)
            self.vault.refresh()

    def _take_all(self, found: Walk, checkup: Checkup) -> dict[str, FileStamp]:
        files, writer = found.files, VaultWriter(self.vault)
        self.bad = checkup.run(everything=self.full)
        writer.contents.by_hash = {  # unused blocks are not checked, so new files must not refer to them
            piece.sha256: piece for piece in pieces_in_use(writer.contents) if piece.block not in self.bad
        }
        number = writer.home(self.home.real_root)
        kept = writer.contents.files_of(number)
        self.by_inode = {file.last.inode: file for path, file in kept.items() if path not in files}
        known = (
            {path: file.last.stamp for path, file in kept.items() if not self._has_lost(file)} if not self.full else {}
        )
        known = {path: stamp for path, stamp in known.items() if _is_settled(stamp, found.time)}
        todo = sorted(name for name, stamp in files.items() if known.get(name) != stamp)
        settled = dict(files)
        for count, name in enumerate(todo, 1):
            try:
                _FileCapture(self, writer, number, name, kept.get(name)).take()
            except (RecollectError, FileNotFoundError) as problem:
                settled.pop(name, None)
                self.report.skipped.append(f"{name}: {problem}")
            if writer.is_due:
                writer.commit()
            if self.progress is not None:
                self.progress(count, len(todo))
        writer.commit()
        self.report.stored = writer.stored
        return settled

    def _has_lost(self, file: KeptFile) -> bool:
        return bool(self.bad) and any(piece.block in self.bad for _, piece in file.pieces(file.last))


def _is_settled(stamp: FileStamp, now: float) -> bool:
    """Return whether another write to this file would surely change its stamp.

    Times in the future are another clock's.
    """
    return all(abs(moment - now * 1e9) > _SETTLED_SECONDS * 1e9 for moment in stamp[1:3])


class _FileCapture:
    def __init__(self, capture: _Capture, writer: VaultWriter, home: int, name: str, kept: KeptFile | None) -> None:
        self.capture = capture
        self.writer = writer
        self.home = home
        self.name = name
        self.kept = kept

    def take(self) -> None:
        report = self.capture.report
        with open_inside(self.capture.home, self.capture.home.root / self.name, buffering=0) as stream:
            info = os.fstat(stream.fileno())
            self.stamp = file_stamp(info)
            self.size, _, _, self.inode = self.stamp
            if self.kept is None:
                count = self._take_new(stream)
                report.new += 1
            else:
                taken = self._take_known(stream, self.kept)
                if taken is None:
                    return
                count = taken
        report.bytes += count
        session = session_of(self.name)
        if session is not None:
            report.sessions.add(session)

    def _take_new(self, stream: BinaryIO) -> int:
        """Store a file that is not in the vault. If it was moved there, its kept pieces are used again."""
        before = self.capture.by_inode.get(self.inode)
        pieces: list[Piece] = []
        if before is not None:
            pieces = self._same_pieces(stream, [piece for _, piece in before.pieces(before.last)])
        return self._store(stream, 1, 0, pieces)

    def _take_known(self, stream: BinaryIO, kept: KeptFile) -> int | None:
        """Store what is new of a file in the vault and return how many bytes; None if nothing is new."""
        look = kept.last
        generation = kept.generations[look.generation]
        report = self.capture.report
        if self.size >= look.size == generation.size:
            merged = _to_merge(generation.pieces, self.size - look.size)
            before = generation.pieces[: len(generation.pieces) - len(merged)]
            if self._is_same(stream, before) and self._holds(stream, look.size, merged):
                damaged = self._first_damaged(generation.pieces)
                if damaged is not None:
                    report.healed += 1
                    return self._store(stream, generation.number, damaged, [])
                if self.stamp == look.stamp:
                    return None
                if self.size > look.size:
                    report.grown += 1
                    start = look.size - sum(piece.length for piece in merged)
                    return self._store(stream, generation.number, start, [])
                self._record(generation.number, look.size, look.size, [])  # same bytes, another stamp
                return 0
        report.rewritten += 1
        same = self._same_pieces(stream, generation.pieces)
        return self._store(stream, max(kept.generations) + 1, 0, same)

    def _first_damaged(self, pieces: list[Piece]) -> int | None:
        """Return where the first piece begins that the vault cannot read; None if all can be read."""
        offset = 0
        for piece in pieces:
            if piece.block in self.capture.bad:
                return offset
            offset += piece.length
        return None

    def _is_same(self, stream: BinaryIO, pieces: list[Piece]) -> bool:
        """Return whether the file still begins with these pieces; of many, only the first and last ones are compared."""
        total = sum(piece.length for piece in pieces)
        look = self.kept.last if self.kept is not None else None
        quick = look is not None and look.inode == self.inode and self.size > look.size
        offset = 0
        for number, piece in enumerate(pieces):
            asked = not quick or self.capture.full or total <= COMPARE_ALL or number == 0 or number >= len(pieces) - 2
            if asked and not self._is_at(stream, offset, piece):
                return False
            offset += piece.length
        return True

    def _holds(self, stream: BinaryIO, end: int, pieces: list[Piece]) -> bool:
        offset = end - sum(piece.length for piece in pieces)
        for piece in pieces:
            if not self._is_at(stream, offset, piece):
                return False
            offset += piece.length
        return True

    def _same_pieces(self, stream: BinaryIO, pieces: list[Piece]) -> list[Piece]:
        """Return the pieces with which the file begins, up to the first that differs."""
        same: list[Piece] = []
        offset = 0
        for piece in pieces:
            is_bad = piece.block in self.capture.bad or offset + piece.length > self.size
            if is_bad or not self._is_at(stream, offset, piece):
                break
            same.append(piece)
            offset += piece.length
        return same

    @staticmethod
    def _is_at(stream: BinaryIO, offset: int, piece: Piece) -> bool:
        if piece.block == LOST:
            return False
        stream.seek(offset)
        return hashlib.sha256(_read(stream, piece.length)).digest() == piece.sha256

    def _store(self, stream: BinaryIO, generation: int, start: int, pieces: list[Piece]) -> int:
        """Store the file from `start` up to its size; the `pieces` that follow `start` are in the vault already."""
        writer = self.writer
        position = start + sum(piece.length for piece in pieces)
        stream.seek(position)
        count = 0
        while position < self.size:
            data = _read(stream, min(BLOCK, self.size - position))
            if not data:
                break  # cut while it was read: the next capture notices
            pieces.append(writer.add(data))
            position += len(data)
            count += len(data)
            if writer.is_due and position < self.size:
                self._record(generation, start, position, pieces)
                writer.commit()
                start, pieces = position, []
        self._record(generation, start, position, pieces)
        return count

    def _record(self, generation: int, start: int, size: int, pieces: list[Piece]) -> None:
        _, mtime_ns, ctime_ns, inode = self.stamp
        whole = size == self.size
        self.writer.record(
            FileRecord(
                self.home, to_text(self.name), generation, size, mtime_ns,
                ctime_ns if whole else 0, inode, start, pieces,
            )
        )  # fmt: skip


def _to_merge(pieces: list[Piece], new: int) -> list[Piece]:
    """Return the short pieces at the end that are stored again together with the new bytes.

    A file that grows by a few lines at a time would otherwise be kept in as many small blocks, which compress badly. A
    piece is merged only into one that is several times as long, so no byte is stored again more than a few times.
    """
    total, first = new, len(pieces)
    chosen = first
    while new and first and pieces[first - 1].length + total <= BLOCK:
        first -= 1
        total += pieces[first].length
        if total >= _GROWS * pieces[first].length:
            chosen = first
    return pieces[chosen:]


def _read(stream: BinaryIO, count: int) -> bytes:
    """Read `count` bytes, or fewer at the end of the file."""
    parts: list[bytes] = []
    missing = count
    try:
        while missing and (more := stream.read(missing)):
            parts.append(more)
            missing -= len(more)
    except OSError as problem:  # an error of this file; errors of the vault end the capture
        raise DamagedData(f"cannot be read: {problem.strerror or problem}", slug="unreadable-file") from problem
    return parts[0] if len(parts) == 1 else b"".join(parts)


def session_of(path: str) -> str | None:
    """Return the session whose transcript or folder a kept path is; None for files of other kinds."""
    file = file_at(path.split("/"))
    return None if file.folder is None else file.session_id
