"""Open the catalogue so that every page that is read has the checksum with which it was written.

SQLite notices damage to the structure of its file, but not to the values in it. So each page keeps its CRC in eight bytes that
SQLite leaves to others, made with the page's place, so that swapped pages are noticed too. The write-ahead log has checksums
of its own, which SQLite verifies. Every connection to a catalogue must be opened here: a page that is written without its
checksum would be taken for damaged.
"""

from __future__ import annotations

import zlib

import apsw

PAGE = 16384
_SUM = 8
_NAME = "recollect-checked"
_vfs: _CheckedFiles | None = None


class _CheckedFile(apsw.VFSFile):
    """The file of a database; the names of its methods are SQLite's."""

    def xRead(self, amount: int, offset: int) -> bytes:
        data = super().xRead(amount, offset)
        if amount == PAGE and len(data) == PAGE and _sum(data, offset) != data[-_SUM:]:
            raise apsw.CorruptError(f"the page at byte {offset} is damaged")
        return data

    def xWrite(self, data: bytes, offset: int) -> None:
        if len(data) == PAGE:
            data = data[:-_SUM] + _sum(data, offset)
        super().xWrite(data, offset)


class _CheckedFiles(apsw.VFS):
    def __init__(self) -> None:
        super().__init__(_NAME, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        if flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            return _CheckedFile("", name, flags)
        return super().xOpen(name, flags)


def _sum(page: bytes, offset: int) -> bytes:
    return zlib.crc32(memoryview(page)[:-_SUM], offset // PAGE + 1).to_bytes(_SUM, "little")


def connect(path: str, flags: int = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE) -> apsw.Connection:
    """A connection that raises CorruptError where a page is not what was written."""
    global _vfs
    if _vfs is None:
        _vfs = _CheckedFiles()
    return apsw.Connection(path, flags=flags, vfs=_NAME)


def prepare(db: apsw.Connection) -> None:
    """Give an empty database pages with room for their checksums."""
    import ctypes

    room = ctypes.c_int(_SUM)
    db.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(room))
    db.execute(f"PRAGMA page_size={PAGE}")
