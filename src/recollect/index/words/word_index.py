"""Write the word index (tantivy): which entries hold which words. Texts are not stored, but read back by byte offset.

One document per entry that has words. Fields:
    id      the entry's id in the catalogue (indexed, fast)
    file    the file's id (indexed, fast)
    time    microseconds since 1970 (fast); missing if the entry has no time
    text    the words (analyzer "words", with positions)
    path    files that a tool call or result is about (analyzer "words", with positions)
    role    user, assistant, tool, system, title, summary (raw, fast)
    tool    name of the tool, on tool calls and on results (raw, fast)
    model   model of a response (raw, fast)
    branch  git branch (raw, fast)
    project working directory of the entry itself (raw, fast); the project of a session is in the catalogue
    has     code, image, error, thinking (raw, fast)

Words are what the `simple` tokenizer finds after `split_words`, in lower case: parts of identifiers (`getUserName`,
`user_name` and `HTTPServer` are get user name, user name, http server), and every Han, Kana or Hangul character by itself.
A query's identifier or CJK word becomes a phrase of its parts, so it is found whole and by part.

The catalogue's note `words_mark` is the highest entry id whose words are committed here. Entries above the mark are added
at the next sync; documents above it, committed before a crash could move the mark, are deleted first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...journal import disk
from ..catalogue.catalogue import Catalogue, is_panic
from ..catalogue.schema import FLAGS
from .reader import ANALYZER, analyzer, begin_writing, check, finish_interrupted, split_words
from .reader import MARK as MARK

if TYPE_CHECKING:
    import tantivy

HEAP: Final = 120 << 20
THREADS: Final = 1

_HAS: Final = tuple((name, FLAGS[name]) for name in ("code", "image", "error", "thinking"))
_HAS_BITS: Final = sum(bit for _, bit in _HAS)


def schema() -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("id", indexed=True, fast=True)
    builder.add_unsigned_field("file", indexed=True, fast=True)
    builder.add_integer_field("time", fast=True)
    builder.add_text_field("text", tokenizer_name=ANALYZER, index_option="position")
    builder.add_text_field("path", tokenizer_name=ANALYZER, index_option="position")
    for name in ("role", "tool", "model", "branch", "project", "has"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic", fast=True)
    return builder.build()


def tokens(text: str) -> list[str]:
    """Return the words of a text in the form in which the index stores them."""
    return list(analyzer().analyze(split_words(text)))


def open_words(folder: Path) -> tantivy.Index:
    """Open the word index in a folder. Raises ValueError if there is none, or a damaged one."""
    import tantivy

    if not os.path.exists(folder / "meta.json"):
        raise ValueError("no word index here")
    index = tantivy.Index.open(str(folder))
    index.register_tokenizer(ANALYZER, analyzer())
    return index


def words_are_behind(catalogue: Catalogue) -> bool:
    """Return whether the word index is missing, damaged, or behind the catalogue."""
    if catalogue.note(MARK) != catalogue.note("last_entry"):
        return True
    if catalogue.connection.execute("SELECT 1 FROM words_stale LIMIT 1").get is not None:
        return True
    return words_damage(catalogue) is not None


def words_damage(catalogue: Catalogue) -> str | None:
    """Return what is wrong with the files of the word index; None if they are as they were written."""
    try:
        check(catalogue.connection, str(catalogue.words_folder))
    except ValueError as problem:
        return str(problem)
    return None


def forget_words(catalogue: Catalogue) -> None:
    """Delete a word index that turned out to be damaged; the next sync builds it again from the catalogue."""
    with catalogue.locked():
        catalogue.remove_words()
        with catalogue.transaction():
            catalogue.set_note(MARK, 0)


class WordsWriter:
    """Add and delete documents; nothing takes effect before `commit`. The caller holds the catalogue's lock."""

    def __init__(self, catalogue: Catalogue, *, heap: int = HEAP, threads: int = THREADS) -> None:
        import tantivy

        self._catalogue = catalogue
        self._document = tantivy.Document
        self._query = tantivy.Query
        self.added = 0
        # The writer's threads create files at any time; only the user may read them.
        self._umask = os.umask(0o077)
        try:
            self._index = self._open(catalogue)
            self._writer = self._index.writer(heap_size=heap, num_threads=threads)
            self.mark = catalogue.note(MARK)
            self._forget_uncommitted()
        except BaseException:
            os.umask(self._umask)
            raise

    def _open(self, catalogue: Catalogue) -> tantivy.Index:
        import tantivy

        folder = catalogue.words_folder
        try:
            if not finish_interrupted(catalogue):
                check(catalogue.connection, str(folder))
            index = open_words(folder)
            begin_writing(catalogue)
            return index
        except BaseException as problem:
            if not isinstance(problem, ValueError) and not is_panic(problem):
                raise
            if os.path.lexists(folder / "meta.json") and catalogue.note("last_entry"):
                catalogue.say_damaged(f"its words: {problem}")
        catalogue.remove_words()
        disk.make_folders(folder)
        with catalogue.transaction():
            catalogue.set_note(MARK, 0)
        begin_writing(catalogue)
        index = tantivy.Index(schema(), path=str(folder))
        index.register_tokenizer(ANALYZER, analyzer())
        return index

    def _forget_uncommitted(self) -> None:
        """Delete documents above the mark: a crash came between their commit and that of the mark in the catalogue."""
        query = self._from(self.mark + 1)
        if self._index.searcher().search(query, limit=1).hits:
            self._writer.delete_documents_by_query(query)

    def segment_sizes(self) -> list[int]:
        """Return how many documents each segment of the index holds, not counting deleted ones."""
        with open(self._catalogue.words_folder / "meta.json", encoding="utf-8") as stream:
            segments = json.load(stream)["segments"]
        return [each["max_doc"] - (each["deletes"] or {"num_deleted_docs": 0})["num_deleted_docs"] for each in segments]

    def highest(self, count: int) -> int:
        """Return the lowest of the `count` highest entry ids."""
        found = self._index.searcher().search(self._query.all_query(), count, count=False, order_by_field="id")
        return int(found.hits[-1][0])

    def forget_from(self, entry_id: int) -> None:
        """Delete the words of all entries from this one on."""
        self._writer.delete_documents_by_query(self._from(entry_id))

    def _from(self, entry_id: int) -> tantivy.Query:
        import tantivy

        return tantivy.Query.range_query(self._index.schema, "id", tantivy.FieldType.Unsigned, lower_bound=entry_id)

    def forget_file(self, file_id: int) -> None:
        """Delete all words of a file. Words added afterwards stay."""
        # By query: a deletion by term passes a signed number, and silently finds nothing in an unsigned field.
        self._writer.delete_documents_by_query(self._query.term_query(self._index.schema, "file", file_id))

    def add(
        self,
        entry_id: int,
        file_id: int,
        time: int | None,
        text: str,
        *,
        role: str | None,
        flags: int,
        tools: Sequence[str] = (),
        paths: Sequence[str] = (),
        model: str | None = None,
        branch: str | None = None,
        project: str | None = None,
    ) -> None:
        document = self._document()
        document.add_unsigned("id", entry_id)
        document.add_unsigned("file", file_id)
        if time is not None:
            document.add_integer("time", time)
        document.add_text("text", split_words(text))
        for path in paths:
            document.add_text("path", split_words(path))
        for tool in tools:
            document.add_text("tool", tool)
        for name, value in (("role", role), ("model", model), ("branch", branch), ("project", project)):
            if value:
                document.add_text(name, value)
        if flags & _HAS_BITS:
            for name, bit in _HAS:
                if flags & bit:
                    document.add_text("has", name)
        self._writer.add_document(document)
        self.added += 1

    def commit(self, mark: int) -> None:
        """Commit all changes. The caller then sets the mark in the catalogue; a crash in between repeats both.

        `mark` is the highest entry id whose words are committed.
        """
        self._writer.commit()
        self.mark = mark

    def close(self) -> None:
        """Wait for running merges of segments, so that the next writer need not do them again."""
        try:
            self._writer.wait_merging_threads()
        finally:
            os.umask(self._umask)
