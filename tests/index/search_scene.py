"""A home with something to find in every way, and a search over it."""

from __future__ import annotations

from pathlib import Path

from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.sync import bring_up_to_date
from recollect.index.search.results import SearchResults
from recollect.index.search.search import Search
from recollect.index.search.slow_search import find_slowly
from recollect.index.words.reader import WordReader
from recollect.store.home import Home
from recollect.testing import HomeBuilder
from recollect.testing.toolcalls import bash, failed, read

APP, SITE = "/w/app", "/w/site"


def build_home(root: Path) -> HomeBuilder:
    home = HomeBuilder(root)
    first = home.session(APP, start="2026-01-10T09:00:00Z", git_branch="main", session_id=session(1))
    first.user("Why is the connection refused by the database?")
    first.call(read("/w/app/src/db.py", "def getUserName(user_id):\n    return HTTPServer(user_name)\n"))
    first.assistant(
        "The port is wrong; I will fix `connect_timeout`.", thinking="Perhaps a firewall swallowed the packets."
    )
    first.call(bash("pytest -x tests/test_db.py", stdout="1 passed"))
    first.title("Database trouble")

    second = home.session(APP, start="2026-02-20T09:00:00Z", git_branch="feature/login", session_id=session(2))
    second.user("日本語のテキストを検索する")
    pooled = second.assistant("The connection is pooled now.\n```python\npool = Pool()\n```", model="claude-opus-4-5")
    second.user("Actually, remove the giraffe.")
    second.assistant("Giraffe removed.")
    second.rewind(pooled)
    second.user("Keep the zebra.")
    second.assistant("The zebra stays.")

    third = home.session(SITE, start="2026-03-05T09:00:00Z", session_id=session(3))
    third.user("Deploy the site, refused twice: a connection problem?")
    third.call(failed("Bash", {"command": "make deploy"}, "ssh: no route to host"))
    helper = third.subagent("Look for the deployment key")
    helper.assistant("The badger knows where the key is.")
    helper.finish("found")
    third.attachment("prompt_snapshot", content="You are a walrus and nobody sees this.")
    third.user("<reminder>only the model reads about the ocelot</reminder>", meta=True)
    return home


def session(number: int) -> str:
    return f"{number}0000000-0000-4000-8000-000000000000"


class Scene:
    """The home, indexed."""

    def __init__(self, root: Path) -> None:
        self.builder = build_home(root / "claude")
        self.home = Home(self.builder.write())
        self.catalogue = Catalogue.open(root / "index")
        self.sync()

    def sync(self) -> None:
        bring_up_to_date(self.catalogue, [self.home])
        self.words = WordReader(str(self.catalogue.words_folder))
        self.search = Search(self.catalogue.connection, self.words, [1])

    def find(self, query: str, **options: object) -> SearchResults:
        options.setdefault("now", 4_000_000_000.0)
        return self.search.find(query, **options)  # type: ignore[arg-type]

    def slowly(self, query: str, mode: str, **options: object) -> SearchResults:
        return find_slowly(
            self.catalogue.connection,
            [1],
            query,
            mode=mode,
            tokenize=self.words.tokenize,
            **options,  # type: ignore[arg-type]
        )


def sessions(found: SearchResults) -> list[int]:
    """Which of the sessions were found, in order, by their numbers."""
    return [int(item.session_id[0]) for item in found.sessions]


def marked(found: SearchResults) -> set[str]:
    """The words that are marked in the snippets."""
    return {text for item in found.sessions for hit in item.hits for text, is_mark in hit.snippet.pieces() if is_mark}
