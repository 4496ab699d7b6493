"""What a project's name means: every command, the query language, the library, the provider and the page agree."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.running import Ran, run
from tests.web.scene import Scene, scene

from recollect.index.search.filter_meaning import ProjectFilter
from recollect.library.library import open_library
from recollect.library.provider import ClaudeStorageProvider
from recollect.testing.demo import build_demo_home

TIDEPOOL = "/home/ada/code/tidepool"
WAYS = {
    "path": TIDEPOOL,
    "path with a slash": f"{TIDEPOOL}/",
    "as tables print it": "code/tidepool",
    "last folder": "tidepool",
    "in capitals": "TidePool",
    "path in capitals": TIDEPOOL.upper(),
    "folder below projects/": "-home-ada-code-tidepool",
    "star": "tide*",
}
PARENTS = {"path": "/home/ada/code", "name": "code", "in capitals": "ADA/Code"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("demo") / "claude"
    build_demo_home(root)
    return root


@pytest.fixture
def home(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "claude"))


@pytest.fixture
def page(home: Path, tmp_path: Path) -> Scene:
    return scene(home, tmp_path / "own")


Ask = Callable[[str], set[str]]


class Faces:
    """The same question to everybody who takes a project."""

    def __init__(self, home: Path, page: Scene, capsys: pytest.CaptureFixture[str]) -> None:
        self.home, self.page, self.capsys = home, page, capsys
        self.run("keep")

    def run(self, *arguments: str) -> Ran:
        return run(self.capsys, self.home, *arguments)

    def rows(self, *arguments: str) -> set[str]:
        return {row["session_id"] for row in self.run(*arguments, "--json").data["rows"]}

    def all_sessions(self) -> dict[str, Ask]:
        """Those that answer with every session of the project."""
        provider = ClaudeStorageProvider(self.home)
        library = open_library([self.home])
        return {
            "list": lambda asked: self.rows("list", "--project", asked),
            "search": lambda asked: self.rows("search", f'project:"{asked}"', "--limit", "1000"),
            "search --where": lambda asked: self.rows(
                "search", "*", "--where", f'project:"{asked}"', "--limit", "1000"
            ),
            "search --regex": lambda asked: self.rows(
                "search", "--regex", ".", "--where", f'project:"{asked}"', "--limit", "1000"
            ),
            "library": lambda asked: {item.session_id for item in library.sessions(project=asked)},
            "library search": lambda asked: {
                item.session_id for item in library.search(f'project:"{asked}"', limit=1000).sessions
            },
            "provider": lambda asked: {
                item["session_id"] for item in asyncio.run(provider.get_sessions(project_path=asked))
            },
            "page": lambda asked: {
                row["session_id"]
                for row in self.page.script.get("/api/v1/sessions", params={"project": asked, "limit": 500}).json()[
                    "rows"
                ]
            },
            "prune": lambda asked: {
                item["session_id"]
                for part in ("sessions", "left")
                for item in self.run("prune", "--project", asked, "--json").data[part]
            },
            "restore": lambda asked: set(
                self.run(
                    "restore", "--project", asked, "--to", str(self.home.parent / "new"), "--dry-run", "--json"
                ).data["sessions"]
            ),
        }

    def counts(self) -> dict[str, Callable[[str], int]]:
        """Those that tell only how many sessions they looked at."""
        return {
            "check": lambda asked: int(self.run("check", "--project", asked, "--json").data["checked"]),
        }

    def with_calls(self) -> dict[str, Ask]:
        """Those that know only sessions with calls to the API."""
        return {
            "usage": lambda asked: {
                row["session"]
                for row in self.run("usage", "--by", "session", "--project", asked, "--json").data["rows"]
            },
            "expensive": lambda asked: self.rows("expensive", "--project", asked, "--limit", "1000"),
        }


@pytest.fixture
def faces(home: Path, page: Scene, capsys: pytest.CaptureFixture[str]) -> Faces:
    return Faces(home, page, capsys)


@pytest.mark.parametrize(("names", "truth"), [(WAYS, TIDEPOOL), (PARENTS, "/home/ada/code")], ids=["project", "parent"])
def test_everybody_understands_the_same(faces: Faces, names: dict[str, str], truth: str) -> None:
    library = open_library([faces.home])
    every = library.sessions(count=False)
    expected = {item.session_id for item in every if (item.worktree_of or item.project or "").startswith(truth)}
    assert 0 < len(expected) < len(every)
    wrong = []
    for way, asked in names.items():
        wrong += [(name, way) for name, ask in faces.all_sessions().items() if ask(asked) != expected]
        wrong += [(name, way) for name, ask in faces.counts().items() if ask(asked) != len(expected)]
    assert wrong == []
    for name, ask in faces.with_calls().items():
        answers = [ask(asked) for asked in names.values()]
        assert answers[0] <= expected, name
        assert answers[0], name
        assert all(answer == answers[0] for answer in answers), name


def test_prompts_too(faces: Faces) -> None:
    answers = [
        [row["display"] for row in faces.run("history", "--project", asked, "--limit", "0", "--json").data["rows"]]
        for asked in WAYS.values()
    ]
    assert answers[0]
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("command", [("list",), ("usage",), ("expensive",), ("history",), ("prune",)], ids=" ".join)
def test_a_near_miss_is_answered_with_names(faces: Faces, command: tuple[str, ...]) -> None:
    ran = faces.run(*command, "--project", "tidepol")
    assert ran.code == 1
    assert f"no project fits 'tidepol'; did you mean {TIDEPOOL}?" in ran.err


@pytest.mark.parametrize("command", [("check",), ("repair",), ("migrate", "--to", "2.1"), ("restore",)], ids=" ".join)
def test_a_near_miss_is_an_error_where_something_is_to_be_done(faces: Faces, command: tuple[str, ...]) -> None:
    ran = faces.run(*command, "--project", "tidepol")
    assert ran.code == 3
    assert f"did you mean {TIDEPOOL}?" in ran.err


def test_search_names_them_as_well(faces: Faces) -> None:
    assert TIDEPOOL in faces.run("search", "project:tidepol").err


def test_resetting_a_project_leaves_those_below_and_beside_it(home: Path) -> None:
    provider = ClaudeStorageProvider(home)
    assert asyncio.run(provider.reset("/home/ada/code")) == 0
    assert asyncio.run(provider.reset(TIDEPOOL.upper())) == 0


class TestRule:
    @pytest.mark.parametrize(
        ("asked", "path", "fits"),
        [
            ("/w/app", "/w/app", True),
            ("/w/app", "/w/app/sub", True),
            ("/w/app", "/w/apple", False),
            ("/w/app/", "/w/app", True),
            ("/W/App", "/w/app", True),
            ("app", "/w/app", True),
            ("app", "/w/apple", False),
            ("app", "/w/my-app", False),
            ("w/app", "/v/w/app", True),
            ("w/app", "/vw/app", False),
            ("/w", "/w/app", True),
            ("/", "/w/app", True),
            ("", "/w/app", False),
            ("C:\\w\\app", "C:\\w\\App\\sub", True),
            ("C:/w/app", "C:\\w\\app", True),
            ("w\\app", "C:\\w\\app", True),
            ("app", "C:\\w\\app", True),
            ("-w-app", "/w/app", True),
            ("-W-App", "/w/app", True),
            ("-w-app", "/w/app2", False),
            ("C--w-app", "C:\\w\\app", True),
            ("ap*", "/w/app", True),
            ("ÄRGER", "/w/ärger", True),
            ("app", "/w/app/.claude/worktrees/x", True),
        ],
    )
    def test_what_fits(self, asked: str, path: str, fits: bool) -> None:
        assert ProjectFilter(asked).fits(path) is fits

    def test_places_of_this_machine(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = tmp_path / "code" / "app"
        folder.mkdir(parents=True)
        (tmp_path / "link").symlink_to(folder)
        monkeypatch.chdir(folder)
        monkeypatch.setenv("HOME", str(tmp_path))
        for asked in (".", "./", "~/code/app", "../app", "~", "..", str(tmp_path / "link")):
            assert ProjectFilter(asked).fits(str(folder)), asked
        assert not ProjectFilter("../other").fits(str(folder))

    def test_a_working_folder_that_was_removed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = tmp_path / "gone"
        folder.mkdir()
        monkeypatch.chdir(folder)
        folder.rmdir()
        assert not ProjectFilter("./app").fits("/w/app")
