"""Read transcripts: as streams of lines with bounded memory, and as whole files of rows.

    with OpenFiles(home) as files:
        with files.stream(path) as stream:      # from start to end
            ...
        files.value_at(path, offset, length)    # one entry

Inside `with`, a file stays open after its first use, so that a view that needs rows, words and a summary opens it once.
Outside, each call opens the file and closes it again. Every reader has a position of its own.
"""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from ..errors import RecollectError
from ..format.decode import Located, file_entries, file_row_entries
from ..format.entries import Entry, decode_exactly
from ..format.line import Damage, RawLine, read_entry_lines
from ..graph.rows import Transcript, build_transcript, gc_paused
from .home import Home, open_inside
from .scan import Scan, SubagentFile

_STREAMED: Final = 1 << 20
"""How many bytes are read at once from start to end."""


class OpenFiles:
    """The open files of one session."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._users = 0
        self._files: dict[Path, _OpenFile] = {}

    def __enter__(self) -> OpenFiles:
        with self._lock:
            self._users += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                for file in self._files.values():
                    file.close()
                self._files.clear()

    def bytes_at(self, path: Path, offset: int, length: int) -> bytes:
        """Return the bytes at this place; fewer if the file has become shorter meanwhile."""
        with self:
            return self._file(path).read_at(offset, length)

    def value_at(self, path: Path, offset: int, length: int) -> dict[str, Any]:
        """Return the entry at this place as plain data; empty if it cannot be decoded."""
        value = decode_exactly(self.bytes_at(path, offset, length))
        return value if isinstance(value, dict) else {}

    @contextmanager
    def stream(self, path: Path, buffering: int = _STREAMED) -> Iterator[BinaryIO]:
        """Open a reader at the start of the file. The file stays open until this reader is closed, too."""
        with self:
            yield io.BufferedReader(_Position(self._file(path)), buffering)

    def _file(self, path: Path) -> _OpenFile:
        with self._lock:
            found = self._files.get(path)
            if found is None:
                found = self._files[path] = _OpenFile(open_inside(self._home, path, buffering=0))
            return found


class _OpenFile:
    """One open file that any number of readers share."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._lock = threading.Lock()

    def read_at(self, offset: int, length: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._raw.fileno(), length, offset)
        with self._lock:
            self._raw.seek(offset)
            return self._raw.read(length)

    def size(self) -> int:
        return os.fstat(self._raw.fileno()).st_size

    def close(self) -> None:
        self._raw.close()


class _Position(io.RawIOBase):
    """A reader with its own position in a shared file."""

    def __init__(self, file: _OpenFile) -> None:
        self._file = file
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read_at(self._position, len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position}.get(whence)
        self._position = offset + (self._file.size() if start is None else start)
        return self._position


_NEARBY: Final = 1 << 16
"""How many bytes are read for one entry, since the next entry asked for often follows it."""


def stream_lines(path: Path, home: Home | None = None) -> Iterator[RawLine]:
    """Yield the lines of a file; joined, their bytes are the file's bytes.

    An object over several lines comes as one line.
    """
    with _open(path, home) as stream:
        yield from read_entry_lines(stream)


def stream_entries(
    path: Path, home: Home | None = None, damage: list[Damage] | None = None
) -> Iterator[Located[Entry]]:
    """Yield the entries of a file in order, as they are read. Damage is appended to `damage`."""
    with _open(path, home) as stream:
        yield from file_entries(stream, [] if damage is None else damage)


def read_transcript(path: Path, home: Home | None = None, *, file: int = 0, check_text: bool = True) -> Transcript:
    """Return all rows of a file. Their text stays on disk: a row holds the place of its bytes.

    Without `check_text`, invalid UTF-8 inside of text is not searched for, and not reported as damage.
    """
    with _open(path, home) as stream, gc_paused():
        return transcript_of(stream, file=file, check_text=check_text)


def transcript_of(stream: BinaryIO, *, file: int = 0, check_text: bool = True) -> Transcript:
    """Return all rows of an open file, as `read_transcript` does."""
    damage: list[Damage] = []
    places = file_row_entries(stream, damage, check_text=check_text)
    transcript = build_transcript(places.bare(), damage, file=file)
    transcript.lines, transcript.size = places.lines, places.size
    return transcript


def session_named_in(path: Path, home: Home) -> str | None:
    """Return the first session id that a line of the file names; None if no line does."""
    try:
        return next((item.entry.sessionId for item in stream_entries(path, home) if item.entry.sessionId), None)
    except (RecollectError, OSError):
        return None


def attach_subagents_beside(
    home: Home, scan: Scan, beside: Iterable[tuple[str, SubagentFile]], owners: dict[SubagentFile, str | None]
) -> None:
    """Assign the subagents of 2.0.28 - 2.1.8, which lie beside the sessions, to the session that their lines name.

    `owners` caches the session of each file.
    """
    sessions = {(file.folder, file.session_id): file for file in scan.sessions}
    for folder, subagent in beside:
        if subagent not in owners:
            owners[subagent] = session_named_in(subagent.path, home)
        owner = owners[subagent]
        file = sessions.get((folder, owner)) if owner else None
        if file is not None:
            file.subagents.append(subagent)
        else:  # if no line names a session, the file's own name stands in
            scan.note_orphan(home, folder, owner or f"projects/{folder}/{subagent.path.name}", subagent)


class EntryBytes:
    """Random access to the entries of one file: bytes and decoded values by place. Use as a context manager."""

    def __init__(self, path: Path, home: Home | None = None) -> None:
        self._path = path
        self._home = home
        self._stream: BinaryIO | None = None

    def __enter__(self) -> EntryBytes:
        self._stream = _open(self._path, self._home, _NEARBY)
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def from_start(self) -> BinaryIO:
        """Return the open file at its first byte, for somebody who reads all of it. Only inside of `with`."""
        if self._stream is None:
            raise ValueError("the file is not open")
        self._stream.seek(0)
        return self._stream

    def bytes_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at this place; fewer if the file has become shorter meanwhile."""
        if self._stream is None:
            with self:
                return self.bytes_at(offset, length)
        self._stream.seek(offset)
        return self._stream.read(length)

    def read_into(self, room: bytearray, offset: int, length: int) -> int:
        """Read bytes into the start of `room`, which must be long enough, and return how many were read.

        Saves allocations for callers that read much.
        """
        if self._stream is None:
            with self:
                return self.read_into(room, offset, length)
        self._stream.seek(offset)
        with memoryview(room) as view:
            return int(self._stream.readinto(view[:length]))  # type: ignore[attr-defined]  # every open file has it

    def value_at(self, offset: int, length: int) -> dict[str, object]:
        """Return the entry at this place as plain data; empty if it cannot be decoded."""
        value = decode_exactly(self.bytes_at(offset, length))
        return value if isinstance(value, dict) else {}


def _open(path: Path, home: Home | None, buffering: int = 1 << 20) -> BinaryIO:
    return open_inside(home, path, buffering=buffering) if home is not None else open(path, "rb", buffering=buffering)
