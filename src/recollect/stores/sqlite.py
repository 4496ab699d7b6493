"""A session store in one SQLite file (WAL): every batch is a transaction, synced before `append` returns.

SCHEMA_VERSION 1:

    transcripts   one row per key, with its time and, for sessions, the folded summary
    entries       the exact JSON text of each, in order of `number`; `digest` only if an entry must not be stored twice
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from ..errors import DamagedData, RecollectError, Refused, StoreBusy, Unavailable
from ..journal.disk import explain
from .entry_text import EntryText, decode_line, encode_entries
from .in_order import InOrder
from .protocol import (
    Place,
    SessionKey,
    SessionListSubkeysKey,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
    checked_place,
    checked_project,
    checked_session,
)
from .summary_fold import FOLD_VERSION, fold

SCHEMA_VERSION: Final = 1
APPLICATION_ID: Final = 0x52434C53  # "RCLS", which identifies the file, also for file(1)
_SCHEMA: Final = (
    """
    CREATE TABLE transcripts (
        id INTEGER PRIMARY KEY,
        project_key TEXT NOT NULL,
        session_id TEXT NOT NULL,
        subpath TEXT NOT NULL,
        mtime INTEGER NOT NULL,
        fold INTEGER NOT NULL DEFAULT 0,
        summary TEXT NOT NULL DEFAULT '{}',
        UNIQUE (project_key, session_id, subpath)
    )""",
    """
    CREATE TABLE entries (
        number INTEGER PRIMARY KEY,
        transcript INTEGER NOT NULL REFERENCES transcripts (id),
        digest BLOB,
        text TEXT NOT NULL
    )""",
    "CREATE INDEX entries_of_transcript ON entries (transcript)",
    "CREATE UNIQUE INDEX entries_once ON entries (transcript, digest) WHERE digest IS NOT NULL",
)
T = TypeVar("T")


class SqliteSessionStore:
    """Stores transcripts as rows. Several processes may use one file at once, each with its own store object."""

    def __init__(self, path: Path | str, *, fsync: bool = True, wait: float = 10.0) -> None:
        """With `fsync=False`, a power cut may lose entries; `wait` is how many seconds to wait for other writers."""
        self.path = Path(path).absolute()
        self._fsync = fsync
        self._wait = wait
        self._changes = InOrder()
        self._writing = _Connection(self._open_for_writing)
        self._reading = _Connection(self._open_for_reading)

    async def append(self, key: SessionKey, entries: Sequence[Mapping[str, Any]]) -> None:
        place, texts = checked_place(key), encode_entries(entries)
        if texts:
            await self._changes.do(lambda: self._change(lambda database: _append(database, place, texts)))

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        place = checked_place(key)
        entries = await asyncio.to_thread(self._ask, lambda database: _load(database, place), None)
        return cast("list[SessionStoreEntry] | None", entries)

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        project = checked_project(project_key)
        return await asyncio.to_thread(self._ask, lambda database: _list_sessions(database, project), [])

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        project = checked_project(project_key)
        return await asyncio.to_thread(self._ask, lambda database: _list_summaries(database, project), [])

    async def delete(self, key: SessionKey) -> None:
        place = checked_place(key)
        if self.path.exists():
            await self._changes.do(lambda: self._change(lambda database: _delete(database, place)))

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        session = checked_session(key)
        return await asyncio.to_thread(self._ask, lambda database: _list_subkeys(database, session), [])

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        self._reading.close()
        self._writing.close()

    # The methods below run in threads: changes one at a time on one connection, reads at any time on another.

    def _change(self, work: Callable[[sqlite3.Connection], None]) -> None:
        with self._explained(), self._writing.use() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                work(database)
                database.execute("COMMIT")
            except BaseException:
                if database.in_transaction:
                    database.execute("ROLLBACK")
                raise

    def _ask(self, work: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        if not self.path.exists():  # reading creates nothing
            return nothing
        try:
            with self._explained(), self._reading.use() as database:
                return work(database)
        except _NothingYet:
            return nothing

    def _open_for_writing(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite would create it readable for everybody; its side files get the mode of this file.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600))
        except OSError as problem:
            raise explain(problem, self.path) from problem
        database = self._connect()
        try:
            if not _is_ours(database, self.path):
                _patiently(lambda: database.execute("PRAGMA journal_mode = WAL"), self._wait)
                _create(database, self.path)
            database.execute(f"PRAGMA synchronous = {'FULL' if self._fsync else 'NORMAL'}")
        except BaseException:
            database.close()
            raise
        return database

    def _open_for_reading(self) -> sqlite3.Connection:
        database = self._connect()
        try:
            if not _is_ours(database, self.path):
                raise _NothingYet
            database.execute("PRAGMA query_only = ON")
        except BaseException:
            database.close()
            raise
        return database

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=self._wait, isolation_level=None, check_same_thread=False)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as problem:
            raise _explain(problem, self.path, self._wait) from problem


class _NothingYet(Exception):
    """The file exists but is empty: another process is about to write the first batch."""


class _Connection:
    """One connection, opened when first used, for one thread at a time. A forked process opens its own."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None
        self._process = 0
        self._inherited: list[sqlite3.Connection] = []
        """Opened before a fork. SQLite asks that the child neither uses nor closes them."""

    @contextlib.contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._database is not None and self._process != os.getpid():
                self._inherited.append(self._database)
                self._database = None
            if self._database is None:
                self._database = self._connect()
                self._process = os.getpid()
            yield self._database

    def close(self) -> None:
        with self._lock:
            if self._database is not None and self._process == os.getpid():
                self._database.close()
                self._database = None


def _is_ours(database: sqlite3.Connection, path: Path) -> bool:
    """Return True for a store of this version, False for an empty file. Raises Refused or Unavailable for others."""
    # One statement sees one state; between two, another process may create the tables.
    application, version, tables = database.execute(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),"
        " EXISTS (SELECT 1 FROM sqlite_master)"
    ).fetchone()
    if application == APPLICATION_ID and version == SCHEMA_VERSION:
        return True
    if application == APPLICATION_ID and version > SCHEMA_VERSION:
        raise Unavailable(f"{path} was written by a newer Recollect", hint="update Recollect", slug="newer-store")
    if application == 0 and version == 0 and not tables:
        return False
    raise Refused(f"{path} is the database of another program", slug="not-a-store")


def _create(database: sqlite3.Connection, path: Path) -> None:
    database.execute("BEGIN IMMEDIATE")
    try:
        if not _is_ours(database, path):  # another process may have been first
            for statement in _SCHEMA:
                database.execute(statement)
            database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def _patiently(work: Callable[[], object], wait: float) -> None:
    """Repeat `work` while the database is busy: changing the journal mode does not wait for others by itself."""
    deadline = time.monotonic() + wait
    while True:
        try:
            work()
            return
        except sqlite3.OperationalError as problem:
            if _primary_code(problem) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def _append(database: sqlite3.Connection, place: Place, texts: list[EntryText]) -> None:
    now = time.time_ns() // 1_000_000
    database.execute(
        "INSERT INTO transcripts (project_key, session_id, subpath, mtime, fold) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET mtime = max(excluded.mtime, mtime + 1)",
        (*_columns(place), now, FOLD_VERSION),
    )
    transcript, kept_fold, summary = database.execute(
        "SELECT id, fold, summary FROM transcripts WHERE project_key = ? AND session_id = ? AND subpath = ?",
        _columns(place),
    ).fetchone()
    fresh = []
    for text in texts:
        stored = database.execute(
            "INSERT OR IGNORE INTO entries (transcript, digest, text) VALUES (?, ?, ?)",
            (transcript, text.digest, text.line.decode()),
        )
        if stored.rowcount:
            fresh.append(text)
    if place.subpath:
        return
    if kept_fold == FOLD_VERSION:
        data = fold(json.loads(summary), _entries(text.line.decode() for text in fresh))
    else:
        data = _folded_anew(database, transcript)
    database.execute(
        "UPDATE transcripts SET fold = ?, summary = ? WHERE id = ?", (FOLD_VERSION, json.dumps(data), transcript)
    )


def _folded_anew(database: sqlite3.Connection, transcript: int) -> dict[str, Any]:
    rows = database.execute("SELECT text FROM entries WHERE transcript = ? ORDER BY number", (transcript,))
    return fold({}, _entries(text for (text,) in rows))


def _entries(texts: Iterator[str]) -> Iterator[dict[str, Any]]:
    for text in texts:
        yield from decode_line(text.encode())


def _load(database: sqlite3.Connection, place: Place) -> list[dict[str, Any]] | None:
    rows = database.execute(
        "SELECT text FROM entries JOIN transcripts ON transcripts.id = transcript"
        " WHERE project_key = ? AND session_id = ? AND subpath = ? ORDER BY number",
        _columns(place),
    )
    return list(_entries(text for (text,) in rows)) or None


def _list_sessions(database: sqlite3.Connection, project: str) -> list[SessionStoreListEntry]:
    rows = database.execute(
        "SELECT session_id, mtime FROM transcripts WHERE project_key = ? AND subpath = '' ORDER BY session_id",
        (project,),
    )
    return [{"session_id": session_id, "mtime": mtime} for session_id, mtime in rows]


def _list_summaries(database: sqlite3.Connection, project: str) -> list[SessionSummaryEntry]:
    rows = database.execute(
        "SELECT id, session_id, mtime, fold, summary FROM transcripts"
        " WHERE project_key = ? AND subpath = '' ORDER BY session_id",
        (project,),
    ).fetchall()
    return [
        {
            "session_id": session_id,
            "mtime": mtime,
            "data": json.loads(summary) if version == FOLD_VERSION else _folded_anew(database, transcript),
        }
        for transcript, session_id, mtime, version, summary in rows
    ]


def _delete(database: sqlite3.Connection, place: Place) -> None:
    chosen = "project_key = ? AND session_id = ?" + (" AND subpath = ?" if place.subpath else "")
    values = _columns(place)[: 3 if place.subpath else 2]
    database.execute(f"DELETE FROM entries WHERE transcript IN (SELECT id FROM transcripts WHERE {chosen})", values)
    database.execute(f"DELETE FROM transcripts WHERE {chosen}", values)


def _list_subkeys(database: sqlite3.Connection, session: Place) -> list[str]:
    rows = database.execute(
        "SELECT subpath FROM transcripts WHERE project_key = ? AND session_id = ? AND subpath != '' ORDER BY subpath",
        (session.project_key, session.session_id),
    )
    return [subpath for (subpath,) in rows]


def _columns(place: Place) -> tuple[str, str, str]:
    return place.project_key, place.session_id, place.subpath_text


def _primary_code(problem: sqlite3.Error) -> int:
    return (getattr(problem, "sqlite_errorcode", None) or 0) & 0xFF


def _explain(problem: sqlite3.Error, path: Path, wait: float) -> RecollectError:
    """Convert an error of SQLite into one of Recollect's."""
    code = _primary_code(problem)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        hint = "try again when the other process has finished"
        return StoreBusy(f"another process holds {path} for more than {wait:g} s", hint=hint)
    if code == sqlite3.SQLITE_FULL:
        return Refused(
            f"no room to write {path}", hint="nothing was changed; make room and try again", slug="disk-full"
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH):
        return Refused(f"may not write {path}: {problem}", hint="nothing was changed", slug="read-only")
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return DamagedData(f"{path} is not a database, or is a damaged one: {problem}", slug="damaged-store")
    return DamagedData(f"cannot use {path}: {problem}", slug="write-failed")
