"""Bring the DuckDB database for SQL queries up to date with the catalogue: copy only files whose rows changed.

    database = refresh(catalogue, homes, pricing)

A second file is written, which replaces the first one when it is complete: readers of the first file are not disturbed, and
a process that dies leaves no incomplete database. A note in the catalogue records the state from which the file was made, so
an unchanged database is recognised without opening it. Each set of homes has a file of its own, because a response that two
homes contain counts once in the set.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...journal import disk
from ...store.home import Home
from ...store.opening import file_stamp
from ..api_calls.store import Pricing, write_decisions
from ..catalogue.catalogue import Catalogue
from .sources import SESSION_COSTS, SOURCES, STRINGS, RawTable
from .tables import TABLES, version_of

if TYPE_CHECKING:
    import duckdb

_STAGED: Final = ".staged"
_UNUSED_SECONDS: Final = 30 * 86400
"""A database that was not renewed for this long is removed."""
_AT_ONCE: Final = 4096
LINES_AT_ONCE: Final = 50_000
BLOCK_BYTES: Final = 65536
"""Block size. DuckDB's 256 KiB waste space in small tables; below 64 KiB it no longer compresses numbers."""
MOST_CHANGED: Final = 0.3
"""If a larger share of the files changed, the whole database is rebuilt."""


def refresh(catalogue: Catalogue, homes: Sequence[Home], pricing: Pricing) -> Path:
    """Bring the database of these homes up to date with the catalogue, and return its path."""
    ids = sorted(found for home in homes if (found := catalogue.home_id(home.real_root)) is not None)
    path = database_path(catalogue, ids)
    if _is_current(catalogue, path, ids):
        return path
    with catalogue.locked():
        ids = sorted(found for home in homes if (found := catalogue.home_id(home.real_root)) is not None)
        path = database_path(catalogue, ids)
        if not _is_current(catalogue, path, ids):
            _Refreshing(catalogue, path, ids, pricing).run()
    return path


def forget(catalogue: Catalogue, path: Path) -> None:
    """Delete the note of a database that cannot be read, so that the next `refresh` rebuilds it."""
    with catalogue.locked():
        catalogue.connection.execute("DELETE FROM notes WHERE name = ?", (_note_name(path),))


def database_path(catalogue: Catalogue, ids: Sequence[int]) -> Path:
    key = "-".join(map(str, ids))
    if len(key) > 40:
        key = hashlib.blake2b(key.encode(), digest_size=12).hexdigest()
    questions = catalogue.questions_path
    return questions.with_name(f"{questions.stem}-{key or 'none'}{questions.suffix}")


def _note_name(path: Path) -> str:
    return f"sql:{path.name}"


def _is_current(catalogue: Catalogue, path: Path, ids: Sequence[int]) -> bool:
    noted = catalogue.connection.execute("SELECT value FROM notes WHERE name = ?", (_note_name(path),)).get
    return noted is not None and noted == _state(catalogue, path, ids)


def _state(catalogue: Catalogue, path: Path, ids: Sequence[int]) -> str | None:
    """Return the catalogue's state for these homes and the stamp of the database; None if there is no database."""
    try:
        stamp = file_stamp(os.stat(path))
    except OSError:
        return None
    made_of = catalogue.connection.execute(
        f"SELECT count(*), max(change), sum(change), sum(id) FROM files WHERE home_id IN {_listed(ids)}"
    ).get
    return json.dumps([VERSION, made_of, *stamp])


def _listed(ids: Iterable[int]) -> str:
    return f"({', '.join(map(str, ids))})"


def definitions() -> list[str]:
    """Return all statements and settings that define a database."""
    loads = [table.create() + table.select("files") + table.load("rows") for table in (*SOURCES, STRINGS)]
    return [*loads, SESSION_COSTS, *(table.statement() for table in TABLES), str(BLOCK_BYTES)]


VERSION: Final = version_of(definitions())


class _Refreshing:
    """One refresh of a database. The caller holds the catalogue's lock."""

    def __init__(self, catalogue: Catalogue, path: Path, ids: Sequence[int], pricing: Pricing) -> None:
        self._catalogue = catalogue
        self._db = catalogue.connection
        self._path = path
        self._ids = ids
        self._pricing = pricing
        self._staged = path.with_name(path.name + _STAGED)
        self._made = path.with_name(path.name + _STAGED + "-anew")

    def run(self) -> None:
        self._tidy()
        try:
            stale = self._stale()
            if stale is None:
                self._make(self._made, anew=True, asked=self._all_files())
                disk.write_new(self._staged, _chunks(self._made))  # with a private file mode, whatever the umask
            else:
                disk.copy_tree(self._path, self._staged)
                self._make(self._staged, anew=False, asked=stale)
            if os.path.isdir(self._path):
                disk.remove_tree(self._path)
            disk.replace(self._staged, self._path)
        finally:
            for path in (self._staged, self._made):
                disk.remove_if_there(path)
                disk.remove_if_there(path.with_name(path.name + ".wal"))
        state = _state(self._catalogue, self._path, self._ids)
        self._catalogue.set_note(_note_name(self._path), state)

    def _tidy(self) -> None:
        """Remove files that a killed run left, and databases that were not renewed for a long time."""
        oldest = time.time() - _UNUSED_SECONDS
        for name in os.listdir(self._path.parent):
            path = self._path.parent / name
            left = name.startswith((".rows-", self._staged.name))
            mine = name.startswith(self._catalogue.questions_path.stem) and path != self._path
            if left or (mine and os.stat(path).st_mtime < oldest):
                disk.remove_tree(path)

    def _all_files(self) -> list[int]:
        return [row[0] for row in self._db.execute(f"SELECT id FROM files WHERE home_id IN {_listed(self._ids)}")]

    def _stale(self) -> list[int] | None:
        """Return the ids of files whose rows must be copied again or deleted; None if the database must be rebuilt."""
        noted = self._db.execute("SELECT value FROM notes WHERE name = ?", (_note_name(self._path),)).get
        try:
            version, _, *stamp = json.loads(noted)
            as_it_is = file_stamp(os.stat(self._path))
        except (TypeError, ValueError, OSError):
            return None
        if version != VERSION or tuple(stamp) != as_it_is:
            return None
        import duckdb

        try:
            with duckdb.connect(str(self._path), read_only=True, config=_settings()) as old:
                before = dict(old.execute("SELECT file_id, change FROM raw.files").fetchall())
        except duckdb.Error:
            return None
        rows = self._db.execute(f"SELECT id, change FROM files WHERE home_id IN {_listed(self._ids)}")
        now: dict[int, int] = dict(iter(rows))
        stale = [file_id for file_id in {*before, *now} if before.get(file_id) != now.get(file_id)]
        return None if len(stale) > max(len(before) * MOST_CHANGED, 20) else stale

    def _make(self, path: Path, *, anew: bool, asked: Sequence[int]) -> None:
        import duckdb

        with duckdb.connect(str(path), config=_settings()) as out:
            out.execute("BEGIN")
            out.execute(f"CREATE TEMP TABLE strings {STRINGS.create()}")
            self._load(out, STRINGS, "strings")
            if anew:
                out.execute("CREATE SCHEMA raw")
                for table in SOURCES:
                    out.execute(f"CREATE TABLE raw.{table.name} {table.create()}")
            self._ask(self._all_files())
            self._ask_shared()
            for table in (table for table in SOURCES if table.whole):
                out.execute(f"DELETE FROM raw.{table.name}")
                self._load(out, table, f"raw.{table.name}")
            by_file = [table for table in SOURCES if not table.whole]
            for files in self._batches(asked):
                self._ask(files)
                for table in by_file:
                    if not anew:
                        out.execute(f"DELETE FROM raw.{table.name} WHERE file_id IN {_listed(files)}")
                    self._load(out, table, f"raw.{table.name}")
            out.execute(SESSION_COSTS)
            if anew:
                for view in TABLES:
                    out.execute(view.statement())
            out.execute("DROP TABLE strings")
            out.execute("COMMIT")
            out.execute("CHECKPOINT")

    def _batches(self, files: Sequence[int]) -> Iterator[list[int]]:
        """Yield files in groups with a limited number of lines, so that each load stays small."""
        lines: dict[int, int] = dict(
            iter(self._db.execute("SELECT file_id, lines FROM progress WHERE stage = 'entries'"))
        )
        batch: list[int] = []
        count = 0
        for file_id in sorted(files):
            batch.append(file_id)
            count += lines.get(file_id, 0) + 10
            if count > LINES_AT_ONCE:
                yield batch
                batch, count = [], 0
        if batch:
            yield batch

    def _ask(self, files: Iterable[int]) -> None:
        """Fill a temporary table of the catalogue with the files whose rows are to be copied."""
        self._db.execute("CREATE TEMP TABLE IF NOT EXISTS asked_files(id INTEGER PRIMARY KEY)")
        self._db.execute("DELETE FROM temp.asked_files")
        self._db.executemany("INSERT INTO temp.asked_files VALUES (?)", ((file,) for file in files))

    def _ask_shared(self) -> None:
        """Fill a temporary table like `shared_calls` with the API calls of these homes that have several copies."""
        self._db.execute("DROP TABLE IF EXISTS temp.asked_shared")
        self._db.execute(
            "CREATE TEMP TABLE asked_shared AS SELECT * FROM shared_calls WHERE file_id IN temp.asked_files"
            + (" AND FALSE" if len(self._ids) > 1 else "")
        )
        if len(self._ids) > 1:  # two of the homes may contain copies of one response
            write_decisions(
                self._db, f"f.home_id IN {_listed(self._ids)}", self._pricing, into="temp.asked_shared", within="''"
            )

    def _load(self, out: duckdb.DuckDBPyConnection, table: RawTable, into: str) -> None:
        with tempfile.NamedTemporaryFile(
            dir=self._path.parent, prefix=".rows-", suffix=".csv", delete=False
        ) as rows:  # closed before DuckDB reads it: Windows does not share open files
            rows.writelines(self._lines(table.select("temp.asked_files")))
        try:
            if os.path.getsize(rows.name):
                out.execute(f"INSERT INTO {into} BY NAME {table.load(rows.name)}")
        finally:
            disk.remove_if_there(Path(rows.name))

    def _lines(self, select: str) -> Iterator[bytes]:
        cursor = self._db.execute(select)
        while chunk := b"".join(row[0] for row in islice(cursor, _AT_ONCE)):
            yield chunk


def _chunks(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as stream:
        while chunk := stream.read(1 << 20):
            yield chunk


def _settings() -> dict[str, str | bool | int | float | list[str]]:
    return {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_persistent_secrets": "false",
        "python_enable_replacements": "false",
        "memory_limit": "200MB",
        "default_block_size": str(BLOCK_BYTES),
        "threads": str(min(os.cpu_count() or 1, 2)),
    }
