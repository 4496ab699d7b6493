"""Answer SQL questions over a library, and save queries under a name.

    library.sql("SELECT project, count(*) FROM sessions GROUP BY project").dicts()

The index is first brought up to date with what changed. The tables are in docs/reference/sql.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..environment import own_folder, time_zone
from ..errors import DamagedData, NotFound, QueryError, Refused, Unavailable
from ..index.sql.query import Answer, Limits, Question, ResultColumn
from ..index.sql.tables import TABLES
from ..index.sql.tables import names as column_names
from ..journal import disk
from ..store.home import refuse_in_homes
from .own_list import changing

if TYPE_CHECKING:
    from ..index.catalogue.ingest import Progress
    from .library import Library

__all__ = [
    "TABLES", "Answer", "Limits", "Question", "ResultColumn", "SavedQueries", "SavedQuery", "answer", "ask", "ask_in_thread",
    "column_names", "prepare", "write_parquet",
]  # fmt: skip

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
# Matches queries that may show the status of rows, which is computed only if needed.
_NEEDS_STATUSES: Final = re.compile(
    r"\b(status|reachable|columns|summarize)\b|(?<!\()\s*\*|^\s*(from|table)\b|\(\s*(from|table)\b", re.IGNORECASE
)


def ask(
    library: Library,
    sql: str,
    parameters: Sequence[Any] | Mapping[str, Any] = (),
    *,
    limits: Limits | None = None,
    parquet: Path | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Answer one SELECT. Raises QueryError with the position of a mistake, Refused for anything but a question."""
    asked = prepare(library, sql, parameters, limits=limits, parquet=parquet, progress=progress)
    return answer(library, asked)


async def ask_in_thread(
    library: Library, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = (), *, limits: Limits | None = None
) -> Answer:
    """Answer one SELECT without blocking an event loop. Cancelling the task cancels the query."""
    asked = await asyncio.to_thread(prepare, library, sql, parameters, limits=limits)
    try:
        return await asyncio.to_thread(answer, library, asked)
    except asyncio.CancelledError:
        asked.cancel()
        raise


def prepare(
    library: Library,
    sql: str,
    parameters: Sequence[Any] | Mapping[str, Any] = (),
    *,
    limits: Limits | None = None,
    parquet: Path | None = None,
    progress: Progress | None = None,
) -> Question:
    """Prepare a question over tables that are up to date. It can be cancelled from another thread."""
    from ..analysis.cost import usual_prices
    from ..index.sql.refresh import refresh

    bring_up_to_date(library, sql, progress)
    database = refresh(library.catalogue, library.homes, usual_prices())
    return Question(database, sql, parameters, limits=limits, time_zone=time_zone(), parquet=parquet)


def answer(library: Library, asked: Question) -> Answer:
    """Return the answer. A broken database is rebuilt once."""
    from ..analysis.cost import usual_prices
    from ..index.sql.refresh import forget, refresh

    try:
        return asked.answer()
    except Unavailable as problem:
        if problem.slug not in ("sql-broken", "sql-failed"):
            raise
        library.catalogue.say_damaged(problem.message)
    forget(library.catalogue, asked.database)
    database = refresh(library.catalogue, library.homes, usual_prices())
    again = Question(
        database, asked.sql, asked.parameters, limits=asked.limits, time_zone=asked.time_zone, parquet=asked.parquet
    )
    return again.answer()


def bring_up_to_date(library: Library, sql: str, progress: Progress | None = None) -> None:
    """Index what the question needs; only what changed is read."""
    statuses = _NEEDS_STATUSES.search(sql) is not None
    library.index(stages=("calls", "entries"), statuses=statuses, progress=progress)


@dataclass(frozen=True, slots=True)
class SavedQuery:
    name: str
    sql: str


class SavedQueries:
    """Saves queries under names, each in a file `NAME.sql` that may be edited."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = own_folder("config") / "queries" if folder is None else folder

    def all(self) -> list[SavedQuery]:
        if not self.folder.is_dir():
            return []
        names = sorted(path.stem for path in self.folder.glob("*.sql") if _NAME.fullmatch(path.stem))
        return [self.get(name) for name in names]

    def get(self, name: str) -> SavedQuery:
        """Return the query of a name. Raises NotFound, with the names there are."""
        path = self._path(name)
        try:
            return SavedQuery(name, path.read_text("utf-8", "replace").strip())
        except FileNotFoundError:
            known = tuple(path.stem for path in self.folder.glob("*.sql")) if self.folder.is_dir() else ()
            raise NotFound(
                f"no query is saved as {name}", nearest=known, hint="see `recollect sql --saved`", slug="no-such-query"
            ) from None
        except OSError as problem:
            raise DamagedData(f"cannot read {path}: {problem.strerror}", slug="unreadable-file") from problem

    def save(self, name: str, sql: str) -> Path:
        """Save a query under a name, replacing an earlier one."""
        path = self._path(name)
        with changing(path) as write:
            write(sql.strip().encode("utf-8", "replace") + b"\n")
        return path

    def remove(self, name: str) -> None:
        """Delete the query of a name. Raises NotFound, with the names there are."""
        self.get(name)
        path = self._path(name)
        with changing(path):
            try:
                disk.remove_if_there(path)
            except OSError as problem:
                raise disk.explain(problem, path) from problem

    def _path(self, name: str) -> Path:
        if _NAME.fullmatch(name) is None:
            raise QueryError(
                f"{name!r} is not a name for a query",
                hint="letters, digits, - and _, beginning with a letter or digit; at most 64",
                slug="bad-query-name",
            )
        return self.folder / f"{name}.sql"


def write_parquet(
    library: Library,
    sql: str,
    target: Path,
    parameters: Sequence[Any] | Mapping[str, Any] = (),
    *,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Write the rows of an answer to a Parquet file, replacing an earlier one. `count` of the answer is their number."""
    real = _outside_homes(library, target)
    staged = real.with_name(f".{real.name}.staged")
    try:
        disk.remove_if_there(staged)
        written = ask(library, sql, parameters, limits=limits, parquet=staged, progress=progress)
        disk.replace(staged, real)
        return written
    except OSError as problem:
        raise disk.explain(problem, real) from None
    finally:
        with contextlib.suppress(OSError):
            disk.remove_if_there(staged)


def _outside_homes(library: Library, target: Path) -> Path:
    """Return the absolute path for a result. Refuses paths inside a home, folders, and paths in missing folders."""
    real = target.expanduser().absolute()
    if not real.parent.is_dir():
        raise NotFound(f"there is not a folder {real.parent}", slug="no-such-folder")
    if real.is_dir():
        raise Refused(f"{target} is a folder", hint="name the file that is to be written", slug="not-a-file")
    refuse_in_homes(library.homes, real, hint="choose another folder")
    return real
