"""Build a query of the word index for entries by status.

Statuses are stored in the catalogue only, because they change while sessions grow. Most entries of a file have one
status: they are selected by the id of their file, and the exceptions by their own ids.
"""

from __future__ import annotations

from collections.abc import Iterable

from tantivy import Occur, Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw
    from tantivy import Schema

_BY_FILE = "SELECT file_id, status, count(*), group_concat(id) FROM entries WHERE flags & ? GROUP BY file_id, status"
_TEXT = 2048
"""`FLAGS["text"]` of the schema; importing that module would take too long at the start of a search."""


class Standing:
    """The entries that have words, by file and status. Valid until the catalogue changes."""

    def __init__(self, db: apsw.Connection) -> None:
        self._files: dict[int, list[tuple[str | None, int, str]]] = {}
        for file_id, status, count, numbers in db.execute(_BY_FILE, (_TEXT,)):
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
