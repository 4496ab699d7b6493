"""Suggest what may help when a search found nothing: similar names and words, or the part that excluded everything."""

from __future__ import annotations

from ..words.reader import WordReader
from ..words.word_query import WordQuery
from .query_tree import All, Filter, Not, Part
from .session_rows import SessionRows

_MOST_TERMS = 5_000
_MOST_LINES = 4
_MOST_EXCLUDING = 2
"""Suggestions to leave out a part of the query; each of them takes a search."""


def advise(
    words: WordReader,
    compiled: WordQuery,
    tree: All,
    query: str,
    names: dict[str, list[str]],
    rows: SessionRows,
) -> tuple[str, ...]:
    """Return a few suggestions, the most likely first."""
    lines = [
        f"no {item.filter_name} fits {item.value!r}" + (f"; there is {', '.join(item.nearest)}" if item.nearest else "")
        for item in compiled.unmatched
    ]
    lines += _unknown_words(words, compiled)
    if not lines:
        lines = _excluding(words, tree, query, names, rows)
    return tuple(lines[:_MOST_LINES])


def _unknown_words(words: WordReader, compiled: WordQuery) -> list[str]:
    from difflib import get_close_matches

    lines = []
    for word in dict.fromkeys(compiled.words):
        if words.searcher.doc_freq("text", word):
            continue
        terms = words.searcher.terms_with_prefix("text", word[:2], limit=_MOST_TERMS)
        counts = {term: count for term, count in terms if abs(len(term) - len(word)) <= 2}
        close = get_close_matches(word, counts, 3, 0.75)
        near = ", ".join(sorted(close, key=lambda term: -counts[term]))
        lines.append(f"no entry has the word {word!r}" + (f"; there is {near}" if near else ""))
    return lines


def _excluding(words: WordReader, tree: All, query: str, names: dict[str, list[str]], rows: SessionRows) -> list[str]:
    """Find the parts of the query without which something would be found."""
    lines = []
    parts: list[Part] = sorted(tree.parts, key=lambda part: not _is_filter(part))
    for part in parts:
        rest = All(tuple(item for item in tree.parts if item is not part))
        if not rest.parts:
            continue
        wanted = rows.in_our_homes(words.schema, WordQuery(words, names, rows).compile(rest))
        count = words.look(wanted, 1)[1]
        if count:
            what = "entry fits" if count == 1 else "entries fit"
            lines.append(f"without {query[part.start : part.end]} {count:,} {what}")
            if len(lines) == _MOST_EXCLUDING:
                break
    return lines


def _is_filter(part: Part) -> bool:
    return isinstance(part, Filter) or (isinstance(part, Not) and isinstance(part.part, Filter))
