"""Open the catalogue with a checksum on every page, verified whenever the page is read.

SQLite notices damage to the structure of its file, but not to the values in it. So each page stores its CRC in eight bytes
that SQLite reserves for extensions. The CRC includes the page's number, so swapped pages are noticed too. The write-ahead
log has checksums of its own, which SQLite verifies. Every writing connection to a catalogue must be opened here: a page
written without its checksum would be reported as damaged.
"""

from __future__ import annotations

import zlib

import apsw

PAGE = 16384
_SUM = 8
_NAME = "recollect-checked"
_vfs: _CheckedFiles | None = None


class _CheckedFile(apsw.VFSFile):
    """The main file of a database; SQLite's interface defines the names of the methods."""

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
    """Open a connection that raises CorruptError when it reads a damaged page."""
    global _vfs
    if _vfs is None:
        _vfs = _CheckedFiles()
    return apsw.Connection(path, flags=flags, vfs=_NAME)


def prepare(db: apsw.Connection) -> None:
    """Set the page size of an empty database and reserve room for the checksum in each page."""
    import ctypes

    room = ctypes.c_int(_SUM)
    db.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(room))
    db.execute(f"PRAGMA page_size={PAGE}")
