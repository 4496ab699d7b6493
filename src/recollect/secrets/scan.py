"""Search everything that a home holds for secrets, and remember what was found, so that unchanged files are not read again.

What is remembered never holds a value: kinds, places, masked texts and fingerprints, in our cache folder. A transcript that
only grew is read from where the last search ended.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
from msgspec import Struct

from ..errors import RecollectError
from ..journal import disk
from ..store.home import Home, open_inside
from ..store.layout import HomeFile, file_at
from ..store.opening import FileStamp, file_stamp, is_secret_file_name, is_store_place, why_not_followed
from .file_search import FileSearch, Place
from .fingerprints import Fingerprints

#: Folders of a home that hold programs, caches and state of the system, and nothing that was said or typed.
NOT_SEARCHED: Final = frozenset(
    """
    plugins cowork_plugins local statsig ide chrome downloads cache image-cache mcp-skill-archives systemd startup-perf
    node_modules .git
    """.split()  # noqa: SIM905  a list of quoted words is harder to read
)
#: Endings of files that are no text.
_NO_TEXT: Final = (
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".webp",
    ".ico",
    ".pdf",
    ".zip",
    ".gz",
    ".zst",
    ".xz",
    ".tar",
    ".mp4",
    ".mp3",
    ".wav",
    ".woff",
    ".woff2",
    ".ttf",
    ".wasm",
    ".node",
    ".so",
    ".dylib",
    ".dll",
    ".exe",
    ".sqlite",
    ".sqlite3",
    ".db",
    ".parquet",
    ".lock",
)
_DEEPEST: Final = 32
_FOLDER: Final = "secrets"
_LAYOUT: Final = 1
_TAIL: Final = 4096


@dataclass(frozen=True, slots=True)
class SearchedFile:
    """A file of a home that is searched. `path` is from the home's root, with slashes."""

    path: str
    place: Path
    stamp: FileStamp
    info: HomeFile

    @property
    def size(self) -> int:
        return self.stamp[0]

    @property
    def mtime(self) -> float:
        return self.stamp[1] / 1e9


@dataclass(slots=True)
class ScanTotals:
    """What a search looked at."""

    files: int = 0
    bytes: int = 0
    read_bytes: int = 0
    """How much of it was read; the rest is as it was."""
    unreadable: list[str] = field(default_factory=list)


class _KeptFile(Struct, array_like=True):
    stamp: tuple[int, int, int, int]
    end: int
    """Where the last whole line ends."""
    lines: int
    tail: str
    """Hash of the bytes before `end`: if they are the same, and the file is longer, it only grew."""
    finds: list[Place]


class _KeptScan(Struct):
    version: str
    files: dict[str, _KeptFile]


def searched_files(home: Home) -> list[SearchedFile]:
    """List every file of a home that is searched; the global config beside it, too. Tokens and keys in use are left out."""
    root = str(home.root)
    found: list[SearchedFile] = []
    _walk(root, root, "", found, _DEEPEST)
    config = home.config_file
    if config.parent != home.root:
        with contextlib.suppress(OSError):
            info = os.stat(config, follow_symlinks=False)
            if stat.S_ISREG(info.st_mode):
                found.append(SearchedFile(f"../{config.name}", config, file_stamp(info), file_at((config.name,))))
    return found


def _walk(root: str, folder: str, prefix: str, found: list[SearchedFile], depth: int) -> None:
    try:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda item: item.name):
                _take(root, entry, prefix, found, depth)
    except OSError:
        return  # the folder is gone, or not ours


def _take(root: str, entry: os.DirEntry[str], prefix: str, found: list[SearchedFile], depth: int) -> None:
    name = entry.name
    path = prefix + name
    if entry.is_symlink() and (not is_store_place(path.split("/")) or why_not_followed(root, entry.path) is not None):
        return  # only links of the store are followed, as everywhere
    if entry.is_dir():
        if depth and (prefix or name not in NOT_SEARCHED):
            _walk(root, entry.path, f"{path}/", found, depth - 1)
    elif entry.is_file() and not is_secret_file_name(name) and not name.lower().endswith(_NO_TEXT):
        with contextlib.suppress(OSError):
            found.append(SearchedFile(path, Path(entry.path), file_stamp(entry.stat()), file_at(path.split("/"))))


class HomeScan:
    """The search of one home. `version` names the rules: finds of other rules are not used again."""

    def __init__(
        self,
        home: Home,
        search: FileSearch,
        fingerprints: Fingerprints,
        cache: Path | None,
        version: str,
    ) -> None:
        self.home = home
        self.search = search
        self.totals = ScanTotals()
        # The fingerprint of a fixed text tells whether the key is still the one that the kept fingerprints were made with.
        self._version = f"{_LAYOUT}:{version}:{fingerprints.of('')}"
        name = hashlib.blake2b(os.fsencode(home.real_root), digest_size=8).hexdigest()
        self._file = None if cache is None else cache / _FOLDER / f"{name}.msgpack"
        self._kept = self._read()
        self._is_changed = False

    def finds(
        self,
        files: list[SearchedFile],
        progress: Callable[[int], None] | None = None,
    ) -> Iterator[tuple[SearchedFile, list[Place]]]:
        """Yield the files in which something is found, with what is found. `progress` is called with the bytes of each file."""
        try:
            for file in files:
                self.totals.files += 1
                self.totals.bytes += file.size
                places = self._of(file)
                if progress is not None:
                    progress(file.size)
                if places:
                    yield file, places
        finally:
            self._write()

    def forget_missing(self, files: list[SearchedFile]) -> None:
        """Drop what is remembered of files that are gone; `files` are all that there are."""
        there = {file.path for file in files}
        for path in [path for path in self._kept if path not in there]:
            del self._kept[path]
            self._is_changed = True

    def _of(self, file: SearchedFile) -> list[Place]:
        kept = self._kept.get(file.path)
        if kept is not None and kept.stamp == file.stamp:
            return kept.finds
        try:
            with open_inside(self.home, file.place, buffering=0) as stream:
                stamp = file_stamp(os.fstat(stream.fileno()))
                made = self._search(stream, file, kept, stamp)
        except (RecollectError, OSError):
            self.totals.unreadable.append(file.path)
            return []
        self._kept[file.path] = made
        self._is_changed = True
        return made.finds

    def _search(self, stream: BinaryIO, file: SearchedFile, kept: _KeptFile | None, stamp: FileStamp) -> _KeptFile:
        if not file.path.endswith(".jsonl"):
            data = stream.read()
            self.totals.read_bytes += len(data)
            return _KeptFile(stamp, 0, 0, "", list(self.search.in_file(file.path, data)))
        start, line, finds = 0, 0, []
        if kept is not None and 0 < kept.end <= stamp[0] and _tail(stream, kept.end) == kept.tail:
            start, line = kept.end, kept.lines
            finds = [place for place in kept.finds if place.line <= line]
        stream.seek(start)
        end, lines = self.search.in_lines(stream, start, line, finds.append)
        self.totals.read_bytes += max(stamp[0] - start, 0)
        return _KeptFile(stamp, end, lines, _tail(stream, end), finds)

    def _read(self) -> dict[str, _KeptFile]:
        if self._file is None:
            return {}
        try:
            kept = msgspec.msgpack.decode(self._file.read_bytes(), type=_KeptScan)
        except (OSError, ValueError, msgspec.DecodeError):
            return {}
        return kept.files if kept.version == self._version else {}

    def _write(self) -> None:
        """Write what was found. It can be found again, so a full disk only costs the time."""
        if self._file is None or not self._is_changed:
            return
        fresh = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            disk.make_folders(self._file.parent)
            disk.remove_if_there(fresh)
            disk.write_new(fresh, [msgspec.msgpack.encode(_KeptScan(self._version, self._kept))])
            disk.replace(fresh, self._file)
        self._is_changed = False


def _tail(stream: BinaryIO, end: int) -> str:
    stream.seek(max(end - _TAIL, 0))
    wanted, parts = min(end, _TAIL), []
    while wanted > 0 and (piece := stream.read(wanted)):
        parts.append(piece)
        wanted -= len(piece)
    return hashlib.blake2b(b"".join(parts), digest_size=8).hexdigest()
