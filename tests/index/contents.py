"""Everything an index says, without the numbers that depend on the order in which files came: two of them can be compared."""

from __future__ import annotations

from typing import Any

import tantivy

from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.schema import STAGE_TABLES, TABLES
from recollect.index.words.word_index import open_words, tokens

#: Columns that hold numbers of rows, and what they stand for.
_STRINGS = {"model_id", "branch_id", "cwd_id", "version_id"}
_ENTRIES = {"entry_id", "result_entry_id"}
_LEFT_OUT = {"id", "change", "device", "inode"}


def contents(catalogue: Catalogue) -> dict[str, list[Any]]:
    """All rows of the stage `entries`, with paths and lines in place of numbers."""
    db = catalogue.connection
    files = {number: f"{home}:{path}" for number, home, path in db.execute("SELECT id, home_id, path FROM files")}
    strings: dict[Any, Any] = dict(db.execute("SELECT id, text FROM strings").fetchall())  # type: ignore[arg-type]
    places = {
        number: (files[file], line, part)
        for number, file, line, part in db.execute("SELECT id, file_id, line, part FROM entries")
    }

    def told(column: str, value: Any) -> Any:
        if column == "file_id":
            return files[value]
        if column in _STRINGS:
            return strings.get(value)
        return places[value] if column in _ENTRIES and value is not None else value

    found: dict[str, list[Any]] = {}
    for table in TABLES:
        if table.name in STAGE_TABLES["entries"]:
            columns = [column.name for column in table.columns]
            found[table.name] = sorted(
                (
                    {name: told(name, value) for name, value in zip(columns, row, strict=True) if name not in _LEFT_OUT}
                    for row in db.execute(f"SELECT {', '.join(columns)} FROM {table.name}")
                ),
                key=repr,
            )
    names = "path, kind, session_id, subagent_id, folder, workflow"
    found["files"] = sorted(db.execute(f"SELECT {names} FROM files").fetchall())
    return found


def words(catalogue: Catalogue, *asked: str) -> dict[str, list[Any]]:
    """Which entries are in the word index, and which of them hold each of the words asked for."""
    index = open_words(catalogue.words_folder)
    index.reload()
    searcher = index.searcher()
    db = catalogue.connection
    places = {
        number: (path, line, part)
        for number, path, line, part in db.execute(
            "SELECT e.id, f.path, e.line, e.part FROM entries e JOIN files f ON f.id = e.file_id"
        )
    }
    found = {}
    queries = {"": tantivy.Query.all_query()}
    for word in asked:
        parts = tokens(word)
        if len(parts) == 1:
            queries[word] = tantivy.Query.term_query(index.schema, "text", parts[0])
        else:
            queries[word] = tantivy.Query.phrase_query(index.schema, "text", list(parts))
    for word, query in queries.items():
        hits = searcher.search(query, limit=100_000).hits
        numbers = searcher.fast_field_values("id", [address for _, address in hits])
        found[word] = sorted(places.get(number, ("unknown", number, 0)) for number in numbers)
    return found
