"""A folder of pages for many sessions: its indexes, and that only what changed is written again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from tests.export.outputs import FolderOutput

from recollect.export import html
from recollect.export.document import Document, ExportOptions
from recollect.export.formats import SiteSession
from recollect.export.site import write_site
from recollect.library.library import Library, open_library
from recollect.testing import HomeBuilder

OPTIONS = ExportOptions()


@pytest.fixture
def library(tmp_path: Path) -> Library:
    home = HomeBuilder(tmp_path / "claude")
    for number in range(4):
        t = home.session("/work/app" if number % 2 else "/work/<b>notes</b>")
        t.user(f"A question about lanterns {number}")
        t.assistant("An answer " + "long " * number)
        t.title(f"Session {number} </a>")
    return open_library([str(home.write())])


def opening(library: Library, session_id: str) -> Callable[[], AbstractContextManager[Document]]:
    @contextmanager
    def make() -> Iterator[Document]:
        with library.session(session_id) as session:
            yield Document(session, OPTIONS)

    return make


def refuse() -> AbstractContextManager[Document]:
    raise AssertionError("an unchanged session is not opened")


def test_each_session_has_a_page_and_both_indexes_lead_there(library: Library, tmp_path: Path) -> None:
    ids = [item.session_id for item in library.sessions()]
    out = FolderOutput(tmp_path / "site")
    write_site([SiteSession(item, None, opening(library, item)) for item in ids], out, OPTIONS)
    assert {name for name in out.files if name.endswith(".html")} == {
        "index.html", "days.html", *(f"sessions/{item}.html" for item in ids),
    }  # fmt: skip
    for name in ("index.html", "days.html"):
        text = out.text(name)
        assert all(f'href="sessions/{item}.html"' in text for item in ids)
        assert all(f"sessions/{item}.search-001.js" in text for item in ids)
        assert "4 sessions of 2 projects" in text
        assert "<b>notes" not in text
        assert "</a>" in text
        assert "Session 1 &lt;/a&gt;" in text
    page = out.text(f"sessions/{ids[0]}.html")
    assert 'href="../index.html"' in page
    assert "lanterns" in out.text(f"sessions/{ids[0]}.search-001.js")


def test_unchanged_sessions_are_neither_opened_nor_written(library: Library, tmp_path: Path) -> None:
    ids = [item.session_id for item in library.sessions()]
    first = FolderOutput(tmp_path / "site")
    write_site([SiteSession(item, None, opening(library, item)) for item in ids], first, OPTIONS)
    again = FolderOutput(tmp_path / "again")
    write_site([SiteSession(item, first.remembered[item][0], refuse) for item in ids], again, OPTIONS)
    assert sorted(again.files) == ["days.html", "index.html"]
    assert all(again.files[name] == first.files[name] for name in again.files)
    assert again.remembered == first.remembered


def test_a_session_of_another_layout_is_written_again(library: Library, tmp_path: Path) -> None:
    ids = [item.session_id for item in library.sessions()]
    out = FolderOutput(tmp_path / "site")
    write_site([SiteSession(item, {"layout": 0}, opening(library, item)) for item in ids], out, OPTIONS)
    assert f"sessions/{ids[0]}.html" in out.files


def test_a_long_session_is_a_folder_within_the_site(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "MOST_MESSAGES", 1)
    chosen = next(iter(library.sessions())).session_id
    out = FolderOutput(tmp_path / "site")
    write_site([SiteSession(chosen, None, opening(library, chosen))], out, OPTIONS)
    assert f'href="sessions/{chosen}/index.html"' in out.text("index.html")
    assert 'href="../../index.html"' in out.text(f"sessions/{chosen}/index.html")
    assert f"sessions/{chosen}/search-001.js" in out.text("index.html")


def test_no_sessions_make_an_empty_site(tmp_path: Path) -> None:
    out = FolderOutput(tmp_path / "site")
    write_site([], out, OPTIONS)
    assert "No sessions." in out.text("index.html")
