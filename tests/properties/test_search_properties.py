"""Random questions over a store that keeps changing: the word index finds what a look at every entry finds."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.index.syncing import Index
from tests.properties.test_index_properties import EDITS, FOLDERS, Edit

from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.reading_back import loads_text
from recollect.index.catalogue.sync import bring_up_to_date
from recollect.index.search.search import Search
from recollect.index.words.reader import WordReader


class Entry(NamedTuple):
    path: str
    line: int
    offset: int
    words: frozenset[str]
    role: str | None
    status: str | None


# A question is a word, ("role" | "status", value, ...), ("not", question), or ("and" | "or", question, question, ...).
Question = Any

WORDS = st.sampled_from(("alpha", "beta", "delta", "needle", "absent"))
STATUSES = st.lists(
    st.sampled_from(("live", "abandoned", "subagent", "precompact")), min_size=1, max_size=3, unique=True
).map(lambda values: ("status", *values))
ROLES = st.sampled_from((("role", "user"), ("role", "assistant"), ("role", "tool")))
QUESTIONS: st.SearchStrategy[Question] = st.recursive(
    st.one_of(WORDS, STATUSES, ROLES),
    lambda inner: st.one_of(
        inner.map(lambda part: ("not", part)),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: ("and", *parts)),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: ("or", *parts)),
    ),
    max_leaves=6,
)


def written(question: Question) -> str:
    if isinstance(question, str):
        return question
    kind, *parts = question
    if kind in ("status", "role"):
        return f"{kind}:({'|'.join(parts)})"
    if kind == "not":
        return f"-({written(parts[0])})"
    return "(" + (" OR " if kind == "or" else " ").join(map(written, parts)) + ")"


def fits(question: Question, entry: Entry) -> bool:
    if isinstance(question, str):
        return question in entry.words
    kind, *parts = question
    if kind == "status":
        return entry.status in parts
    if kind == "role":
        return entry.role in parts
    if kind == "not":
        return not fits(parts[0], entry)
    held = [fits(part, entry) for part in parts]
    return any(held) if kind == "or" else all(held)


def every_entry(index: Index, fresh: Path) -> list[Entry]:
    """All entries with words, from an index that was made anew and the bytes of the files."""
    with Catalogue.open(fresh) as catalogue:
        bring_up_to_date(catalogue, [index.home], ("entries",), statuses=True)
        rows: list[tuple[Any, ...]] = catalogue.connection.execute(
            "SELECT f.path, e.line, e.offset, e.length, e.role, e.status FROM entries e JOIN files f ON f.id = e.file_id"
        ).fetchall()
    found = []
    for path, line, offset, length, role, status in rows:
        data = (index.home.root / path).read_bytes()[offset : offset + length]
        words = re.findall(r"\w+", loads_text(data).lower())
        if words:
            found.append(Entry(path, line, offset, frozenset(words), role, status))
    return found


def found_by(search: Search, question: Question, paths: dict[int, str]) -> tuple[set[tuple[str, int, int]], int]:
    found = search.find(written(question), limit=1000, hits_per_session=1000)
    return {(paths[hit.file_id], hit.line, hit.offset) for item in found.sessions for hit in item.hits}, found.total


@settings(max_examples=max(settings.default.max_examples // 4, 1) if settings.default else 25)
@given(
    st.lists(
        st.tuples(st.lists(EDITS, min_size=1, max_size=4), st.lists(QUESTIONS, min_size=1, max_size=4)), max_size=4
    )
)
def test_found_by_words_and_statuses_is_what_fits(rounds: list[tuple[list[Edit], list[Question]]]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "claude"
        for folder in FOLDERS:
            (root / "projects" / folder).mkdir(parents=True)
        index = Index(root, Path(scratch))
        with index.catalogue:
            index.sync()
            home = index.catalogue.home_id(index.home.real_root) or 1
            search = Search(index.catalogue.connection, WordReader(str(index.catalogue.words_folder)), [home])
            for number, (edits, questions) in enumerate(rounds):
                for edit in edits:
                    edit(root)
                index.sync()
                search.refresh()
                entries = every_entry(index, Path(scratch) / f"fresh-{number}")
                paths = dict(index.catalogue.connection.execute("SELECT id, path FROM files"))
                for question in questions:
                    expected = {(item.path, item.line, item.offset) for item in entries if fits(question, item)}
                    assert found_by(search, question, paths) == (expected, len(expected)), written(question)
            search.close()
