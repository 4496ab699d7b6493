"""Open files of a home once and read them in several ways, from several threads.

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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from ..format.entries import decode_exactly
from .home import Home
from .paths import open_inside

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
