"""Search slowly by reading every text, for what a word index cannot find.

`substring` finds characters inside words and punctuation, `regex` is a regular expression of Python, `everything` searches
all that the files hold, prompt snapshots and request logs included. Filters narrow what is read. Sessions come newest
first, so a search can stop when it has enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ...errors import QueryError
from ..catalogue.left_out import LeftOut
from ..catalogue.reading_back import EntryReader
from ..catalogue.schema import FLAGS, shown_uuid
from .filter_meaning import ProjectFilter, fits, session_fits, time_range, working_folder
from .query_language import All, Either, Everything, Filter, Not, Part, Text, filters, texts
from .results import Needle, Snippet, Span, Tokenize, cut, find_needles, lowered

if TYPE_CHECKING:
    import apsw

MODES = ("substring", "regex", "everything")
_MOST_SPANS = 24


class ScanHit(NamedTuple):
    """An entry that matches, with the piece of its text that shows why."""

    entry_id: int
    file_id: int
    line: int
    offset: int
    length: int
    uuid: str | None
    role: str | None
    subagent_id: str | None
    time: int | None
    snippet: Snippet


class Facts(NamedTuple):
    """The facts about an entry that filters compare."""

    role: str | None
    model: str | None
    branch: str | None
    project: str | None
    repository: str | None
    session_id: str | None
    title: str | None
    time: int | None
    status: str | None
    flags: int
    tools: tuple[str, ...]
    paths: tuple[str, ...]


class Matcher:
    """Find matches in a text.

    `may_hold` checks the bytes of an entry before they are decoded: it is False only if there is certainly no match.
    """

    def may_hold(self, data: bytes) -> bool:
        raise NotImplementedError

    def spans(self, text: str) -> list[Span]:
        raise NotImplementedError


class Substring(Matcher):
    """Find characters exactly as given, ignoring case."""

    def __init__(self, needle: str) -> None:
        if not needle:
            raise QueryError(
                "there is nothing to look for", hint="for example: recollect search --substring '->'", slug="bad-query"
            )
        self._needle = lowered(needle)
        # Only ASCII letters and digits are never escaped in JSON, so the longest run of them must be in the bytes.
        runs = re.findall(r"[a-z0-9]+", self._needle)
        self._must = max(runs, key=len).encode() if runs else b""

    def may_hold(self, data: bytes) -> bool:
        return not self._must or self._must in data.lower()

    def spans(self, text: str) -> list[Span]:
        lower = lowered(text)
        found: list[Span] = []
        at = lower.find(self._needle)
        while at >= 0 and len(found) < _MOST_SPANS:
            found.append((at, at + len(self._needle)))
            at = lower.find(self._needle, at + len(self._needle))
        return found


class RegularExpression(Matcher):
    def __init__(self, pattern: str) -> None:
        self._pattern = compile_pattern(pattern)

    def may_hold(self, data: bytes) -> bool:
        return True

    def spans(self, text: str) -> list[Span]:
        found: list[Span] = []
        for match in self._pattern.finditer(text):
            found.append(match.span())
            if len(found) >= _MOST_SPANS:
                break
        return found


class Words(Matcher):
    """Find the words of a query in texts that are not in the word index."""

    def __init__(self, query: All, tokenize: Tokenize) -> None:
        self._tokenize = tokenize
        self._needles = [self._needle(part) for part in texts(query)]

    def _needle(self, part: Text) -> Needle:
        return Needle([token for token, _, _ in self._tokenize(part.text)], prefix=part.prefix)

    def may_hold(self, data: bytes) -> bool:
        return True

    def spans(self, text: str) -> list[Span]:
        return find_needles(text, self._needles, self._tokenize)

    def has(self, part: Text, text: str) -> bool:
        needle = self._needle(part)
        return not needle.tokens or bool(find_needles(text, [needle], self._tokenize, enough=1))


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a regular expression. Raises QueryError with the position of a mistake."""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # syntax that a later Python will interpret differently
            return re.compile(pattern, re.MULTILINE)
    except (re.error, RecursionError, OverflowError) as problem:
        from .query_language import mistake

        place = getattr(problem, "pos", None) or 0
        what = f"the regular expression is wrong: {getattr(problem, 'msg', problem)}"
        raise mistake(
            pattern or " ", min(place, max(len(pattern) - 1, 0)), what, "for example: 'err(or)?s?\\b'"
        ) from None


def scan(
    db: apsw.Connection,
    home_ids: list[int],
    where: All,
    matcher: Matcher,
    reader: EntryReader,
    text_of: Callable[[bytes], str],
    left_out: LeftOut,
    moved_on: Callable[[], None] = lambda: None,
) -> Iterator[ScanHit]:
    """Yield all entries that match, session by session, the newest first.

    `moved_on` is called for every file, and for every 256th entry of a file. Entries that fail are named in `left_out`.
    """
    names = _Names(db)
    needs_calls = any(item.name in ("tool", "file") for item in filters(where))
    for file_id, session in _files(db, home_ids):
        moved_on()
        calls = _calls(db, file_id) if needs_calls else {}
        rows = db.execute(
            "SELECT id, line, offset, length, uuid, time, role, subagent_id, model_id, branch_id, status, flags "
            "FROM entries WHERE file_id = ? ORDER BY line, part",
            (file_id,),
        )
        for number, row in enumerate(rows):
            if number % 256 == 255:
                moved_on()
            entry_id, line, offset, length, uuid, time, role, subagent_id, model, branch, status, flags = row
            tools, paths = calls.get(entry_id, ((), ()))
            facts = Facts(
                role, names[model], names[branch], session[1], session[2], session[0], session[3], time, status, flags,
                tools, paths,
            )  # fmt: skip
            try:
                if not _may_fit(where, facts):
                    continue
                snippet = _matched(reader.bytes_at(file_id, offset, length), where, facts, matcher, text_of)
            except Exception as problem:
                left_out.note(reader.path_of(file_id), f"line {line}", problem)
                continue
            if snippet is not None:
                yield ScanHit(
                    entry_id, file_id, line, offset, length, shown_uuid(uuid), role, subagent_id, time, snippet
                )


def _matched(
    data: bytes, where: All, facts: Facts, matcher: Matcher, text_of: Callable[[bytes], str]
) -> Snippet | None:
    """Return the piece of an entry's text that shows the matches; None if the entry does not match."""
    if not matcher.may_hold(data):
        return None
    text = text_of(data)
    if not text or not _fits(where, facts, text, matcher):
        return None
    spans = matcher.spans(text)
    return cut(text, spans) if spans or isinstance(matcher, Words) else None


class _Names(dict[int | None, str | None]):
    """Texts of the table `strings` by id, fetched on first use."""

    def __init__(self, db: apsw.Connection) -> None:
        super().__init__({None: None})
        self._db = db

    def __missing__(self, number: int | None) -> str | None:
        text: str | None = self._db.execute("SELECT text FROM strings WHERE id = ?", (number,)).get
        self[number] = text
        return text


def _files(db: apsw.Connection, home_ids: list[int]) -> list[tuple[int, tuple[str | None, ...]]]:
    """List transcripts, newest session first, a session before its subagents.

    Each is (file id, (session, project, repository, title)).
    """
    marks = ",".join("?" * len(home_ids))
    rows = db.execute(
        "SELECT f.id, f.session_id, s.project, s.repository, s.title FROM files f "
        "LEFT JOIN files m ON m.home_id = f.home_id AND m.kind = 'session' AND m.session_id = f.session_id "
        "LEFT JOIN sessions s ON s.file_id = m.id "
        f"WHERE f.kind IN ('session', 'subagent') AND f.home_id IN ({marks}) "
        "GROUP BY f.id ORDER BY max(s.modified) DESC, f.session_id, f.kind = 'subagent', f.path",
        tuple(home_ids),
    )
    return [(row[0], tuple(row[1:])) for row in rows]


def _calls(db: apsw.Connection, file_id: int) -> dict[int, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the names of tools and the paths of files by entry, for each tool call and its result."""
    found: dict[int, tuple[list[str], list[str]]] = {}
    rows = db.execute("SELECT entry_id, result_entry_id, name, target FROM tool_calls WHERE file_id = ?", (file_id,))
    for call, result, name, target in rows:
        for entry in (call, result):
            if entry is not None:
                tools, paths = found.setdefault(entry, ([], []))
                if name:
                    tools.append(name)
                if target:
                    paths.append(target)
    return {entry: (tuple(tools), tuple(paths)) for entry, (tools, paths) in found.items()}


def _may_fit(part: Part, facts: Facts) -> bool:
    """Return whether an entry can match, judged by the filters alone, before its text is read."""
    return _holds(part, facts, None) is not False


def _fits(part: Part, facts: Facts, text: str, matcher: Matcher) -> bool:
    return _holds(part, facts, lambda wanted: matcher.has(wanted, text) if isinstance(matcher, Words) else True) is True


def _holds(part: Part, facts: Facts, has_text: Callable[[Text], bool] | None) -> bool | None:
    """Return whether a part of a query matches; None if that depends on words and `has_text` is not given."""
    if isinstance(part, Text):
        return None if has_text is None else has_text(part)
    if isinstance(part, Filter):
        return any(_filter_fits(part.name, value, facts) for value in part.values)
    if isinstance(part, Not):
        held = _holds(part.part, facts, has_text)
        return None if held is None else not held
    if isinstance(part, Either):
        answers = [_holds(item, facts, has_text) for item in part.parts]
        return True if True in answers else (None if None in answers else False)
    if isinstance(part, All):
        answers = [_holds(item, facts, has_text) for item in part.parts]
        return False if False in answers else (None if None in answers else True)
    return isinstance(part, Everything)


@lru_cache(maxsize=64)
def _project_filter(value: str, folder: str) -> ProjectFilter:
    """Build a filter once per working directory, because `.` names another project in another directory."""
    return ProjectFilter(value)


def _filter_fits(name: str, value: str, facts: Facts) -> bool:
    if name == "project":
        return _project_filter(value, working_folder()).fits(facts.project, facts.repository)
    if name == "session":
        return session_fits(value, facts.session_id, facts.title)
    if name == "role":
        return facts.role == value
    if name == "tool":
        return any(fits(name, value, tool) for tool in facts.tools)
    if name == "file":
        return any(fits(name, value, path) for path in facts.paths)
    if name == "model":
        return facts.model is not None and fits(name, value, facts.model)
    if name == "branch":
        return facts.branch is not None and fits(name, value, facts.branch)
    if name == "status":
        return facts.status == value
    if name == "has":
        return bool(facts.flags & FLAGS[value])
    low, high = time_range(name, value)
    return facts.time is not None and (low is None or facts.time >= low) and (high is None or facts.time < high)
