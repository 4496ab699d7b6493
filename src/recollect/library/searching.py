"""Search a library: update the index, then query it; slow searches read the files themselves.

found = library.search('"connection refused" project:app after:7d')
for session in found.sessions:
    for hit in session.hits:
        print(session.title, hit.line, hit.snippet.text)
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ..errors import QueryError
from ..index.catalogue.catalogue import is_panic
from ..index.catalogue.change_check import changed_homes, statuses_are_current
from ..index.search.query_language import filters, parse
from ..index.search.results import Hit, SearchResults, SessionHits
from ..index.search.search import HITS_PER_SESSION, SORTS, Search
from ..index.words import reader as words_seal
from ..index.words.reader import WordReader
from .indexing import with_index_healed

if TYPE_CHECKING:
    import apsw

    from ..index.catalogue.catalogue import Catalogue
    from ..index.catalogue.reading_back import Elsewhere
    from ..index.catalogue.sync import Progress
    from .library import Library

__all__ = ["MODES", "SORTS", "Hit", "SearchResults", "SessionHits", "search", "why_slow"]

# Modules that are needed only after a change are imported there: most searches find nothing changed.

MODES = ("words", "substring", "regex", "everything")


def search(
    library: Library,
    query: str,
    *,
    mode: str = "words",
    everything: bool = False,
    where: str = "",
    sort: str = "relevance",
    limit: int = 10,
    offset: int = 0,
    hits_per_session: int = HITS_PER_SESSION,
    facets: bool = False,
    progress: Progress | None = None,
) -> SearchResults:
    """Find sessions with matching entries, best first. `where` holds further filters. Raises QueryError."""
    if mode not in MODES:
        raise QueryError(f"there is no mode {mode!r}", hint=f"one of {', '.join(MODES)}", slug="bad-query")
    if sort not in SORTS:
        raise QueryError(f"there is no order {sort!r}", hint=f"one of {', '.join(SORTS)}", slug="bad-query")
    asked = parse(where).parts if where else ()
    words = parse(query).parts if mode in ("words", "everything") else ()  # report a mistake before any work is done
    by_status = any(item.name == "status" for part in (*asked, *words) for item in filters(part))

    def answer() -> SearchResults:
        return _answer(
            library, query, mode, everything, where, sort, limit, offset, hits_per_session, facets, by_status, progress
        )

    return with_index_healed(library, answer)


def why_slow(mode: str, everything: bool = False) -> str | None:
    """Return why a search is slow, before it starts; None for a search by words."""
    from ..index.search.slow_search import SAYS

    return SAYS.get("everything" if everything else mode)


def _answer(
    library: Library,
    query: str,
    mode: str,
    everything: bool,
    where: str,
    sort: str,
    limit: int,
    offset: int,
    hits_per_session: int,
    facets: bool,
    by_status: bool,
    progress: Progress | None,
) -> SearchResults:
    opened = _opened(library)
    if not opened.bring_up_to_date(statuses=by_status, progress=progress):
        return SearchResults([], 0, mode=mode, advice=("there are no sessions to search",))
    if mode == "words" and not everything:
        text = f"{_grouped(query)} {_grouped(where)}" if where else query
        return opened.search.find(
            text, sort=sort, limit=limit, offset=offset, hits_per_session=hits_per_session, facets=facets
        )
    from ..index.search.slow_search import find_slowly

    return find_slowly(
        library.catalogue.connection,
        opened.home_ids,
        query,
        mode="everything" if mode == "words" else mode,
        everything=everything or mode == "everything",
        where=where,
        limit=limit,
        offset=offset,
        hits_per_session=hits_per_session,
        tokenize=opened.words.tokenize,
        kept=library.catalogue.kept,
    )


def _grouped(query: str) -> str:
    """Put a query with alternatives in parentheses, so that added filters apply to all of them."""
    return f"({query})" if " OR " in query else query


def _kept_bytes(catalogue: Catalogue) -> Elsewhere | None:
    return None if catalogue.kept is None else catalogue.kept.reader(catalogue.connection)


class OpenedSearch:
    """What a library keeps open between searches."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._state: tuple[int, int] | None = None
        self._search: Search | None = None
        self._words: WordReader | None = None
        self._db: apsw.Connection | None = None
        self.home_ids: list[int] = []

    def bring_up_to_date(self, *, statuses: bool = False, progress: Progress | None = None) -> bool:
        """Sync if anything changed, and load what was committed since the last search. False if nothing was ever indexed."""
        library = self._library
        roots = [home.real_root for home in library.homes]
        catalogue = library.catalogue
        different = changed_homes(catalogue.connection, roots)
        if different is None:
            from ..index.catalogue.change_check import folder_times, remember

            folders = {home.real_root: folder_times(home) for home in library.homes}
            library.index(stages=("entries", "words"), statuses=statuses, progress=progress)
            for root in roots:
                manifest = catalogue.kept.manifest if catalogue.kept is not None else None
                remember(catalogue.connection, root, folders[root], manifest)
        elif any(home.paths for home in different) or (statuses and not statuses_are_current(catalogue.connection)):
            from ..index.catalogue import sync
            from ..index.catalogue.change_check import remember_again

            only = {home.root: home.paths for home in different}
            sync.bring_up_to_date(catalogue, library.homes, statuses=statuses, progress=progress, only=only)
            for home in different:
                remember_again(catalogue.connection, home)
        state = self._current()
        if self._search is None or state != self._state:
            try:
                self._see_changes()
            except BaseException as problem:
                if not isinstance(problem, ValueError) and not is_panic(problem):
                    raise
                if not library.catalogue.note(words_seal.MARK):  # nothing was ever indexed
                    return False
                self._make_words_anew(progress)
            self._state = self._current()
        return True

    def _current(self) -> tuple[int, int]:
        return self._library.catalogue.note("change"), self._library.catalogue.note(words_seal.MARK)

    def _make_words_anew(self, progress: Progress | None) -> None:
        """Rebuild a word index that is missing or damaged, unless another process was just writing to it."""
        from ..index.words.word_index import words_damage

        catalogue = self._library.catalogue
        with catalogue.locked():
            if words_damage(catalogue) is None:
                with contextlib.suppress(ValueError):
                    self._open()
                    return
            with catalogue.transaction():
                catalogue.set_note(words_seal.MARK, 0)
        self._library.index(stages=("entries", "words"), progress=progress)
        self._open()

    def _see_changes(self) -> None:
        """Open the word index, or make the open one load what was committed since."""
        if (
            self._search is None
            or self._db is not self._library.catalogue.connection
            or len(self.home_ids) < len(self._library.homes)
        ):
            self._open()
            return
        try:
            self._check_words()
            self._search.refresh()
        except ValueError:  # rebuilt meanwhile, or broken
            self._open()

    def _check_words(self) -> None:
        """Raise ValueError if the files of the word index are damaged."""
        catalogue = self._library.catalogue
        if not words_seal.check(catalogue.connection, str(catalogue.words_folder)):
            with catalogue.locked():
                words_seal.seal(catalogue)  # so that their bytes need not be read the next time

    def _open(self) -> None:
        catalogue = self._library.catalogue
        self._db = catalogue.connection
        if self._search is not None:
            self._search.close()
            self._search = None
        self._check_words()
        numbers = [catalogue.home_id(home.real_root) for home in self._library.homes]
        self.home_ids = [number for number in numbers if number is not None]
        self._words = WordReader(str(catalogue.words_folder))
        self._search = Search(catalogue.connection, self._words, self.home_ids, elsewhere=_kept_bytes(catalogue))

    @property
    def search(self) -> Search:
        assert self._search is not None
        return self._search

    @property
    def words(self) -> WordReader:
        assert self._words is not None
        return self._words


def _opened(library: Library) -> OpenedSearch:
    """Return what the library keeps open between searches, opening it for the first search."""
    found: OpenedSearch | None = library.__dict__.get("_opened_search")
    if found is None:
        found = library.__dict__["_opened_search"] = OpenedSearch(library)
    return found
