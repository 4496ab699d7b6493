"""Read files, sessions and entries from the catalogue for the results of a search, many rows per query.

Statuses are stored in the catalogue only, because they change while sessions grow. Most entries of a file have one status: a
search selects them by the id of their file, and the exceptions by their own ids (`Standing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw
from tantivy import Occur, Query, Schema

from ..catalogue.schema import FLAGS, shown_uuid
from .filter_meaning import ProjectFilter, session_fits
from .results import Hit, SessionHits

EntryPlace = tuple[int, int, int, str | None, str | None, str | None]
"""Line, offset, length, uuid, role and subagent of an entry."""

_BY_FILE = "SELECT file_id, status, count(*), group_concat(id) FROM entries WHERE flags & ? GROUP BY file_id, status"


class Standing:
    """The entries that have words, by file and status. Valid until the catalogue changes."""

    def __init__(self, db: apsw.Connection) -> None:
        self._files: dict[int, list[tuple[str | None, int, str]]] = {}
        for file_id, status, count, numbers in db.execute(_BY_FILE, (FLAGS["text"],)):
            self._files.setdefault(file_id, []).append((status, count, numbers))

    def query(self, schema: Schema, statuses: Iterable[str]) -> Query:
        """Build a query for entries that have one of these statuses."""
        wanted = frozenset(statuses)
        mostly: list[int] = []
        inside: list[int] = []
        outside: list[int] = []
        for file_id, parts in self._files.items():
            having = sum(count for status, count, _ in parts if status in wanted)
            is_most = 2 * having > sum(count for _, count, _ in parts)
            if is_most:
                mostly.append(file_id)
            others = outside if is_most else inside
            for status, _, numbers in parts:
                if (status in wanted) is not is_most:
                    others += map(int, numbers.split(","))
        found = _in(schema, "file", mostly)
        if outside:
            found = Query.boolean_query([(Occur.Must, found), (Occur.MustNot, _in(schema, "id", outside))])
        return Query.boolean_query([(Occur.Should, found), (Occur.Should, _in(schema, "id", inside))])


def _in(schema: Schema, field: str, numbers: list[int]) -> Query:
    return Query.term_set_query(schema, field, numbers) if numbers else Query.empty_query()


_AT_ONCE = 500


class FileRow(NamedTuple):
    """A transcript: its home, its session, whether it is a subagent's, and its path below the home."""

    home_id: int
    session_id: str
    is_subagent: bool
    path: str


class SessionRows:
    """Look up rows of the catalogue, and cache small ones until `forget`."""

    def __init__(self, db: apsw.Connection, home_ids: Sequence[int]) -> None:
        self._db = db
        self._ours = frozenset(home_ids)
        self._files: dict[int, FileRow | None] = {}
        self._references: dict[str, str] = {}
        self._described: dict[tuple[int, str], tuple[str | None, str | None, str, float | None]] = {}
        self._projects: list[tuple[tuple[str | None, ...], list[int]]] | None = None
        self._standing: Standing | None = None
        self._elsewhere: Query | None = None
        self._by_status: dict[frozenset[str], Query] = {}
        self._look_at_homes()

    def _look_at_homes(self) -> None:
        self._homes: dict[int, str] = dict(self._db.execute("SELECT id, path FROM homes"))
        self.has_other_homes = any(number not in self._ours for number in self._homes)
        """Whether the catalogue holds homes that this search does not cover."""

    def forget(self) -> None:
        self._look_at_homes()
        self._elsewhere = None
        self._standing = None
        self._by_status.clear()
        self._files.clear()
        self._references.clear()
        self._described.clear()
        self._projects = None

    def our_files(self, numbers: Iterable[int]) -> dict[int, FileRow]:
        """Return transcripts by id, without those that are gone or in a home that this search does not cover."""
        wanted = set(numbers)
        missing = [number for number in wanted if number not in self._files]
        for start in range(0, len(missing), _AT_ONCE):
            some = missing[start : start + _AT_ONCE]
            self._files.update(dict.fromkeys(some))
            rows = self._db.execute(
                "SELECT id, home_id, coalesce(session_id, path), kind = 'subagent', path FROM files "
                f"WHERE id IN ({_marks(some)})",
                tuple(some),
            )
            for number, home_id, session_id, is_subagent, path in rows:
                self._files[number] = FileRow(home_id, session_id, bool(is_subagent), path)
        known = {number: self._files[number] for number in wanted}
        return {number: row for number, row in known.items() if row is not None and row.home_id in self._ours}

    def place_of(self, file_id: int) -> tuple[str, str] | None:
        """Return the home's folder and the full path of a transcript, or None if `our_files` leaves it out."""
        row = self._files.get(file_id) or self.our_files([file_id]).get(file_id)
        if row is not None and row.home_id not in self._ours:
            return None
        return None if row is None else (self._homes[row.home_id], f"{self._homes[row.home_id]}/{row.path}")

    # --- filters -----------------------------------------------------------------------------------------------------

    def files_named(self, value: str) -> list[int]:
        """Return the ids of transcripts that a `session:` filter matches, subagents included."""
        rows = self._db.execute(
            "SELECT f.id, f.session_id, s.title FROM files f LEFT JOIN files m "
            "ON m.session_id = f.session_id AND m.home_id = f.home_id AND m.kind = 'session' "
            "LEFT JOIN sessions s ON s.file_id = m.id WHERE f.kind IN ('session', 'subagent')"
        )
        return [number for number, session, title in rows if session_fits(value, session, title)]

    def files_of_project(self, value: str) -> list[int]:
        """Return the ids of transcripts of a project, by its path or that of its repository, subagents included."""
        if self._projects is None:
            self._projects = self._files_by_project()
        wanted = ProjectFilter(value)
        return [number for paths, numbers in self._projects if wanted.fits(*paths) for number in numbers]

    def _files_by_project(self) -> list[tuple[tuple[str | None, ...], list[int]]]:
        files: dict[tuple[int, str], list[int]] = {}
        rows = self._db.execute("SELECT id, home_id, session_id FROM files WHERE kind IN ('session', 'subagent')")
        for number, home_id, session_id in rows:
            files.setdefault((home_id, session_id), []).append(number)
        found: dict[tuple[str | None, ...], list[int]] = {}
        rows = self._db.execute(
            "SELECT s.project, s.repository, f.home_id, f.session_id FROM sessions s JOIN files f ON f.id = s.file_id"
        )
        for project, repository, home_id, session_id in rows:
            found.setdefault((project, repository), []).extend(files.pop((home_id, session_id), ()))
        return list(found.items())

    def in_our_homes(self, schema: Schema, wanted: Query) -> Query:
        """Restrict a query to the homes that this search covers."""
        if not self.has_other_homes:
            return wanted
        if self._elsewhere is None:
            from tantivy import Query

            rows = self._db.execute("SELECT id, home_id FROM files WHERE kind IN ('session', 'subagent')")
            others = [number for number, home_id in rows if home_id not in self._ours]
            self._elsewhere = Query.term_set_query(schema, "file", others) if others else Query.empty_query()
        return wanted.and_must_not_match(self._elsewhere)

    def having_status(self, schema: Schema, statuses: frozenset[str]) -> Query:
        """Build a query for entries with one of these statuses."""
        if self._standing is None:
            self._standing = Standing(self._db)
        if statuses not in self._by_status:
            self._by_status[statuses] = self._standing.query(schema, statuses)
        return self._by_status[statuses]

    # --- what is shown -----------------------------------------------------------------------------------------------

    def entries(self, ids: Sequence[int]) -> dict[int, EntryPlace]:
        """Return the places of entries, by their id."""
        found: dict[int, EntryPlace] = {}
        for start in range(0, len(ids), _AT_ONCE):
            some = tuple(ids[start : start + _AT_ONCE])
            rows = self._db.execute(
                f"SELECT id, line, offset, length, uuid, role, subagent_id FROM entries WHERE id IN ({_marks(some)})",
                some,
            )
            for number, line, offset, length, uuid, role, subagent in rows:
                found[number] = (line, offset, length, shown_uuid(uuid), role, subagent)
        return found

    def described(self, groups: Sequence[tuple[tuple[int, str], list[Hit], int]]) -> list[SessionHits]:
        """Add titles and paths to groups of hits: ((home, session), hits, how many hits there are).

        A session without its main transcript has no title; its path is that of the file with the first hit.
        """
        missing = tuple(
            {session_id for (home, session_id), _, _ in groups if (home, session_id) not in self._described}
        )
        if missing:
            rows = self._db.execute(
                "SELECT f.home_id, f.session_id, s.title, s.project, f.path, s.modified "
                "FROM files f LEFT JOIN sessions s ON s.file_id = f.id "
                f"WHERE f.kind = 'session' AND f.session_id IN ({_marks(missing)}) ORDER BY s.modified",
                missing,
            )
            for home_id, session_id, title, project, path, modified in rows:
                when = None if modified is None else modified / 1_000_000
                self._described[home_id, session_id] = (title, project, f"{self._homes[home_id]}/{path}", when)
        found = []
        for key, hits, count in groups:
            known = self._described.get(key)
            if known is None:
                own = self.place_of(hits[0].file_id)
                known = (None, None, own[1] if own is not None else "", None)
            title, project, path, when = known
            reference = self._reference(key[1])
            found.append(SessionHits(key[1], title, project, self._homes[key[0]], path, when, hits, count, reference))
        return found

    def _reference(self, session_id: str) -> str:
        """Return the first eight characters of a session's id if they are unique, else the whole id."""
        if session_id not in self._references:
            start = session_id[:8]
            others = self._db.execute(
                "SELECT count(*) FROM files WHERE session_id >= ? AND session_id < ? AND session_id <> ?",
                (start, f"{start}g", session_id),
            ).get
            self._references[session_id] = start if len(session_id) == 36 and not others else session_id
        return self._references[session_id]


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
