"""Bring the word index up to the catalogue: read the words of entries above the mark back from the files."""

from __future__ import annotations

from typing import Any, Final

from ...format.decode import parse_as
from ...format.entries import REFUSED
from ...format.line import RawLine
from ...format.worded_entry import IndexEntry, decode_index_entry, index_entry_of
from ..catalogue.catalogue import Catalogue
from ..catalogue.left_out import LeftOut, blames_row
from ..catalogue.reading_back import EntryReader
from ..catalogue.schema import FLAGS
from .searchable_text import clean_entry, words_of
from .word_index import MARK, WordsWriter

BATCH: Final = 2_000
BYTES_PER_COMMIT: Final = 192 << 20

_SELECT: Final = """
SELECT e.id, e.file_id, e.offset, e.length, e.time, e.role, e.flags, m.text, b.text, c.text, h.path, f.path, e.line
FROM entries e JOIN files f ON f.id = e.file_id JOIN homes h ON h.id = f.home_id
LEFT JOIN strings m ON m.id = e.model_id LEFT JOIN strings b ON b.id = e.branch_id LEFT JOIN strings c ON c.id = e.cwd_id
WHERE e.id > ? ORDER BY e.id LIMIT ?
"""


SMALL: Final = 10_000
MOST_SMALL: Final = 7
TINY: Final = 512
GATHERED_BYTES: Final = 8 << 20


def gather(catalogue: Catalogue, words: WordsWriter, left_out: LeftOut) -> None:
    """Merge the small segments of the last few syncs into one, by adding their words again.

    Tantivy merges eight segments of less than 10,000 documents at the next commit, whatever their sizes: a few new lines
    would then wait until thousands of old documents are rewritten. This is only an optimisation.
    """
    small = [size for size in words.segment_sizes() if size < SMALL]
    tiny = [size for size in small if size <= TINY]
    if len(small) < MOST_SMALL or len(tiny) < MOST_SMALL // 2:
        return
    first = words.highest(sum(tiny))
    rows: list[tuple[Any, ...]] = catalogue.connection.execute(_SELECT, (first - 1, SMALL)).fetchall()
    rows = [row for row in rows if row[0] <= words.mark and row[6] & FLAGS["text"]]
    if len(rows) >= SMALL or sum(row[3] for row in rows) > GATHERED_BYTES:
        return
    places = {row[1]: (row[10], f"{row[10]}/{row[11]}") for row in rows}
    kept = catalogue.kept.reader(catalogue.connection) if catalogue.kept is not None else None
    with EntryReader(places.get, kept) as reader:
        read = [(row, reader.bytes_at(row[1], row[2], row[3])) for row in rows]
    if all(_is_entry(data) for _, data in read):
        words.forget_from(first)
        for row, data in read:
            _add(catalogue, words, row, data, left_out)


def _is_entry(data: bytes) -> bool:
    try:
        return decoded(data) is not None
    except Exception as problem:
        if not blames_row(problem):
            raise
        return False


def forget_stale(catalogue: Catalogue, words: WordsWriter) -> None:
    """Delete the words of files whose rows were dropped; entries that these files have now are all above the mark."""
    stale: list[tuple[Any, ...]] = catalogue.connection.execute("SELECT file_id FROM words_stale").fetchall()
    for (file_id,) in stale:
        words.forget_file(file_id)


def add_from_files(catalogue: Catalogue, words: WordsWriter, left_out: LeftOut) -> int:
    """Add the words of all entries above the mark. Return how many entries were read."""
    count = size = 0
    last = catalogue.note("last_entry")
    at = words.mark
    places: dict[int, tuple[str, str]] = {}
    kept = catalogue.kept.reader(catalogue.connection) if catalogue.kept is not None else None
    with EntryReader(places.get, kept) as reader:
        while True:
            rows: list[tuple[Any, ...]] = catalogue.connection.execute(_SELECT, (at, BATCH)).fetchall()
            for row in rows:
                if row[6] & FLAGS["text"]:
                    places[row[1]] = (row[10], f"{row[10]}/{row[11]}")
                    _add(catalogue, words, row, reader.bytes_at(row[1], row[2], row[3]), left_out)
                    count += 1
                size += row[3]
            at = rows[-1][0] if rows else last
            if not rows or size >= BYTES_PER_COMMIT:
                commit(catalogue, words, at)
                size = 0
            if not rows:
                return count


def commit(catalogue: Catalogue, words: WordsWriter, mark: int) -> None:
    """Commit the words, then the mark in the catalogue: after a crash in between, the words are added again."""
    words.commit(mark)
    with catalogue.transaction() as db:
        catalogue.set_note(MARK, mark)
        db.execute("DELETE FROM words_stale")


def _add(catalogue: Catalogue, words: WordsWriter, row: tuple[Any, ...], data: bytes, left_out: LeftOut) -> None:
    """Add the words of one entry. If that fails, the words are left out and reported, and the sync continues."""
    try:
        _add_words(catalogue, words, row, decoded(data))
    except Exception as problem:
        *_, root, path, line = row
        left_out.note(f"{root}/{path}", f"words of line {line}", problem)


def _add_words(catalogue: Catalogue, words: WordsWriter, row: tuple[Any, ...], entry: IndexEntry | None) -> None:
    entry_id, file_id, _, _, time, role, flags, model, branch, cwd, *_ = row
    if entry is None:
        return  # the file changed meanwhile: the next sync indexes its entries again, with new ids
    found = words_of(entry)
    if not found.parts:
        return
    tools = [use.name for use in found.uses]
    for result in found.results:
        name = catalogue.connection.execute(
            "SELECT name FROM tool_calls WHERE file_id = ? AND tool_use_id = ? AND entry_id < ?",
            (file_id, result.id, entry_id),
        ).get
        if name:
            tools.append(name)
    words.add(
        entry_id, file_id, time, found.text, role=role, flags=flags, tools=tools, paths=found.paths, model=model,
        branch=branch, project=cwd,
    )  # fmt: skip


def decoded(data: bytes) -> IndexEntry | None:
    """Decode an entry from its bytes, salvaging it if it is damaged; None if there is no entry in them."""
    try:
        return decode_index_entry(data)
    except REFUSED:
        line = RawLine(data, 0, 2)
        salvaged = parse_as([line], [], decode_index_entry, lambda entry: clean_entry(index_entry_of(entry)))
        return next((item.entry for item in salvaged), None)
