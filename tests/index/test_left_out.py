"""A row that makes a stage of the index fail is named and left out; everything else is found, and the stage goes on behind it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.index.contents import words

from recollect.analysis.cost import usual_prices
from recollect.errors import Refused
from recollect.index.api_calls import collect, store
from recollect.index.api_calls import sync as calls_sync
from recollect.index.catalogue import ingest, transcript_rows
from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.left_out import LeftOut, blames_row, insert_rows
from recollect.index.catalogue.sync import STAGES, SyncReport, bring_up_to_date
from recollect.index.search import scan_search, search, slow_search
from recollect.index.search.results import SearchResults
from recollect.index.search.slow_search import find_slowly
from recollect.index.words import sync as words_sync
from recollect.index.words.reader import WordReader
from recollect.index.words.word_index import WordsWriter, forget_words
from recollect.store.home import Home
from recollect.testing import HomeBuilder

BAD = "zzbad"
"""What the row says that fails."""


class Scene:
    """A home with three sessions, of which one has a row that some stage fails on."""

    def __init__(self, folder: Path) -> None:
        home = HomeBuilder(folder / "claude")
        for name in ("plum", BAD, "pear"):
            t = home.session("/w/app", start="2026-03-01T09:00:00Z")
            t.user(f"before {name}")
            t.assistant(f"answer {name}", model=f"claude-{name}")
            t.user(f"after {name}")
            t.assistant("the end", model="claude-opus-4-5")
            if name == BAD:
                self.session = t.session_id
        self.home = Home(home.write())
        (path,) = self.home.projects.glob(f"*/{self.session}.jsonl")
        self.path = path
        lines = path.read_bytes().splitlines()
        self.line = next(number for number, line in enumerate(lines, 1) if f"answer {BAD}".encode() in line)
        self.message = json.loads(lines[self.line - 1])["message"]["id"]
        self.said: list[str] = []
        self.catalogue = Catalogue.open(folder / "index", tell=self.said.append)

    def sync(self, *stages: str, statuses: bool = False) -> SyncReport:
        return bring_up_to_date(
            self.catalogue, [self.home], stages or STAGES, pricing=usual_prices(), statuses=statuses
        )

    def found(self, word: str) -> int:
        return len(words(self.catalogue, word)[word])

    def count(self, table: str) -> int:
        return int(self.catalogue.connection.execute(f"SELECT count(*) FROM {table}").get)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def fail_on(monkeypatch: pytest.MonkeyPatch, place: Any, name: str, is_bad: Callable[..., bool]) -> None:
    """Make a function fail for what `is_bad` chooses."""
    plain = vars(place)[name]

    def failing(*given: Any, **named: Any) -> Any:
        if is_bad(*given):
            raise ZeroDivisionError
        return plain(*given, **named)

    monkeypatch.setattr(place, name, failing)


def says_bad(*given: Any) -> bool:
    return any(f"answer {BAD}" in str(item) for item in given)


def told_once(scene: Scene, report: SyncReport, place: str) -> None:
    """The row was named in the report and told, and the next sync has nothing to do nor to tell."""
    assert report.left_out.names == [f"{scene.path}, {place}: ZeroDivisionError"]
    assert scene.said == [
        f"left out of the index, since Recollect fails on it: {scene.path}, {place}: ZeroDivisionError"
    ]
    again = scene.sync()
    assert (again.files, again.lines, again.left_out.count, len(scene.said)) == (0, 0, 0, 1)


def test_entries_an_entry_that_fails(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_on(monkeypatch, transcript_rows, "words_of", says_bad)
    report = scene.sync()
    told_once(scene, report, f"line {scene.line}")
    assert (scene.found("answer"), scene.found("before"), scene.found("after"), scene.count("sessions")) == (2, 3, 3, 3)


def test_entries_a_row_that_cannot_be_stored(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = vars(transcript_rows)["words_of"]

    def with_huge_flags(entry: Any) -> Any:
        found = plain(entry)
        if says_bad(entry):
            found.flags |= 1 << 70
        return found

    monkeypatch.setattr(transcript_rows, "words_of", with_huge_flags)
    report = scene.sync("entries")
    assert report.left_out.names == [f"{scene.path}, line {scene.line}: OverflowError"]
    assert scene.count("sessions") == 3
    assert scene.count("entries WHERE type = 'assistant'") == 5


def test_words_of_an_entry_that_fail_in_the_same_sync(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_on(monkeypatch, WordsWriter, "add", says_bad)
    report = scene.sync()
    told_once(scene, report, f"words of line {scene.line}")
    assert (scene.found("answer"), scene.found("after"), scene.count("entries WHERE type = 'assistant'")) == (2, 3, 6)


@pytest.mark.parametrize("name", ["words_of", "decoded"])
def test_words_that_fail_when_they_are_read_back(scene: Scene, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.sync()
    forget_words(scene.catalogue)
    fail_on(monkeypatch, words_sync, name, says_bad)
    report = scene.sync("words")
    told_once(scene, report, f"words of line {scene.line}")
    assert (scene.found("answer"), scene.found("before"), scene.found("after")) == (2, 3, 3)


def test_words_pieces_that_are_put_together(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that fails when small pieces of the word index are joined costs its own words only."""
    scene.sync()
    lines = scene.path.read_bytes().splitlines(keepends=True)
    fail_on(monkeypatch, words_sync, "words_of", lambda entry: "later3" in str(entry))
    reports = []
    for number in range(12):
        with scene.path.open("ab") as stream:
            stream.write(lines[scene.line - 2].replace(b"before", f"later{number}".encode()))
        reports.append(scene.sync())
    assert [scene.found(f"later{number}") for number in range(12)] == [number != 3 for number in range(12)]
    told = [name for report in reports for name in report.left_out.names]
    assert told == [f"{scene.path}, words of line {len(lines) + 4}: ZeroDivisionError"]
    assert scene.found("after") == 3


def test_calls_a_line_that_fails(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_on(monkeypatch, collect, "decode_call_line", lambda line: says_bad(bytes(line)))
    report = scene.sync()
    told_once(scene, report, f"line {scene.line}")
    assert scene.count("api_calls") == 5


def test_calls_the_last_line_without_an_end(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = scene.path.read_bytes().splitlines(keepends=True)
    last = lines[scene.line - 1].rstrip(b"\n")
    scene.path.write_bytes(b"".join(lines[: scene.line - 1]) + last)
    fail_on(monkeypatch, collect, "decode_call_line", lambda line: says_bad(bytes(line)))
    report = scene.sync()
    told_once(scene, report, f"line {scene.line}")
    assert scene.count("api_calls") == 4


def test_calls_that_have_no_price_because_that_fails(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_on(
        monkeypatch, type(usual_prices()), "costs", lambda _, calls: f"claude-{BAD}" in [row.model for row in calls]
    )
    report = scene.sync()
    told_once(scene, report, f"line {scene.line}")
    assert scene.count("api_calls") == 5


@pytest.mark.parametrize("field", ["input", "model", "request_id"])
def test_calls_that_cannot_be_stored(scene: Scene, field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = vars(store)["add_calls"]

    def spoiled(sink: Any, file_id: int, calls: list[Any], *, grown: bool) -> None:
        for call in calls:
            if call.model == f"claude-{BAD}":
                setattr(call, field, 1 << 70 if field == "input" else "\ud800")
        plain(sink, file_id, calls, grown=grown)

    monkeypatch.setattr(store, "add_calls", spoiled)
    report = scene.sync()
    (name,) = report.left_out.names
    assert name.startswith(f"{scene.path}, line {scene.line}: ")
    assert scene.count("api_calls") == 5
    models = "SELECT DISTINCT m.text FROM api_calls a JOIN strings m ON m.id = a.model_id ORDER BY 1"
    told = [text for (text,) in scene.catalogue.connection.execute(models)]
    assert told == ["claude-opus-4-5", "claude-pear", "claude-plum"]
    assert scene.sync().lines == 0


def test_calls_whose_copies_cannot_be_told_apart(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forks copy every line: the message that fails is counted twice, every other one once, and that is said."""
    copy = scene.path.with_name("22222222-2222-4222-8222-222222222222.jsonl")
    copy.write_bytes(scene.path.read_bytes())
    plain = vars(store)["_shared"]

    def failing(db: Any, place: Any, counted: Any, pricing: Any) -> Any:
        told = db.execute("SELECT message_id FROM api_calls WHERE (file_id, line, part) = (?, ?, ?)", place).get
        if told == scene.message:
            raise ZeroDivisionError
        return plain(db, place, counted, pricing)

    monkeypatch.setattr(store, "_shared", failing)
    report = scene.sync("calls")
    assert report.left_out.names == [f"API calls, copies of message {scene.message}: ZeroDivisionError"]
    assert scene.count("counted_calls") == 7


@pytest.mark.parametrize(("stage", "place"), [("entries", ingest), ("calls", calls_sync)])
def test_a_file_that_fails_as_a_whole(scene: Scene, stage: str, place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_on(monkeypatch, place, "note_owner", lambda _, change, __: change.session_id == scene.session)
    report = scene.sync(stage)
    assert report.left_out.names == [f"{scene.path}: ZeroDivisionError"]
    assert scene.count("sessions" if stage == "entries" else "api_calls") == (2 if stage == "entries" else 4)
    assert (scene.sync(stage).lines, len(scene.said)) == (0, 1)


def test_a_file_whose_end_fails_leaves_no_words_behind(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its words were added when its end failed; the numbers of its entries are given to the next file's."""
    fail_on(monkeypatch, ingest, "done", lambda _, change, *__: change.session_id == scene.session)
    report = scene.sync("entries", "words")
    assert report.left_out.names == [f"{scene.path}: ZeroDivisionError"]
    assert (scene.found("answer"), scene.found(BAD), scene.found("plum"), scene.found("pear")) == (2, 0, 3, 3)


def test_a_line_of_the_history_that_fails(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    history = scene.home.root / "history.jsonl"
    history.write_text("".join(f'{{"display":"{word}","timestamp":1700000000000}}\n' for word in ("one", BAD, "two")))
    fail_on(monkeypatch, ingest, "parse_history_line", lambda data: BAD.encode() in data)
    report = scene.sync()
    assert report.left_out.names == [f"{history}, line 2: ZeroDivisionError"]
    assert [text for (text,) in scene.catalogue.connection.execute("SELECT text FROM prompts")] == ["one", "two"]


def test_statuses_that_fail_at_once(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_on(monkeypatch, ingest, "find_thread", lambda found: found.rows[0].uuid in scene.path.read_text())
    report = scene.sync(statuses=True)
    told_once(scene, report, "statuses")
    assert (scene.found("answer"), scene.count("entries WHERE type = 'assistant'")) == (3, 6)
    assert scene.count("entries WHERE type = 'assistant' AND status IS NULL") == 2


def test_statuses_that_fail_later(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.sync()
    with scene.path.open("ab") as stream:
        stream.write(b'{"type":"user","uuid":"new","message":{"content":"x"}}\n')
    fail_on(monkeypatch, ingest, "find_thread", lambda _: True)
    report = scene.sync(statuses=True)
    told_once(scene, report, "statuses")
    assert scene.sync(statuses=True).threaded == 0


def test_statuses_of_a_session_that_grew_by_a_row_that_fails(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.sync(statuses=True)
    lines = scene.path.read_bytes().splitlines(keepends=True)
    with scene.path.open("ab") as stream:
        stream.write(lines[scene.line - 1] + lines[scene.line - 2].replace(b"before", b"later"))
    fail_on(monkeypatch, transcript_rows, "words_of", says_bad)
    report = scene.sync(statuses=True)
    assert (report.left_out.count, report.threaded) == (1, 1)
    assert scene.sync(statuses=True).threaded == 0
    assert scene.count("entries WHERE type IN ('user', 'assistant') AND status IS NULL") == 0


@pytest.mark.parametrize(
    ("problem", "is_blamed"),
    [
        (ZeroDivisionError(), True), (UnicodeEncodeError("utf-8", "x", 0, 1, "y"), True), (RecursionError(), True),
        (apsw.TooBigError("x"), True), (apsw.CorruptError("x"), False), (apsw.FullError("x"), False),
        (OSError(5, "x"), False), (MemoryError(), False), (KeyboardInterrupt(), False), (Refused("x", slug="x"), False),
    ],
)  # fmt: skip
def test_only_what_a_row_may_cause_is_put_down_to_it(problem: BaseException, is_blamed: bool) -> None:
    assert blames_row(problem) is is_blamed
    if not is_blamed and isinstance(problem, Exception):
        with pytest.raises(type(problem)):
            LeftOut().note("p", "line 1", problem)


def test_a_full_disk_is_not_taken_for_bad_rows() -> None:
    db = apsw.Connection(":memory:")
    db.execute("CREATE TABLE t(x)")
    db.execute("PRAGMA query_only=1")
    with pytest.raises(apsw.ReadOnlyError):
        insert_rows(db, "INSERT INTO t VALUES (?)", [(1,)], lambda *_: None)


def test_of_many_rows_the_first_are_told_and_the_others_counted() -> None:
    found = LeftOut()
    for number in range(150):
        found.note("f", f"line {number}", ValueError())
    assert (found.count, len(found.names)) == (150, 100)
    assert found.sentence == (
        "left out of the index, since Recollect fails on them: f, line 0: ValueError; f, line 1: ValueError; "
        "f, line 2: ValueError; and 147 more"
    )


class TestSearching:
    """A row that fails while a search is answered is left out of the answer and named."""

    def note(self, scene: Scene) -> str:
        return (
            f"left out of the answer, since Recollect fails on it: {scene.path}, line {scene.line}: ZeroDivisionError"
        )

    def slowly(self, scene: Scene, query: str, mode: str) -> SearchResults:
        scene.sync()
        homes = [scene.catalogue.home_id(scene.home.real_root) or 0]
        words = WordReader(str(scene.catalogue.words_folder))
        return find_slowly(scene.catalogue.connection, homes, query, mode=mode, tokenize=words.tokenize)

    @pytest.mark.parametrize("name", ["find_needles", "cut"])
    def test_a_search_by_words(self, scene: Scene, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        scene.sync()
        fail_on(monkeypatch, search, name, says_bad)
        homes = [scene.catalogue.home_id(scene.home.real_root) or 0]
        words = WordReader(str(scene.catalogue.words_folder))
        with search.Search(scene.catalogue.connection, words, homes) as searching:
            found = searching.find("answer")
        assert {hit.snippet.text for session in found.sessions for hit in session.hits} == {
            "answer plum",
            "answer pear",
        }
        assert found.notes == (self.note(scene),)

    @pytest.mark.parametrize("mode", ["substring", "everything"])
    @pytest.mark.parametrize("name", ["cut", "_fits"])
    def test_a_slow_search(self, scene: Scene, mode: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        fail_on(monkeypatch, scan_search, name, says_bad)
        found = self.slowly(scene, "answer", mode)
        assert len(found.sessions) == found.total == 2
        assert found.notes[1:] == (self.note(scene),)

    def test_a_regular_expression(self, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
        child = (
            "from recollect.index.search import slow_search, scan_search\n"
            "plain = scan_search.cut\n"
            f"scan_search.cut = lambda text, spans: 1 / 0 if 'answer {BAD}' in text else plain(text, spans)\n"
            "slow_search.main()"
        )
        monkeypatch.setattr(slow_search, "child_command", lambda _: [sys.executable, "-c", child])
        found = self.slowly(scene, "ans[w]er", "regex")
        assert len(found.sessions) == found.total == 2
        assert found.notes[1:] == (self.note(scene),)

    def test_an_error_that_is_not_about_a_row_is_raised(self, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: Any) -> Any:
            raise MemoryError

        monkeypatch.setattr(scan_search, "cut", full)
        with pytest.raises(MemoryError):
            self.slowly(scene, "answer", "substring")
