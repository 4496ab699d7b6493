"""Verify that the files of the word index are those that were written.

The catalogue stores the stamps of the files as the last writer left them. A file with this stamp is trusted; of any other
file the CRC that tantivy put at its end is verified. `meta.json` has no CRC of its own, so the catalogue stores one.
The module imports little, because every search needs it at its start.
"""

from __future__ import annotations

import json
import os
import zlib

import apsw

from ...store.file_stamp import file_stamp
from ..catalogue.catalogue import Catalogue

SEAL = "words:files"
WRITING = "words:writing"
MARK = "words_mark"
"""The note with the highest entry id whose words are committed."""
_META = "meta.json"
_MAGIC = 1337
_AT_ONCE = 1 << 20


def check(db: apsw.Connection, folder: str) -> bool:
    """Return whether all files have their stored stamps; False if some do not, but their checksums are right.

    Raises ValueError if a file is damaged or gone.
    """
    noted = db.execute("SELECT value FROM notes WHERE name = ?", (SEAL,)).get
    if not isinstance(noted, str):
        raise ValueError("it was never finished")
    meta_sum, files = json.loads(noted)
    if zlib.crc32(_meta(folder)) != meta_sum:
        raise ValueError(f"{_META} is not what was written")
    is_as_left = True
    for name, stamp in files.items():
        path = f"{folder}/{name}"
        if _stamp(path) != stamp:
            is_as_left = False
            check_sum(path)
    return is_as_left


def begin_writing(catalogue: Catalogue) -> None:
    """Record that a writer is at work, before it changes the first file. The caller holds the lock."""
    with catalogue.transaction():
        catalogue.set_note(WRITING, 1)


def finish_interrupted(catalogue: Catalogue) -> bool:
    """Seal the undamaged files that an interrupted writer left. The caller holds the lock.

    Returns False if no writer was interrupted, or a file is damaged.
    """
    if not catalogue.note(WRITING):
        return False
    folder = str(catalogue.words_folder)
    try:
        json.loads(_meta(folder))
        for name in _names(folder):
            check_sum(f"{folder}/{name}")
    except ValueError:
        return False
    seal(catalogue)
    return True


def seal(catalogue: Catalogue) -> None:
    """Store the stamps of the files in the catalogue. The caller holds the lock, and the writer is closed."""
    folder = str(catalogue.words_folder)
    noted = json.dumps([zlib.crc32(_meta(folder)), {name: _stamp(f"{folder}/{name}") for name in _names(folder)}])
    with catalogue.transaction() as db:
        catalogue.set_note(SEAL, noted)
        db.execute("DELETE FROM notes WHERE name = ?", (WRITING,))


def check_sum(path: str) -> None:
    """Verify the CRC at the end of a file of tantivy. Raises ValueError if the file is damaged or unreadable."""
    try:
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            stream.seek(max(size - 8, 0))
            length, magic = (int.from_bytes(stream.read(4), "little") for _ in range(2))
            if size < 8 or magic != _MAGIC or length > size - 8:
                raise ValueError(f"{os.path.basename(path)} is cut")
            stream.seek(size - 8 - length)
            expected = json.loads(stream.read(length))["crc"]
            stream.seek(0)
            left, found = size - 8 - length, 0
            while left and (chunk := stream.read(min(left, _AT_ONCE))):
                found = zlib.crc32(chunk, found)
                left -= len(chunk)
    except (OSError, KeyError, TypeError) as problem:
        raise ValueError(f"{os.path.basename(path)} cannot be read: {problem}") from None
    if left or found != expected:
        raise ValueError(f"{os.path.basename(path)} is not what was written")


def _meta(folder: str) -> bytes:
    try:
        with open(f"{folder}/{_META}", "rb") as stream:
            return stream.read()
    except OSError as problem:
        raise ValueError(f"{_META} cannot be read: {problem.strerror}") from None


def _names(folder: str) -> list[str]:
    """List the files of segments; the other files are locks, and lists that only a writer uses."""
    try:
        return sorted(name for name in os.listdir(folder) if name != _META and not name.startswith("."))
    except OSError as problem:
        raise ValueError(f"the folder cannot be read: {problem.strerror}") from None


def _stamp(path: str) -> list[int] | None:
    try:
        return list(file_stamp(os.stat(path)))
    except OSError:
        return None
