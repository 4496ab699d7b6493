"""A session store in a folder laid out like a Claude home.

    <root>/projects/<project_key>/<session_id>.jsonl
    <root>/projects/<project_key>/<session_id>/<subpath>.jsonl        with <subpath>.meta.json beside it

So every Recollect command can read it (``recollect --home <root> list``), and so can Claude Code. It should be a folder
of its own, not the home that Claude Code is writing into: there each line would be written by both.

A batch is one O_APPEND write under a lock on the file, synced before `append` returns; if a killed writer left a last
line without a line feed, it gets one first. Nothing is ever cut off or rewritten. A torn line stays where it is and is
not loaded. On case-insensitive file systems, the keys of this store are case-insensitive, too.

A small file per session in ``<root>/.recollect/summaries/`` holds the folded summary and how far it was folded. These files can
be deleted at any time. One that is behind (its writer was killed, or Claude Code itself appended) is updated from the
transcript's tail; one that does not match is rebuilt.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from ..errors import DamagedData, RecollectError, Refused
from ..journal.disk import explain
from .contained_folder import (
    CAN_HOLD_FOLDERS,
    ContainedFolder,
    KnownLines,
    Mark,
    lines_from,
    lock_file,
    mark_at,
    read_at,
)
from .entry_text import EntryText, decode_line, decode_lines, encode_entries
from .in_order import InOrder
from .protocol import (
    TRANSCRIPT,
    Place,
    SessionKey,
    SessionListSubkeysKey,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
    checked_place,
    checked_project,
    checked_session,
    is_session_id,
    subpath_of,
)
from .summary_fold import FOLD_VERSION, fold

_FOLDERS: Final = (".recollect", "summaries")


@dataclass(slots=True)
class FoldedFile:
    """The summary of the complete lines before the mark."""

    mark: Mark = field(default_factory=Mark)
    data: dict[str, Any] = field(default_factory=dict)


def kept_summary(root: ContainedFolder, place: Place, fd: int) -> FoldedFile:
    """Return the stored summary of a transcript (open as `fd`) if it matches; else an empty one."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecollectError):
        with _folder(root, place) as folder, open(folder.open_file(_name(place), os.O_RDONLY), "rb") as stream:
            kept = json.loads(stream.read())
        mark = Mark(int(kept["offset"]), str(kept["tail"]))
        if kept["fold"] == FOLD_VERSION and isinstance(kept["data"], dict) and mark.offset > 0 and mark.holds(fd):
            return FoldedFile(mark, kept["data"])
    return FoldedFile()


def brought_up_to_date(folded: FoldedFile, fd: int) -> FoldedFile:
    """Return the summary with the complete lines that were appended since."""
    end = folded.mark.offset

    def complete_lines() -> Iterator[bytes]:
        nonlocal end
        for line in lines_from(fd, end):
            if line.endswith(b"\n"):
                end += len(line)
                yield line

    data = fold(folded.data, decode_lines(complete_lines()))
    return FoldedFile(mark_at(fd, end), data)


def keep_summary(root: ContainedFolder, place: Place, folded: FoldedFile) -> None:
    """Store a summary for the next list. The caller holds the transcript's lock."""
    kept = {"fold": FOLD_VERSION, "offset": folded.mark.offset, "tail": folded.mark.tail, "data": folded.data}
    with _folder(root, place, create=True) as folder:
        folder.write_whole(_name(place), json.dumps(kept, separators=(",", ":")).encode())


def forget_summary(root: ContainedFolder, place: Place) -> None:
    with contextlib.suppress(OSError, RecollectError), _folder(root, place) as folder:
        folder.unlink(_name(place))


def _name(place: Place) -> str:
    return f"{place.session_id}.json"


@contextlib.contextmanager
def _folder(root: ContainedFolder, place: Place, *, create: bool = False) -> Iterator[ContainedFolder]:
    with contextlib.ExitStack() as opened:
        folder = root
        for name in (*_FOLDERS, place.project_key):
            folder = opened.enter_context(folder.child(name, create=create))
        yield folder


_PROJECTS: Final = "projects"
_SUBAGENT_META: Final = "agent_metadata"
"""The type of the entry in which the SDK sends what Claude Code keeps in `agent-<id>.meta.json`."""
_TRIES: Final = 100
"""How often a file or folder may be removed by others between finding and locking it."""
T = TypeVar("T")


class FolderSessionStore:
    """Stores transcripts as files. Several processes may use one folder at the same time."""

    def __init__(self, root: Path | str, *, fsync: bool = True, wait: float = 10.0) -> None:
        """With `fsync=False`, a power cut may lose entries; `wait` is how many seconds to wait for a file's lock."""
        self.root = Path(root).absolute()
        self._fsync = fsync
        self._wait = wait
        self._hold_folders = CAN_HOLD_FOLDERS
        self._changes = InOrder()
        self._known = KnownLines()

    async def append(self, key: SessionKey, entries: Sequence[Mapping[str, Any]]) -> None:
        place, texts = checked_place(key), encode_entries(entries)
        if texts:
            await self._changes.do(lambda: self._write(lambda: self._append(place, texts)))

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        place = checked_place(key)
        entries = await asyncio.to_thread(self._read, lambda: self._load(place), None)
        return cast("list[SessionStoreEntry] | None", entries)

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        project = checked_project(project_key)
        return await asyncio.to_thread(self._read, lambda: self._list_sessions(project), [])

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        project = checked_project(project_key)
        return await asyncio.to_thread(self._read, lambda: self._list_summaries(project), [])

    async def delete(self, key: SessionKey) -> None:
        place = checked_place(key)
        await self._changes.do(lambda: self._write(lambda: self._delete(place)))

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        session = checked_session(key)
        found = await asyncio.to_thread(self._read, lambda: self._subplaces(session), [])
        return [place.subpath_text for place in found]

    # The methods below run in threads: changes one at a time, reads at any time.

    def _write(self, work: Callable[[], None]) -> None:
        try:
            work()
        except OSError as problem:
            raise explain(problem, problem.filename or self.root) from problem

    def _read(self, work: Callable[[], T], nothing: T) -> T:
        try:
            return work()
        except FileNotFoundError:
            return nothing
        except OSError as problem:
            shown = problem.filename or self.root
            raise DamagedData(
                f"cannot read {shown}: {problem.strerror or problem}", slug="unreadable-file"
            ) from problem

    @contextlib.contextmanager
    def _folder(self, *names: str, create: bool = False) -> Iterator[tuple[ContainedFolder, ContainedFolder]]:
        """Open the root, and the folder that these names lead to."""
        with contextlib.ExitStack() as opened:
            root = opened.enter_context(ContainedFolder.root(self.root, create=create, hold=self._hold_folders))
            folder = root
            for name in names:
                folder = opened.enter_context(folder.child(name, create=create, sync=self._fsync))
            yield root, folder

    def _append(self, place: Place, texts: list[EntryText]) -> None:
        *folders, name = _names(place)
        for _ in range(_TRIES):
            with contextlib.suppress(FileNotFoundError), self._folder(*folders, create=True) as (root, folder):
                fd = folder.open_file(name + TRANSCRIPT, os.O_RDWR | os.O_APPEND | os.O_CREAT)
                try:
                    lock_file(fd, os.path.join(folder.path, name + TRANSCRIPT), self._wait)
                    if not folder.has(name + TRANSCRIPT, fd):
                        continue  # deleted while waiting for the lock
                    if os.fstat(fd).st_nlink > 1:
                        raise Refused(
                            f"{os.path.join(folder.path, name + TRANSCRIPT)} has a second name (a hard link) elsewhere",
                            hint="writing would change that one too; give the store a copy of its own",
                            slug="outside-home",
                        )
                    self._append_to(fd, folder, texts)
                    with contextlib.suppress(OSError, RecollectError):  # can be rebuilt, and the entries are safe
                        _keep_what_follows(root, folder, place, fd, texts)
                    return
                finally:
                    os.close(fd)
        raise DamagedData(f"{self.root} is removed as fast as it is written", slug="write-failed")

    def _append_to(self, fd: int, folder: ContainedFolder, texts: list[EntryText]) -> None:
        known, fresh = self._known.of(fd), set[bytes]()
        lines = []
        for text in texts:
            if text.digest is not None:
                if text.digest in known or text.digest in fresh:
                    continue
                fresh.add(text.digest)
            lines.append(text.line)
        if not lines:
            return
        size = os.fstat(fd).st_size
        heal = b"\n" if size and read_at(fd, size - 1, 1) != b"\n" else b""
        data = memoryview(heal + b"\n".join(lines) + b"\n")
        try:
            while data:  # usually one write; under the lock, nothing can come between the parts of a short one
                data = data[os.write(fd, data) :]
            if self._fsync:
                os.fsync(fd)
                if size == 0:
                    folder.sync()
        except OSError:
            self._known.distrust(fd)
            raise

    def _load(self, place: Place) -> list[dict[str, Any]] | None:
        *folders, name = _names(place)
        with self._folder(*folders) as (_, folder):
            with _opened(folder, name + TRANSCRIPT) as fd:
                entries = list(decode_lines(lines_from(fd, 0)))
            if place.subpath and entries and not any(entry.get("type") == _SUBAGENT_META for entry in entries):
                entries += _subagent_meta(folder, name)  # a transcript that Claude Code itself wrote
        return entries or None

    def _list_sessions(self, project: str) -> list[SessionStoreListEntry]:
        with self._folder(_PROJECTS, project) as (_, folder):
            return [
                {"session_id": session_id, "mtime": info.st_mtime_ns // 1_000_000}
                for session_id, info in _sessions(folder)
            ]

    def _list_summaries(self, project: str) -> list[SessionSummaryEntry]:
        found: list[SessionSummaryEntry] = []
        with self._folder(_PROJECTS, project) as (root, folder):
            for session_id, _ in _sessions(folder):
                with contextlib.suppress(FileNotFoundError), _opened(folder, session_id + TRANSCRIPT) as fd:
                    mtime = os.fstat(fd).st_mtime_ns // 1_000_000  # before reading: never newer than the summary
                    folded = brought_up_to_date(kept_summary(root, Place(project, session_id), fd), fd)
                    rest = b"".join(lines_from(fd, folded.mark.offset))  # a last line without line feed may be complete
                    data = fold(folded.data, decode_line(rest)) if rest and b"\n" not in rest else folded.data
                    found.append({"session_id": session_id, "mtime": mtime, "data": data})
        return found

    def _subplaces(self, session: Place) -> list[Place]:
        with self._folder(_PROJECTS, session.project_key, session.session_id) as (_, folder):
            files = [parts for parts in folder.walk() if parts[-1].endswith(TRANSCRIPT)]
        subpaths = (subpath_of((*parts[:-1], parts[-1].removesuffix(TRANSCRIPT))) for parts in files)
        return [session.below(subpath) for subpath in sorted(filter(None, subpaths))]

    def _delete(self, place: Place) -> None:
        with contextlib.suppress(FileNotFoundError):
            below = [] if place.subpath else self._subplaces(place)
            for sub in below:
                self._remove(sub)
        self._remove(place)  # last, so that an interrupted deletion is visible and can be repeated
        with contextlib.suppress(FileNotFoundError), self._folder(_PROJECTS, place.project_key) as (root, folder):
            folder.remove_empty(place.session_id)
            if not place.subpath:
                forget_summary(root, place)
            if self._fsync:
                folder.sync()

    def _remove(self, place: Place) -> None:
        *folders, name = _names(place)
        with contextlib.suppress(FileNotFoundError), self._folder(*folders) as (_, folder):
            with _opened(folder, name + TRANSCRIPT, os.O_RDWR) as fd:
                lock_file(fd, os.path.join(folder.path, name + TRANSCRIPT), self._wait)
                folder.unlink(name + TRANSCRIPT)
            if place.subpath:
                with contextlib.suppress(FileNotFoundError):
                    folder.unlink(_meta_name(name))
            if self._fsync:
                folder.sync()


def _names(place: Place) -> list[str]:
    """Return the folders below the root, and the file's name without its ending."""
    return [_PROJECTS, place.project_key, place.session_id, *place.subpath]


def _meta_name(name: str) -> str:
    return f"{name}.meta.json"


@contextlib.contextmanager
def _opened(folder: ContainedFolder, name: str, flags: int = os.O_RDONLY) -> Iterator[int]:
    fd = folder.open_file(name, flags)
    try:
        yield fd
    finally:
        os.close(fd)


def _sessions(folder: ContainedFolder) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the sessions of a project. An empty file is not a session yet: its first writer was killed."""
    for name in folder.names():
        session_id = name.removesuffix(TRANSCRIPT)
        if name.endswith(TRANSCRIPT) and is_session_id(session_id):
            with contextlib.suppress(FileNotFoundError, Refused):
                with _opened(folder, name) as fd:
                    info = os.fstat(fd)
                if info.st_size:
                    yield session_id, info


def _keep_what_follows(
    root: ContainedFolder, folder: ContainedFolder, place: Place, fd: int, texts: list[EntryText]
) -> None:
    """Update the summary of a session, or the meta file of a subagent, after these entries were appended."""
    if not place.subpath:
        keep_summary(root, place, brought_up_to_date(kept_summary(root, place, fd), fd))
        return
    described = [
        entry
        for text in texts
        if b'"agent_metadata"' in text.line
        for entry in decode_line(text.line)
        if entry.get("type") == _SUBAGENT_META
    ]
    if described:
        meta = {name: value for name, value in described[-1].items() if name != "type"}
        folder.write_whole(_meta_name(place.subpath[-1]), json.dumps(meta, indent=2).encode())


def _subagent_meta(folder: ContainedFolder, name: str) -> list[dict[str, Any]]:
    with contextlib.suppress(OSError, ValueError, RecursionError, Refused), _opened(folder, _meta_name(name)) as fd:
        meta = json.loads(b"".join(lines_from(fd, 0)))
        if isinstance(meta, dict):
            return [{**meta, "type": _SUBAGENT_META}]
    return []
