"""Read entries back from their files. A search gets all text from here, because the index stores none.

For a transcript that is gone from its home, the bytes may come from another source (`elsewhere`), such as the vault.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ...errors import RecollectError
from ...format.path_text import to_path
from ...store.opening import open_below

#: (file id, offset, length) -> bytes, or None if that source does not have them.
Elsewhere = Callable[[int, int, int], bytes | None]
#: file id -> (home's folder, path), or None if the catalogue has no such file.
PlaceOf = Callable[[int], tuple[str, str] | None]

_MOST_OPEN = 128


class EntryReader:
    """Read the bytes of entries by file, offset and length. Keeps up to 128 files open until `close`."""

    def __init__(self, place_of: PlaceOf, elsewhere: Elsewhere | None = None) -> None:
        self._place_of = place_of
        self._elsewhere = elsewhere
        self._open: dict[int, int | None] = {}

    def bytes_at(self, file_id: int, offset: int, length: int) -> bytes:
        """Return the bytes at an offset; fewer or none if the file is shorter now, or gone."""
        stream = self._stream(file_id)
        data = b""
        if stream is not None:
            try:
                data = _read_at(stream, offset, length)
            except OSError:
                data = b""
        if not data and self._elsewhere is not None:
            return self._elsewhere(file_id, offset, length) or b""
        return data

    def path_of(self, file_id: int) -> str:
        """Return the full path of a file, for messages."""
        place = self._place_of(file_id)
        return f"file {file_id}" if place is None else place[1]

    def _stream(self, file_id: int) -> int | None:
        if file_id in self._open:
            return self._open[file_id]
        if len(self._open) >= _MOST_OPEN:
            oldest = self._open.pop(next(iter(self._open)))
            if oldest is not None:
                os.close(oldest)
        stream = self._open[file_id] = self._opened(file_id)
        return stream

    def _opened(self, file_id: int) -> int | None:
        place = self._place_of(file_id)
        if place is None:
            return None
        try:
            return open_below(*map(to_path, place))
        except (RecollectError, OSError):
            return None

    def close(self) -> None:
        for stream in self._open.values():
            if stream is not None:
                os.close(stream)
        self._open.clear()

    def __enter__(self) -> EntryReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _read_at(stream: int, offset: int, length: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(stream, length, offset)
    os.lseek(stream, offset, os.SEEK_SET)
    return os.read(stream, length)
