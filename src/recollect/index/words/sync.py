"""Bring the word index up to the catalogue: words of entries above the mark are read back from the files."""

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
    """Put the pieces that the last few syncs left into one, by adding their words again.

    The index itself joins eight pieces of less than 10,000 documents at the next commit, whatever their sizes: a few new
    lines would then wait until thousands of old documents are written anew. Nothing is lost if this is not done.
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
    """Delete the words of files that were dropped from the catalogue; nothing of what they hold now is below the mark."""
    stale: list[tuple[Any, ...]] = catalogue.connection.execute("SELECT file_id FROM words_stale").fetchall()
    for (file_id,) in stale:
        words.forget_file(file_id)


def add_from_files(catalogue: Catalogue, words: WordsWriter, left_out: LeftOut) -> int:
    """Add the words of all entries above the mark. Returns how many entries were read."""
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
    """First the words, then the mark: what happens in between is done again."""
    words.commit(mark)
    with catalogue.transaction() as db:
        catalogue.set_note(MARK, mark)
        db.execute("DELETE FROM words_stale")


def _add(catalogue: Catalogue, words: WordsWriter, row: tuple[Any, ...], data: bytes, left_out: LeftOut) -> None:
    """Add the words of one entry. Those of an entry that fails are left out, and the mark moves on."""
    try:
        _add_words(catalogue, words, row, decoded(data))
    except Exception as problem:
        *_, root, path, line = row
        left_out.note(f"{root}/{path}", f"words of line {line}", problem)


def _add_words(catalogue: Catalogue, words: WordsWriter, row: tuple[Any, ...], entry: IndexEntry | None) -> None:
    entry_id, file_id, _, _, time, role, flags, model, branch, cwd, *_ = row
    if entry is None:
        return  # the file changed since: the next sync sees that, and gives its entries new numbers
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
    """The entry in some bytes of a file; None where there is none."""
    try:
        return decode_index_entry(data)
    except REFUSED:
        line = RawLine(data, 0, 2)
        salvaged = parse_as([line], [], decode_index_entry, lambda entry: clean_entry(index_entry_of(entry)))
        return next((item.entry for item in salvaged), None)
