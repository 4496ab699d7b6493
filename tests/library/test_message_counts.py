"""Numbers of lines and messages in lists of stores that are too large to be read for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.running import run

from recollect.environment import own_folder
from recollect.library import session_lists
from recollect.library.library import Library, open_library
from recollect.testing import HomeBuilder, build_demo_home
from recollect.testing.toolcalls import bash


@pytest.fixture
def library(tmp_path: Path) -> Library:
    build_demo_home(tmp_path / "claude")
    return open_library([tmp_path / "claude"])


def counts(library: Library, *, count: bool | None = None) -> dict[str, tuple[int | None, int | None, int]]:
    return {item.session_id: (item.lines, item.messages, item.subagents) for item in library.sessions(count=count)}


def test_a_large_store_has_the_counts_of_the_index(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = counts(library, count=True)
    monkeypatch.setattr(session_lists, "COUNT_BUDGET", 0)
    assert {found[1] for found in counts(library).values()} - {0} == {None}
    library.index()
    found = counts(library)
    assert [key for key, value in found.items() if value[1] is not None and value != exact[key]] == []
    whole = {
        file.session_id for file in library.files() if file.path.read_bytes().endswith(b"\n")
    }  # of the others the index waits for the end of the last line
    assert {key for key, value in found.items() if value[1] is not None} >= whole
    assert len(whole) > 5


def test_what_grew_since_is_read_while_that_is_little(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.index()
    chosen = max(
        (file for file in library.files() if file.path.read_bytes().endswith(b"\n")), key=lambda file: file.size
    )
    first = chosen.path.read_bytes().splitlines(keepends=True)
    row = next(line for line in first if b'"type":"user"' in line)
    with chosen.path.open("ab") as stream:
        stream.write(row)
    library.refresh()
    exact = counts(library, count=True)
    odd = sum(file.size for file in library.files() if not file.path.read_bytes().endswith(b"\n"))
    monkeypatch.setattr(session_lists, "COUNT_BUDGET", chosen.size + len(row) + odd)
    assert counts(library) == exact
    monkeypatch.setattr(session_lists, "COUNT_BUDGET", chosen.size)
    assert counts(library)[chosen.session_id][1] is None


@pytest.mark.parametrize("damage", [b"no database", b""])
def test_a_damaged_index_counts_nothing_and_breaks_nothing(
    library: Library, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    library.index()
    monkeypatch.setattr(session_lists, "COUNT_BUDGET", 0)
    for file in (own_folder("cache") / "index").glob("catalogue.sqlite*"):
        file.unlink()
    (own_folder("cache") / "index" / "catalogue.sqlite").write_bytes(damage)
    assert {found[1] for found in counts(library).values()} - {0} == {None}


def test_the_command_sorts_by_the_counts_of_the_index_and_says_what_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = HomeBuilder(tmp_path / "claude")
    for turns in (2, 9, 5):
        t = home.session(f"/home/ada/code/with-{turns}")
        for number in range(turns):
            t.user(f"Question {number}")
            t.call(bash("ls", "x" * 100 * (10 - turns)))
    root = home.write()
    monkeypatch.setattr(session_lists, "COUNT_BUDGET", 0)
    unknown = run(capsys, root, "list", "--sort", "messages")
    assert "msgs is empty for 3 sessions that the index has not read" in unknown.err
    assert run(capsys, root, "index").code == 0
    known = run(capsys, root, "list", "--sort", "messages")
    assert known.err == ""
    places = [known.out.index(f"with-{turns}") for turns in (9, 5, 2)]
    assert places == sorted(places)
