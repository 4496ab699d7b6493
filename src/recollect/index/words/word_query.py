"""Compile the tree of a search query to a query of the word index.

Words count for the ranking, filters do not. Names in filters (tools, models, branches, projects) are looked up among the
names in the index, so that a part of a name is enough and a name that matches nothing can be reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import tantivy
from tantivy import Occur, Query

from ..search.filter_meaning import ProjectFilter, fits, nearest, time_range
from ..search.query_language import All, Either, Everything, Filter, Not, Part, Text
from ..search.results import Needle
from ..search.session_rows import SessionRows
from .reader import WordReader

#: Filters whose names are in a field of the word index.
NAME_FIELDS = ("tool", "model", "branch")
#: The most words with one prefix that are ranked; with more of them, all matches of the prefix rank equally.
MOST_RANKED = 64
_MOST_NAMES = 200_000
_LONGEST_PARTED = 40


class Unmatched(NamedTuple):
    """A filter whose value matches no name in the index, with similar names."""

    filter_name: str
    value: str
    nearest: Sequence[str]


class WordQuery:
    """Compile one query.

    Afterwards `needles` holds what snippets highlight, `dropped` the parts of the query that have no word, and
    `unmatched` the filters that match nothing.
    """

    def __init__(
        self,
        words: WordReader,
        names: dict[str, list[str]],
        rows: SessionRows,
    ) -> None:
        self._schema = words.schema
        self._searcher = words.searcher
        self._analyze = words.analyze
        self._names = names
        self._rows = rows
        self.needles: list[Needle] = []
        self.dropped: list[str] = []
        self.unmatched: list[Unmatched] = []
        self.parted: list[tuple[str, list[str]]] = []
        """Words that are not in the index, each with the parts that are searched in its place."""
        self._is_lone = False
        self.words: list[str] = []
        """Single words of the query, to suggest similar ones if nothing is found."""

    @property
    def has_phrase(self) -> bool:
        return any(len(needle.tokens) > 1 for needle in self.needles)

    @property
    def lone_word(self) -> str | None:
        """Return the word if the whole query is one word."""
        return self.words[0] if self._is_lone and len(self.words) == 1 else None

    def compile(self, tree: All) -> Query:
        self._is_lone = len(tree.parts) == 1 and isinstance(tree.parts[0], Text)
        return self._part(tree, positive=True) or Query.all_query()

    def _part(self, part: Part, *, positive: bool) -> Query | None:
        if isinstance(part, Text):
            return self._words(part, positive=positive)
        if isinstance(part, Filter):
            found = self._filter(part)
            return Query.const_score_query(found, 0.0)
        if isinstance(part, Everything):
            return Query.const_score_query(Query.all_query(), 0.0)
        if isinstance(part, Not):
            inner = self._part(part.part, positive=not positive)
            return None if inner is None else _without([], [inner])
        if isinstance(part, Either):
            choices = [self._part(item, positive=positive) for item in part.parts]
            known = [choice for choice in choices if choice is not None]
            return Query.boolean_query([(Occur.Should, choice) for choice in known]) if known else None
        if isinstance(part, All):
            return self._all(part.parts, positive=positive)
        raise AssertionError(part)

    def _all(self, parts: Sequence[Part], *, positive: bool) -> Query | None:
        must: list[Query] = []
        must_not: list[Query] = []
        for part in parts:
            negated = isinstance(part, Not)
            inner = part.part if isinstance(part, Not) else part
            query = self._part(inner, positive=positive != negated)
            if query is not None:
                (must_not if negated else must).append(query)
        if len(must) == 1 and not must_not:
            return must[0]
        return _without(must, must_not) if must or must_not else None

    # --- words -------------------------------------------------------------------------------------------------------

    def _words(self, part: Text, *, positive: bool) -> Query | None:
        tokens = self._analyze(part.text)
        if not tokens:
            self.dropped.append(part.text)
            return None
        if positive and len(tokens) == 1 and not part.prefix and not part.quoted:
            parts = self._parts_of_unknown(tokens[0])
            if parts:
                self.parted.append((part.text, parts))
                tokens = parts
        if positive:
            self.needles.append(Needle(tokens, prefix=part.prefix))
            if len(tokens) == 1 and not part.prefix:
                self.words.append(tokens[0])
        return self._side_by_side("text", tokens, prefix=part.prefix)

    def _parts_of_unknown(self, word: str) -> list[str]:
        """Split an identifier that was typed in small letters, such as `getusername` for `getUserName`, into its parts.

        Returns two or three words of the index that stand side by side in an entry, trying long first parts first; none
        if the word itself is in the index.
        """
        known = self._searcher.doc_freq
        if not 4 <= len(word) <= _LONGEST_PARTED or not word.isascii() or known("text", word):
            return []
        for parts in _partings(word):
            if all(known("text", part) for part in parts) and self._stand_side_by_side(parts):
                return parts
        return []

    def _stand_side_by_side(self, parts: list[str]) -> bool:
        query = Query.phrase_query(self._schema, "text", list(parts))
        return bool(self._searcher.search(query, 1, count=False).hits)

    def _side_by_side(self, field: str, tokens: list[str], *, prefix: bool) -> Query:
        if len(tokens) == 1:
            return self._prefix(field, tokens[0]) if prefix else Query.term_query(self._schema, field, tokens[0])
        if prefix:
            words = [_escaped(token) for token in tokens]
            return Query.regex_phrase_query(self._schema, field, [*words[:-1], f"{words[-1]}.*"])
        return Query.phrase_query(self._schema, field, list(tokens))

    def _prefix(self, field: str, token: str) -> Query:
        terms = self._searcher.terms_with_prefix(field, token, limit=MOST_RANKED + 1)
        if len(terms) <= MOST_RANKED:
            ranked = [(Occur.Should, Query.term_query(self._schema, field, term)) for term, _ in terms]
            return Query.boolean_query(ranked) if ranked else Query.empty_query()
        return Query.phrase_prefix_query(self._schema, field, [token])

    # --- filters -----------------------------------------------------------------------------------------------------

    def _filter(self, part: Filter) -> Query:
        name = part.name
        if name == "status":
            return self._rows.having_status(self._schema, frozenset(part.values))
        if name in ("before", "after"):
            return self._range(name, part.values[0])
        if name == "session":
            files = [number for value in part.values for number in self._rows.files_named(value)]
            if not files:
                self.unmatched.append(Unmatched(name, part.values[0], ()))
            return self._set("file", files)
        if name == "project":
            return self._project(part)
        if name == "file":
            return Query.boolean_query([(Occur.Should, self._path(value)) for value in part.values])
        if name in NAME_FIELDS:
            known = self._known(name)
            found = [known_name for known_name in known if any(fits(name, value, known_name) for value in part.values)]
            if not found:
                self.unmatched.append(Unmatched(name, part.values[0], nearest(part.values[0], known)))
            return self._set(name, found)
        return self._set(name, list(part.values))

    def _project(self, part: Filter) -> Query:
        """Match sessions of a project, and entries of other sessions whose working directory is in the project."""
        known = self._known("project")
        wanted = [ProjectFilter(value) for value in part.values]
        folders = [path for path in known if any(item.fits(path) for item in wanted)]
        files = [number for value in part.values for number in self._rows.files_of_project(value)]
        if not folders and not files:
            near = nearest(part.values[0], known)
            self.unmatched.append(Unmatched("project", part.values[0], near))
            return Query.empty_query()
        sets = [self._set("project", folders), self._set("file", files)]
        return Query.boolean_query([(Occur.Should, query) for query in sets])

    def _path(self, value: str) -> Query:
        """Match the words of a path side by side; with a star at the end, the last word is a prefix."""
        tokens = self._analyze(value)
        if not tokens:
            return Query.empty_query()
        return self._side_by_side("path", tokens, prefix=value.endswith("*") and value[-2:-1].isalnum())

    def _known(self, field: str) -> list[str]:
        if field not in self._names:
            self._names[field] = [name for name, _ in self._searcher.terms_with_prefix(field, "", limit=_MOST_NAMES)]
        return self._names[field]

    def _set(self, field: str, values: Sequence[str] | Sequence[int]) -> Query:
        if not values:
            return Query.empty_query()
        if len(values) == 1:
            return Query.term_query(self._schema, field, values[0])
        return Query.term_set_query(self._schema, field, values)

    def _range(self, name: str, value: str) -> Query:
        low, high = time_range(name, value)
        last = None if high is None else high - 1
        return Query.range_query(self._schema, "time", tantivy.FieldType.Integer, low, last)


def _without(must: list[Query], must_not: list[Query]) -> Query:
    """Combine queries: all of `must` and none of `must_not`. An empty `must` stands for all entries."""
    if not must:
        must = [Query.const_score_query(Query.all_query(), 0.0)]
    return Query.boolean_query(
        [*((Occur.Must, query) for query in must), *((Occur.MustNot, query) for query in must_not)]
    )


def _partings(word: str) -> Iterator[list[str]]:
    """Yield a word split in two parts of at least two letters, then in three."""
    places = range(2, len(word) - 1)
    for place in reversed(places):
        yield [word[:place], word[place:]]
    for first in reversed(places):
        for second in reversed(range(first + 2, len(word) - 1)):
            yield [word[:first], word[first:second], word[second:]]


def _escaped(token: str) -> str:
    return "".join(letter if letter.isalnum() else f"\\{letter}" for letter in token)
