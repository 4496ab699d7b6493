"""A search from the command line without anything it does not need: no click, no typed decoding, no look into folders.

Most searches change nothing and ask something simple. Then starting Python is most of the work, and every import counts.
Anything unusual (an option that is not listed here, an index that is not up to date, no index, a mistake in the query) is
left to the full command: `try_search` answers None, and nothing was printed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from ..environment import home_folders, own_folder_name
from ..errors import RecollectError
from . import colors

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from ..index.catalogue.reading_back import Elsewhere
    from ..index.search.results import SearchResults


class _Asked:
    __slots__ = ("color", "format", "hits", "homes", "limit", "offset", "sort", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.homes: list[str] = []
        self.format = "text"
        self.color: bool | None = None
        self.sort = "relevance"
        self.limit = 10
        self.offset = 0
        self.hits = 3


def try_search(arguments: Sequence[str]) -> int | None:
    """Search and print; the exit code. None where the full command has to do it."""
    asked = _understood(arguments)
    if asked is None:
        return None
    folder = os.path.join(own_folder_name("cache"), "index")
    roots = _roots(asked.homes)
    if roots is None or not os.path.exists(f"{folder}/catalogue.sqlite"):
        return None
    import apsw

    from ..index.catalogue.checked_pages import connect
    from ..index.catalogue.healing import is_panic

    try:
        db = connect(f"{folder}/catalogue.sqlite", apsw.SQLITE_OPEN_READWRITE)
        found = _answer(db, folder, roots, asked)
    except BaseException as problem:
        if not isinstance(problem, (apsw.Error, RecollectError, ValueError)) and not is_panic(problem):
            raise
        return None
    if found is None or not found.sessions:
        return None
    _print(found, asked)
    return 0


def _understood(arguments: Sequence[str]) -> _Asked | None:
    asked = _Asked()
    waiting = list(reversed(arguments))
    named = False
    while waiting:
        word = waiting.pop()
        if word == "--json" or word == "--jsonl":
            asked.format = word[2:]
        elif word == "--no-color":
            asked.color = False
        elif word == "--home" and waiting:
            asked.homes.append(waiting.pop())
        elif named and word == "--sort" and waiting and waiting[-1] in ("relevance", "date"):
            asked.sort = waiting.pop()
        elif named and word in ("--limit", "--offset", "--hits") and waiting and _is_number(waiting[-1]):
            setattr(asked, word[2:], int(waiting.pop()))
        elif not named and word == "search":
            named = True
        elif not named or word == "-h" or word.startswith("--") or not word:
            return None
        else:
            asked.words.append(word)
    if not asked.words or not 1 <= asked.limit <= 1_000 or not 1 <= asked.hits <= 1_000 or asked.offset > 10_000:
        return None
    return asked


def _is_number(text: str) -> bool:
    """A usual one; what else may be meant, the whole command finds out."""
    return text.isdecimal() and len(text) <= 18


def _roots(named: list[str]) -> list[str] | None:
    """The homes with links resolved, each once. Whether they are homes, the catalogue knows."""
    folders, are_named = home_folders(named)
    roots = list(dict.fromkeys(os.path.realpath(folder) for folder in folders if are_named or os.path.isdir(folder)))
    return roots or None


def _answer(db: apsw.Connection, folder: str, roots: list[str], asked: _Asked) -> SearchResults | None:
    from ..index.catalogue.change_check import statuses_are_current, unchanged

    homes = unchanged(db, roots)
    if homes is None:
        return None
    from ..index.search.search import Search
    from ..index.words.reader import WordReader
    from ..index.words.seal import check

    check(db, f"{folder}/words")
    with Search(db, WordReader(f"{folder}/words"), homes, elsewhere=_kept_bytes(db)) as search:
        if search.needs_statuses(" ".join(asked.words)) and not statuses_are_current(db):
            return None
        return search.find(
            " ".join(asked.words),
            sort=asked.sort,
            limit=asked.limit,
            offset=asked.offset,
            hits_per_session=asked.hits,
        )


def _kept_bytes(db: apsw.Connection) -> Elsewhere | None:
    vault = os.path.join(own_folder_name("data"), "vault")
    if not os.path.isdir(vault):
        return None
    from ..index.catalogue.vault_transcripts import KeptTranscripts

    return KeptTranscripts(vault).reader(db)


def _print(found: SearchResults, asked: _Asked) -> None:
    from ..export.terminal_text import safe
    from .search_text import found_data, found_text, session_data, summary_line

    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    for note in found.notes:
        sys.stderr.write(safe(note) + "\n")
    if asked.format == "text":
        colored = colors.are_wanted() if asked.color is None else asked.color
        lines = list(found_text(found, colored, asked.homes))
    else:
        import json

        if asked.format == "json":
            lines = [json.dumps(found_data(found, asked.homes), indent=2)]
        else:
            lines = [json.dumps(session_data(item, asked.homes)) for item in found.sessions]
    try:
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:  # the reader went away: nothing is wrong
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    if asked.format == "text":
        sys.stderr.write(summary_line(found, asked.offset) + "\n")
