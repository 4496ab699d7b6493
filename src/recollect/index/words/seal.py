"""Know that the files of the word index are those that were written.

The catalogue notes what the files of the word index looked like when the last writer had finished. A file that still looks so
is trusted; of any other the CRC is verified that the word index put at its end. `meta.json` has none: the catalogue keeps it.
Imports little, for a search that must start fast.
"""

from __future__ import annotations

import json
import os
import zlib

from ...store.file_stamp import file_stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from ..catalogue.catalogue import Catalogue

SEAL = "words:files"
WRITING = "words:writing"
MARK = "words_mark"
"""The note with the highest entry id of which the words are committed."""
_META = "meta.json"
_MAGIC = 1337
_AT_ONCE = 1 << 20


def check(db: apsw.Connection, folder: str) -> bool:
    """Whether all files look as they were left; False where some do not but hold what was written.

    Raises ValueError where something is damaged or gone.
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
    """Note that the files change from now on, before the first of them does. The caller holds the lock."""
    with catalogue.transaction():
        catalogue.set_note(WRITING, 1)


def finish_interrupted(catalogue: Catalogue) -> bool:
    """Whether a writer was interrupted and left files that are whole, which are sealed then. The caller holds the lock."""
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
    """Note what the files look like. The caller holds the lock, and nobody writes to them any more."""
    folder = str(catalogue.words_folder)
    noted = json.dumps([zlib.crc32(_meta(folder)), {name: _stamp(f"{folder}/{name}") for name in _names(folder)}])
    with catalogue.transaction() as db:
        catalogue.set_note(SEAL, noted)
        db.execute("DELETE FROM notes WHERE name = ?", (WRITING,))


def check_sum(path: str) -> None:
    """Raises ValueError where a file does not have the CRC at its end that was made when it was written."""
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
    """Files of segments; the others are locks, and lists that only a writer uses."""
    try:
        return sorted(name for name in os.listdir(folder) if name != _META and not name.startswith("."))
    except OSError as problem:
        raise ValueError(f"the folder cannot be read: {problem.strerror}") from None


def _stamp(path: str) -> list[int] | None:
    try:
        return list(file_stamp(os.stat(path)))
    except OSError:
        return None
