"""The slow searches: what no word index can find, and expressions that would never end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.index.search_scene import Scene, marked, session, sessions

from recollect.errors import QueryError
from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.sync import bring_up_to_date
from recollect.index.search.scan_search import Substring
from recollect.index.search.slow_search import SAYS, scan_by_regex
from recollect.index.words.searchable_text import all_strings, searched_text
from recollect.store.home import Home
from recollect.testing import HomeBuilder


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    made = Scene(tmp_path_factory.mktemp("scan"))
    yield made
    made.search.close()
    made.catalogue.close()


@pytest.mark.parametrize(
    ("needle", "found", "marks"),
    [
        ("irewal", [1], {"irewal"}),
        ("IREWAL", [1], {"irewal"}),
        ("(user_name)", [1], {"(user_name)"}),
        ("python\npool", [2], {"python pool"}),
        ("語のテ", [2], {"語のテ"}),
        ("```", [2], {"```"}),
        ("walrus", [], set()),
        ("ocelot", [], set()),
    ],
)
def test_substring(scene: Scene, needle: str, found: list[int], marks: set[str]) -> None:
    answer = scene.slowly(needle, "substring")
    assert sorted(sessions(answer)) == found
    assert marked(answer) == marks
    assert answer.notes == (SAYS["substring"],)


@pytest.mark.parametrize(
    ("pattern", "found", "marks"),
    [
        (r"f[a-z]+wall", [1], {"firewall"}),
        (r"(?i)GIRAFFE\b", [2], {"giraffe", "Giraffe"}),
        (r"^pool\b", [2], {"pool"}),
        (r"walrus", [], set()),
    ],
)
def test_regular_expression(scene: Scene, pattern: str, found: list[int], marks: set[str]) -> None:
    answer = scene.slowly(pattern, "regex")
    assert sorted(sessions(answer)) == found
    assert marked(answer) == marks


def test_the_newest_session_comes_first(scene: Scene) -> None:
    assert sessions(scene.slowly("connection", "substring")) == [3, 2, 1]
    one = scene.slowly("connection", "substring", limit=1)
    assert (sessions(one), one.more, one.exact) == ([3], True, False)
    assert sessions(scene.slowly("connection", "regex", limit=1, offset=1)) == [2]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("project:app", [1, 2]),
        ("role:assistant", [2]),
        ("-role:assistant", [1, 3]),
        ("before:2026-02-01", [1]),
        ("session:3000", [3]),
        ("branch:feature*", [2]),
        ("model:opus", [2]),
        ("status:live project:site", [3]),
        ("has:code OR project:site", [2, 3]),
    ],
)
def test_filters_narrow_what_is_read(scene: Scene, where: str, found: list[int]) -> None:
    assert sorted(sessions(scene.slowly("connection", "substring", where=where))) == found
    assert sorted(sessions(scene.slowly("connec.ion", "regex", where=where))) == found


def test_filters_by_tool_and_file(scene: Scene) -> None:
    assert sessions(scene.slowly("passed", "substring", where="tool:Bash")) == [1]
    assert sessions(scene.slowly("passed", "substring", where="tool:Read")) == []
    assert sessions(scene.slowly("def", "substring", where="file:db.py")) == [1]
    assert sessions(scene.slowly("passed", "substring", where="file:db.py")) == []


def test_only_filters_narrow(scene: Scene) -> None:
    with pytest.raises(QueryError) as caught:
        scene.slowly("connection", "substring", where="project:app zebra")
    assert caught.value.place == (12, 17)


def test_everything_looks_at_what_only_the_model_saw(scene: Scene) -> None:
    assert sessions(scene.slowly("walrus", "everything")) == [3]
    assert sessions(scene.slowly("ocelot -walrus", "everything")) == [3]
    assert sessions(scene.slowly('"nobody sees" (walrus OR zebra)', "everything")) == [3]
    assert sessions(scene.slowly("walrus -nobody", "everything")) == []
    assert sessions(scene.slowly("alru", "substring", everything=True)) == [3]
    assert sessions(scene.slowly("w[a]lrus", "regex", everything=True)) == [3]


def test_the_words_of_everything_are_those_of_the_index(scene: Scene) -> None:
    for query in ("getUserName", "server", "検索", "user_name", "firewa*"):
        assert sessions(scene.slowly(query, "everything")) == sessions(scene.find(query))


@pytest.mark.parametrize(("mode", "pattern"), [("regex", "a("), ("regex", "["), ("substring", ""), ("everything", "")])
def test_mistakes(scene: Scene, mode: str, pattern: str) -> None:
    with pytest.raises(QueryError) as caught:
        scene.slowly(pattern, mode)
    assert caught.value.hint is not None


def test_the_place_of_a_mistake_in_an_expression(scene: Scene) -> None:
    with pytest.raises(QueryError) as caught:
        scene.slowly("cats (dogs", "regex")
    assert caught.value.place == (5, 6)


def test_an_expression_that_would_never_end_is_ended(tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    builder.session("/w/app", session_id=session(7)).user("a" * 64)
    catalogue = Catalogue.open(tmp_path / "index")
    bring_up_to_date(catalogue, [Home(builder.write())])
    with pytest.raises(QueryError) as caught:
        list(scan_by_regex(str(catalogue.path), [1], "", "(a+)+b", silence=2.0))
    assert caught.value.slug == "slow-regex"


def test_a_child_that_dies_is_told(tmp_path: Path) -> None:
    from recollect.errors import RecollectError

    with pytest.raises(RecollectError, match="ended early"):
        list(scan_by_regex(str(tmp_path / "no.sqlite"), [1], "", "a"))


def test_bytes_that_cannot_hold_it_are_not_decoded() -> None:
    matcher = Substring("Foo-Bar_bazinga")
    assert matcher.may_hold(b'{"x":"... FOO-BAR_BAZINGA"}')
    assert not matcher.may_hold(b'{"x":"foo-bar"}')
    assert Substring("->").may_hold(b"")
    assert Substring("ä1").may_hold(b'"\\u00c41"')


def test_strings_of_everything_are_not_base64() -> None:
    value = {"a": ["one", {"b": "two"}], "data": "QUJD" * 2000, "long": "word " * 2000}
    assert all_strings(json.dumps(value).encode()).startswith("one\ntwo\nword ")


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[1]", b"null", b'{"type":"user"}', b'{"type":"user","message":3}', b"\xff"]
)
def test_entries_without_words_have_none(data: bytes) -> None:
    assert searched_text(data) == ""
