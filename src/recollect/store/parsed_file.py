"""Read one small file of a home into a typed value, and walk its folders: shared by all readers of side files."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from recollect.errors import RecollectError
from recollect.store.home import Home
from recollect.store.layout import FileKind, kind_of_file
from recollect.store.paths import is_inside, list_inside, read_inside

SIZE_LIMIT = 64 << 20
"""Side files are small. A larger one is reported and not read, so that memory stays bounded."""
MAX_DEPTH = 32

Parsed = TypeVar("Parsed", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class FileInfo:
    """Path, size and last modification of a file; None if the system does not report them."""

    path: Path
    size: int | None = None
    modified: datetime | None = None


def info_of(path: Path) -> FileInfo:
    try:
        found = path.lstat()
    except OSError:
        return FileInfo(path)
    return FileInfo(path, found.st_size, datetime.fromtimestamp(found.st_mtime, UTC))


def read_parsed(home: Home, path: Path, parse: Callable[[bytes], Parsed]) -> Parsed:
    """Read a file and parse it. If it cannot be read, return an empty value with the reason in `problem`."""
    try:
        data = read_inside(home, path, SIZE_LIMIT + 1)
    except RecollectError as error:
        return msgspec.structs.replace(parse(b""), problem=error.message)
    except OSError as error:
        return msgspec.structs.replace(parse(b""), problem=f"cannot be read: {error.strerror or error}")
    if len(data) > SIZE_LIMIT:
        return msgspec.structs.replace(parse(b""), problem=f"larger than {SIZE_LIMIT >> 20} MB, not read")
    return parse(data)


def read_if_there(home: Home, path: Path, parse: Callable[[bytes], Parsed]) -> Parsed | None:
    """Read a file and parse it as `read_parsed` does; return None if it does not exist."""
    return read_parsed(home, path, parse) if os.path.lexists(path) else None


def walk_files(home: Home, folder: Path) -> Iterator[Path]:
    """Yield every file below a folder, by name. A link to a folder is followed if it ends in the home.

    No folder is entered twice, so circular links end.
    """
    yield from _walk(home, folder, MAX_DEPTH, {os.path.realpath(folder)})


def _walk(home: Home, folder: Path, depth: int, entered: set[str]) -> Iterator[Path]:
    for path in list_inside(home, folder):
        if not is_folder(home, path):
            yield path
        elif depth > 0 and (real := os.path.realpath(path)) not in entered:
            entered.add(real)
            yield from _walk(home, path, depth - 1, entered)


def is_folder(home: Home, path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
        return stat.S_ISDIR(mode) or (stat.S_ISLNK(mode) and is_inside(home, path) and path.is_dir())
    except OSError:
        return False


def survey(home: Home) -> dict[FileKind, tuple[int, int]]:
    """Count the files of each kind in a home, and their bytes. Opens none of them."""
    counts: Counter[FileKind] = Counter()
    sizes: Counter[FileKind] = Counter()
    for path in walk_files(home, home.root):
        kind = kind_of_file(path.relative_to(home.root).parts)
        counts[kind] += 1
        sizes[kind] += info_of(path).size or 0
    return {kind: (counts[kind], sizes[kind]) for kind in FileKind if counts[kind]}
