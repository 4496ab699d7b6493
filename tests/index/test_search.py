"""The search by words: what is found by what, in which order, and what is told where nothing is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.index.search_scene import APP, Scene, marked, session, sessions

from recollect.errors import QueryError
from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.change_check import changed_homes, folder_times, remember
from recollect.index.catalogue.sync import bring_up_to_date
from recollect.index.search.search import Search, _bonus
from recollect.index.words.reader import WordReader
from recollect.store.home import Home
from recollect.testing import HomeBuilder


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    made = Scene(tmp_path_factory.mktemp("search"))
    yield made
    made.search.close()
    made.catalogue.close()


@pytest.mark.parametrize(
    ("query", "found", "marks"),
    [
        ("firewall", [1], {"firewall"}),
        ("FIREWALL", [1], {"firewall"}),
        ("connection refused", [1, 3], {"connection", "refused"}),
        ('"connection refused"', [1], {"connection refused"}),
        ("firewa*", [1], {"firewall"}),
        ('"connection ref"*', [1], {"connection refused"}),
        ("connection -refused", [2], {"connection"}),
        ('connection -"connection refused"', [2, 3], {"connection"}),
        ("firewall OR zebra", [1, 2], {"firewall", "zebra"}),
        ("(firewall OR zebra) -stays", [1, 2], {"firewall", "zebra"}),
        # Identifiers, whole and by part.
        ("getUserName", [1], {"getUserName"}),
        ("user_name", [1], {"UserName", "user_name"}),
        ("server", [1], {"Server"}),
        ("HTTPServer", [1], {"HTTPServer"}),
        ("http", [1], {"HTTP"}),
        ("src/db.py", [1], {"src/db.py"}),
        ("connect_timeout", [1], {"connect_timeout"}),
        # CJK, by characters.
        ("検索", [2], {"検索"}),
        ("日本", [2], {"日本"}),
        ("索検", [], set()),
        # What people said and saw: titles, thinking, tool inputs and outputs, subagents.
        ("trouble", [1], {"trouble"}),
        ("swallowed", [1], {"swallowed"}),
        ("pytest", [1], {"pytest"}),
        ('"no route"', [3], {"no route"}),
        ("badger", [3], {"badger"}),
        ("giraffe", [2], {"giraffe", "Giraffe"}),
        # What only the model saw is not there.
        ("walrus", [], set()),
        ("ocelot", [], set()),
    ],
)
def test_words(scene: Scene, query: str, found: list[int], marks: set[str]) -> None:
    answer = scene.find(query)
    assert sorted(sessions(answer)) == found
    assert marked(answer) == marks
    assert (answer.total > 0) is bool(found)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("project:app", [1, 2]),
        ("project:/w/app", [1, 2]),
        ("project:APP", [1, 2]),
        ("project:/w", [1, 2, 3]),
        ("-project:app", [3]),
        ("project:(app|site) connection", [1, 2, 3]),
        (f"session:{session(2)}", [2]),
        ("session:2000", [2]),
        ('session:"database trouble"', [1]),
        ("role:user connection", [1, 3]),
        ("role:assistant connection", [2]),
        ("role:title", [1]),
        ("tool:Read", [1]),
        ("tool:bash", [1, 3]),
        ("tool:ba*", [1, 3]),
        ("connection model:opus-4-5", [2]),
        ("file:db.py", [1]),
        ("file:src/db.py", [1]),
        ("file:/w/app/src/db.py", [1]),
        ("file:other.py", []),
        ("branch:feature/login", [2]),
        ("branch:feature*", [2]),
        ("connection before:2026-02-01", [1]),
        ("connection after:2026-02-01", [2, 3]),
        ("connection after:2026-02-01 before:2026-03-01", [2]),
        ("has:code", [2]),
        ("has:error", [3]),
        ("has:thinking", [1]),
        ("has:image", []),
        ("giraffe status:abandoned", [2]),
        ("giraffe status:live", []),
        ("zebra status:live", [2]),
        ("badger status:subagent", [3]),
        ("giraffe -status:abandoned", []),
        ("giraffe OR status:subagent", [2, 3]),
        ("(giraffe OR badger) (status:subagent OR role:user)", [2, 3]),
        ("(giraffe OR zebra) -(status:live OR has:image)", [2]),
        ("badger NOT (status:live OR status:abandoned)", [3]),
        ("(giraffe status:live) OR (badger status:(live|subagent))", [3]),
        ("status:precompact OR firewall", [1]),
        ("*", [1, 2, 3]),
    ],
)
def test_filters(scene: Scene, query: str, found: list[int]) -> None:
    assert sorted(sessions(scene.find(query))) == found


def test_a_hit_says_where_it_is(scene: Scene) -> None:
    (item,) = scene.find("firewall").sessions
    (hit,) = item.hits
    line = (scene.home.root / "projects" / "-w-app" / f"{session(1)}.jsonl").read_bytes().splitlines()[hit.line - 1]
    assert b"firewall" in line
    assert hit.uuid is not None
    assert hit.uuid.encode() in line
    assert (item.session_id, item.project, item.title, item.hit_count) == (session(1), APP, "Database trouble", 1)
    assert item.path == os.path.realpath(scene.home.root / "projects" / "-w-app" / f"{session(1)}.jsonl")
    assert (hit.role, hit.subagent_id) == ("assistant", None)
    assert item.open_command(hit) == ["show", "10000000", "--line", str(hit.line)]


def test_a_hit_in_a_subagent_belongs_to_its_session(scene: Scene) -> None:
    (item,) = scene.find("badger").sessions
    (hit,) = item.hits
    assert item.session_id == session(3)
    assert hit.in_subagent_file
    assert hit.subagent_id is not None
    assert item.open_command(hit) == ["show", "30000000", "--subagent", hit.subagent_id, "--line", str(hit.line)]


def test_order_by_date(scene: Scene) -> None:
    assert sessions(scene.find("connection", sort="date")) == [3, 2, 1]


def test_fewer_than_four_characters_of_an_id_name_no_session(scene: Scene) -> None:
    assert sessions(scene.find("session:2000")) == [2]
    assert sessions(scene.find("session:200")) == []
    assert sessions(scene.find("session:2")) == []


@pytest.mark.parametrize(("days", "bonus"), [(-1, 1.5), (0, 1.5), (30, 1.25), (60, 1.125), (90, 1.0625)])
def test_half_of_the_bonus_for_being_new_is_gone_after_thirty_days(days: int, bonus: float) -> None:
    now = 1_772_701_300
    assert _bonus((now - days * 86_400) * 1_000_000, now) == pytest.approx(bonus)
    assert _bonus(None, now) == 1.0


def test_newer_counts_for_more_but_not_for_all(scene: Scene) -> None:
    # Session 1 says it in a short sentence, session 3 in a longer one.
    long_after = sessions(scene.find("connection refused"))
    right_after_the_third = sessions(scene.find("connection refused", now=1_772_701_300.0))
    assert long_after == [1, 3]
    assert right_after_the_third == [3, 1]


def test_pages(scene: Scene) -> None:
    whole = sessions(scene.find("connection"))
    first = scene.find("connection", limit=1)
    assert (sessions(first), first.more) == (whole[:1], True)
    rest = scene.find("connection", limit=5, offset=1)
    assert (sessions(rest), rest.more) == (whole[1:], False)
    assert sessions(scene.find("connection", offset=3)) == []


def test_hits_per_session(scene: Scene) -> None:
    (item,) = scene.find("the session:1000", hits_per_session=1).sessions
    assert len(item.hits) == 1
    assert item.hit_count > 1


def test_facets(scene: Scene) -> None:
    facets = scene.find("connection", facets=True).facets
    assert facets is not None
    assert facets["projects"] == {"/w/app": 2, "/w/site": 1}
    assert facets["models"] == {"claude-opus-4-5": 1}
    assert facets["months"] == {"2026-03": 1, "2026-02": 1, "2026-01": 1}
    tools = scene.find("*", facets=True).facets
    assert tools is not None
    assert set(tools["tools"]) == {"Bash", "Read", "Agent"}


@pytest.mark.parametrize(
    ("query", "advice"),
    [
        ("firewal", "no entry has the word 'firewal'; there is firewall"),
        ("xyzzyqq", "no entry has the word 'xyzzyqq'"),
        ("connection project:apq", "no project fits 'apq'; there is /w/app"),
        ("connection tool:Bush", "no tool fits 'Bush'; there is Bash"),
        ("firewall has:image", "without has:image 1 entry fits"),
        ("firewall zebra", "without firewall 2 entries fit"),
    ],
)
def test_advice_where_nothing_is_found(scene: Scene, query: str, advice: str) -> None:
    found = scene.find(query)
    assert (found.total, found.sessions) == (0, [])
    assert advice in found.advice


@pytest.mark.parametrize("query", ["", "   ", "->", "!!! ???"])
def test_queries_without_any_word_are_refused(scene: Scene, query: str) -> None:
    with pytest.raises(QueryError):
        scene.find(query)


@pytest.mark.parametrize(
    ("query", "found", "marks"),
    [
        ("getusername", [1], {"getUserName"}),
        ("username", [1], {"UserName", "user_name"}),
        ("httpserver connecttimeout", [], set()),
        ("httpserver", [1], {"HTTPServer"}),
        ("CONNECTTIMEOUT", [1], {"connect_timeout"}),
        ("userzebra", [], set()),
    ],
)
def test_identifiers_in_one_case_are_found_by_their_parts(
    scene: Scene, query: str, found: list[int], marks: set[str]
) -> None:
    answer = scene.find(query)
    assert sorted(sessions(answer)) == found
    assert marked(answer) == marks


def test_a_word_that_was_looked_for_in_parts_is_told(scene: Scene) -> None:
    assert scene.find("getusername").notes == ("no entry has the word 'getusername': looked for 'get user name'",)
    assert scene.find("firewall").notes == ()


def test_signs_beside_words_are_left_out_and_said_so(scene: Scene) -> None:
    found = scene.find("firewall ->")
    assert sessions(found) == [1]
    assert found.notes == ("'->' has no letters or digits and was left out",)


def test_status_counts_in_totals_and_facets(scene: Scene) -> None:
    everywhere = scene.find("*", facets=True)
    subagents = scene.find("status:subagent", facets=True)
    assert everywhere.facets is not None
    assert subagents.facets is not None
    assert 0 < subagents.total < everywhere.total
    assert subagents.exact
    assert sum(subagents.facets["projects"].values()) == subagents.total


def test_status_follows_a_session_that_grows(tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    talk = builder.session("/w/app", start="2026-01-10T09:00:00Z")
    talk.user("Plant an oak.")
    planted = talk.assistant("An oak it is.")
    talk.user("Paint the oak.")
    home = Home(builder.write())
    with Catalogue.open(tmp_path / "index") as catalogue:
        bring_up_to_date(catalogue, [home], statuses=True)
        search = Search(catalogue.connection, WordReader(str(catalogue.words_folder)), [1])
        assert search.find("paint (status:live OR zebra)").total == 1
        assert search.find("oak -(status:abandoned OR zebra)").total == 3
        talk.rewind(planted)
        talk.user("Water it instead.")
        builder.write()
        report = bring_up_to_date(catalogue, [home], statuses=True)
        assert report.threaded == 1
        search.refresh()
        assert search.find("paint (status:live OR zebra)").total == 0
        assert search.find("paint (status:abandoned OR zebra)").total == 1
        assert search.find("oak -(status:abandoned OR zebra)").total == 2
        search.close()


def test_a_home_that_is_not_open_is_not_searched(scene: Scene) -> None:
    from recollect.index.search.search import Search

    with Search(scene.catalogue.connection, scene.words, [99]) as search:
        assert search.find("connection").sessions == []


def test_counts_and_facets_are_of_the_open_homes(tmp_path: Path) -> None:
    homes = []
    for name in ("one", "two"):
        builder = HomeBuilder(tmp_path / name)
        talk = builder.session(f"/w/{name}", start="2026-01-10T09:00:00Z")
        for number in range(3):
            talk.user(f"the heron of {name}, {number}")
        homes.append(Home(builder.write()))
    with Catalogue.open(tmp_path / "index") as catalogue:
        bring_up_to_date(catalogue, homes)
        number = catalogue.home_id(homes[1].real_root) or 0
        with Search(catalogue.connection, WordReader(str(catalogue.words_folder)), [number]) as search:
            for query in ("heron", "heron OR status:live", "-badger", "her*"):
                found = search.find(query, facets=True)
                assert (found.total, found.exact) == (3, True)
                assert found.facets is not None
                assert found.facets["projects"] == {"/w/two": 3}
            assert search.find("heron one").advice == ("without one 3 entries fit",)


def test_by_date_no_score_is_given(scene: Scene) -> None:
    found = scene.find("database", sort="date")
    assert {hit.score for item in found.sessions for hit in item.hits} == {0.0}


def test_a_transcript_that_vanished_after_the_sync_gives_an_empty_snippet(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    (scene.home.root / "projects" / "-w-app" / f"{session(1)}.jsonl").unlink()
    (item,) = scene.find("firewall").sessions
    assert [hit.snippet.text for hit in item.hits] == [""]
    scene.sync()
    assert scene.find("firewall").sessions == []


class TestFreshness:
    """Whether a search may do without a sync."""

    def known(self, scene: Scene) -> bool:
        return changed_homes(scene.catalogue.connection, [scene.home.real_root], most=0) is not None

    def settled(self, tmp_path: Path) -> Scene:
        scene = Scene(tmp_path)
        for folder, _, _ in os.walk(scene.home.root):
            os.utime(folder, (1_700_000_000, 1_700_000_000))
        assert remember(scene.catalogue.connection, scene.home.real_root, folder_times(scene.home))
        return scene

    def test_nothing_is_known_before_it_was_noted(self, tmp_path: Path) -> None:
        assert not self.known(Scene(tmp_path))

    def test_nothing_changed(self, tmp_path: Path) -> None:
        assert self.known(self.settled(tmp_path))

    @pytest.mark.parametrize(
        "change", ["grow", "rewrite", "same size and time", "new", "new folder", "delete", "new subagent", "touch"]
    )
    def test_every_change_is_seen(self, tmp_path: Path, change: str) -> None:
        scene = self.settled(tmp_path)
        projects = scene.home.root / "projects"
        path = projects / "-w-app" / f"{session(1)}.jsonl"
        if change == "grow":
            path.write_bytes(path.read_bytes() + b"{}\n")
        elif change == "rewrite":
            other = path.with_suffix(".new")
            other.write_bytes(path.read_bytes())
            os.utime(other, ns=(path.stat().st_mtime_ns, path.stat().st_mtime_ns))
            other.rename(path)
        elif change == "same size and time":
            before = path.stat().st_mtime_ns
            path.write_bytes(path.read_bytes().replace(b"e", b"E"))
            os.utime(path, ns=(before, before))
        elif change == "new":
            (projects / "-w-app" / f"{session(9)}.jsonl").write_bytes(b"{}\n")
        elif change == "new folder":
            (projects / "-w-new").mkdir()
        elif change == "delete":
            path.unlink()
        elif change == "new subagent":
            (projects / "-w-site" / session(3) / "subagents" / "agent-a1.jsonl").write_bytes(b"{}\n")
        else:
            os.utime(path)
        assert not self.known(scene)

    def test_a_sync_makes_the_note_worthless(self, tmp_path: Path) -> None:
        scene = self.settled(tmp_path)
        with scene.catalogue.transaction():
            scene.catalogue.set_note("change", 77)
        assert not self.known(scene)

    def test_a_damaged_note_is_no_note(self, tmp_path: Path) -> None:
        scene = self.settled(tmp_path)
        for value in (b"", b"\x00", b"garbage", "text", 3):
            scene.catalogue.set_note("seen:1", value)
            assert not self.known(scene)

    def test_a_folder_written_to_this_moment_is_not_relied_on(self, tmp_path: Path) -> None:
        scene = self.settled(tmp_path)
        os.utime(scene.home.root / "projects" / "-w-app")
        folders = folder_times(scene.home)
        assert not remember(scene.catalogue.connection, scene.home.real_root, folders)

    def test_links_are_not_relied_on(self, tmp_path: Path) -> None:
        scene = self.settled(tmp_path)
        (scene.home.root / "projects" / "-linked").symlink_to("-w-app")
        assert folder_times(scene.home) is None
