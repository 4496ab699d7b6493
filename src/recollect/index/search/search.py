"""Search by words: results ranked by relevance and recency or by date, grouped by session, with snippets.

    with Search(db, words, home_ids) as search:
        found = search.find('deploy "connection refused" project:app')

The word index returns ids of entries; the catalogue has their places; their text is read back from the files.
"""

from __future__ import annotations

import time
from typing import Any

import apsw
from tantivy import DocAddress, Query, Searcher

from ...errors import QueryError
from ..catalogue.left_out import LeftOut
from ..catalogue.reading_back import Elsewhere, EntryReader, loads_text
from ..words.reader import WordReader
from ..words.word_query import WordQuery
from .query_language import All, Filter, Not, Part, exclusions, parse
from .results import Hit, SearchResults, cut, find_needles
from .session_rows import SessionRows

Candidate = tuple[float, int, int, int | None]
Groups = dict[tuple[int, str], list[Candidate]]

MOST = 20
"""The most names of each kind, the most frequent first."""
_DAY = 86_400_000_000
_KINDS = {"projects": "project", "tools": "tool", "models": "model"}


def count_facets(searcher: Searcher, query: Query) -> dict[str, dict[str, int]]:
    """Count matching entries: {"projects": {path: count}, "tools": ..., "models": ..., "months": {"2026-03": count}}.

    Months are in UTC, newest first.
    """
    request: dict[str, Any] = {
        name: {"terms": {"field": field, "size": MOST, "order": {"_count": "desc"}}} for name, field in _KINDS.items()
    }
    request["days"] = {"histogram": {"field": "time", "interval": float(_DAY), "min_doc_count": 1}}
    answer = searcher.aggregate(query, request)
    facets = {
        name: {
            str(bucket["key"]): int(bucket["doc_count"]) for bucket in answer[name]["buckets"] if bucket["key"] != ""
        }
        for name in _KINDS
    }
    facets["months"] = _months(answer["days"]["buckets"])
    return facets


def _months(days: list[dict[str, Any]]) -> dict[str, int]:
    from datetime import UTC, datetime

    counts: dict[str, int] = {}
    for day in days:
        try:
            month = datetime.fromtimestamp(float(day["key"]) / 1_000_000, UTC).strftime("%Y-%m")
        except (OverflowError, ValueError, OSError):
            continue  # a time outside of the calendar
        counts[month] = counts.get(month, 0) + int(day["doc_count"])
    return dict(sorted(counts.items(), reverse=True))


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


SORTS = ("relevance", "date")
HALF_LIFE = 30 * 86_400.0
"""Seconds after which the bonus for a new entry has fallen to half."""
FRESHNESS = 0.5
"""The bonus of an entry from right now, as a share of its score."""
HITS_PER_SESSION = 3
_FIRST_LOOK = 128
_MOST_LOOKED_AT = 1 << 16


class _Order:
    """How to order the entries found."""

    __slots__ = ("by_date", "has_phrase", "lone_word", "now")

    def __init__(self, by_date: bool, compiled: WordQuery, now: float, *, everywhere: bool) -> None:
        self.by_date = by_date
        self.has_phrase = compiled.has_phrase
        self.lone_word = compiled.lone_word if everywhere and not by_date else None
        """The word of a one-word query over the whole index: the index stores how many entries have it."""
        self.now = now


class Search:
    """A word index and its catalogue, opened for many searches; `refresh` loads what was added meanwhile."""

    def __init__(
        self, db: apsw.Connection, words: WordReader, home_ids: list[int], *, elsewhere: Elsewhere | None = None
    ) -> None:
        self._words = words
        self._names: dict[str, list[str]] = {}
        self._rows = SessionRows(db, home_ids)
        self._reader = EntryReader(self._rows.place_of, elsewhere)

    def refresh(self) -> None:
        """Load what was committed since the index was opened."""
        self._words.refresh()
        self._names.clear()
        self._rows.forget()
        self._reader.close()

    def close(self) -> None:
        self._reader.close()

    def __enter__(self) -> Search:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def find(
        self,
        query: str,
        *,
        sort: str = "relevance",
        limit: int = 10,
        offset: int = 0,
        hits_per_session: int = HITS_PER_SESSION,
        facets: bool = False,
        now: float | None = None,
    ) -> SearchResults:
        """Search and return up to `limit` sessions after the first `offset`. Raises QueryError."""
        tree = parse(query)
        check_not_empty(tree)
        compiled = WordQuery(self._words, self._names, self._rows)
        wanted = self._rows.in_our_homes(self._words.schema, compiled.compile(tree))
        check_words_left(compiled, tree)
        by_date = sort == "date" or not compiled.needles  # filters alone give no relevance
        order = _Order(by_date, compiled, now or time.time(), everywhere=not self._rows.has_other_homes)
        groups, total = self._groups(wanted, order, limit + offset + 1)
        shown = dict(list(groups.items())[offset : offset + limit])
        left_out = LeftOut("answer")
        hits = self._hits(shown, compiled, hits_per_session, left_out)
        excluded, notes = exclusions(tree, query)
        found = SearchResults(
            self._rows.described([(key, hits[key], len(group)) for key, group in shown.items() if hits[key]]),
            total,
            more=len(groups) > offset + limit,
            facets=count_facets(self._words.searcher, wanted) if facets else None,
            excluded=excluded,
            notes=(
                *notes,
                *(f"{text!r} has no letters or digits and was left out" for text in compiled.dropped),
                *(f"no entry has the word {text!r}: looked for {' '.join(parts)!r}" for text, parts in compiled.parted),
                *([left_out.sentence] if left_out.count else []),
            ),
        )
        if not total:
            found.advice = advise(self._words, compiled, tree, query, self._names, self._rows)
        return found

    # --- which entries -----------------------------------------------------------------------------------------------

    def _groups(self, wanted: Query, order: _Order, sessions: int) -> tuple[Groups, int]:
        """Return candidates by session, the best session first, and how many entries match."""
        look = max(_FIRST_LOOK * 4 if order.has_phrase else _FIRST_LOOK, sessions * 8)
        while True:
            found, total = self._look(wanted, order, look)
            # Words of a deleted file may still be in the word index; such a file has no row in the catalogue.
            files = self._rows.our_files(item[2] for item in found)
            kept = [item for item in found if item[2] in files]
            groups: Groups = {}
            for item in kept:
                file = files[item[2]]
                groups.setdefault((file.home_id, file.session_id), []).append(item)
            everything = look >= total
            if everything or len(groups) >= sessions or look >= _MOST_LOOKED_AT:
                return groups, len(kept) if everything else total
            look = total if total <= _FIRST_LOOK * 16 else look * 4

    def _look(self, wanted: Query, order: _Order, look: int) -> tuple[list[Candidate], int]:
        """Return the first `look` entries in their order, and how many entries match."""
        if order.lone_word is not None and self._words.is_whole:
            total = self._words.searcher.doc_freq("text", order.lone_word)
            hits = self._words.best(wanted, look)
        else:
            hits, total = self._words.look(wanted, look, by_date=order.by_date)
        found = self._candidates(hits)
        if order.by_date:
            return [(0.0, entry, file, when) for _, entry, file, when in found], total
        if total > look and not order.has_phrase:
            # The best by relevance alone may all be old, so search the new ones too. Not for phrases: they take long to
            # find and match few entries.
            recent = self._words.since(wanted, int((order.now - HALF_LIFE) * 1_000_000))
            known = {item[1] for item in found}
            found += [item for item in self._candidates(self._words.best(recent, look // 2)) if item[1] not in known]
        found = [(score * _bonus(when, order.now), entry, file, when) for score, entry, file, when in found]
        found.sort(key=lambda item: -item[0])
        return found, total

    def _candidates(self, hits: list[tuple[float, DocAddress]]) -> list[Candidate]:
        if not hits:
            return []
        scores, places = zip(*hits, strict=True)
        values = self._words.searcher.fast_field_values
        columns = [values(name, list(places)) for name in ("id", "file", "time")]
        return list(zip(scores, *columns, strict=True))

    # --- what is shown of them ---------------------------------------------------------------------------------------

    def _hits(
        self, groups: Groups, compiled: WordQuery, most: int, left_out: LeftOut
    ) -> dict[tuple[int, str], list[Hit]]:
        best = {key: group[:most] for key, group in groups.items()}
        places = self._rows.entries([item[1] for group in best.values() for item in group])
        files = self._rows.our_files(item[2] for group in best.values() for item in group)
        found: dict[tuple[int, str], list[Hit]] = {}
        for key, group in best.items():
            hits = found[key] = []
            for score, entry_id, file_id, when in group:
                place = places.get(entry_id)
                if place is None:
                    continue
                line, offset, length, uuid, role, subagent_id = place
                try:
                    text = loads_text(self._reader.bytes_at(file_id, offset, length))
                    snippet = cut(text, find_needles(text, compiled.needles, self._words.tokenize))
                except Exception as problem:
                    left_out.note(self._reader.path_of(file_id), f"line {line}", problem)
                    continue
                moment = None if when is None else when / 1_000_000
                hits.append(
                    Hit(
                        entry_id, file_id, line, offset, length, uuid, role, subagent_id, moment, score, snippet,
                        in_subagent_file=files[file_id].is_subagent,
                    )
                )  # fmt: skip
        return found


def check_not_empty(tree: All) -> None:
    if not tree.parts:
        raise QueryError(
            "the query is empty", hint='for example: recollect search "connection refused"', slug="bad-query"
        )


def check_words_left(compiled: WordQuery, tree: All) -> None:
    """Raise QueryError for a query of punctuation alone, which would match everything."""
    if compiled.dropped and not compiled.needles and len(compiled.dropped) == len(tree.parts):
        text = compiled.dropped[0]
        raise QueryError(
            f"{text!r} has no letters or digits: the word index does not know it",
            hint=f"for example: recollect search --substring '{text}'", slug="bad-query",
        )  # fmt: skip


def _bonus(when: int | None, now: float) -> float:
    if when is None:
        return 1.0
    return 1.0 + FRESHNESS * float(0.5 ** max((now - when / 1_000_000) / HALF_LIFE, 0.0))
