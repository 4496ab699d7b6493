"""Sessions that a home has lost stay in every answer while the vault has them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.running import run
from tests.vault.scene import OTHER, SESSION, build_home

import recollect
from recollect.environment import own_folder
from recollect.index.catalogue.vault_transcripts import DEVICE
from recollect.library.library import Library
from recollect.store.home import Home
from recollect.vault.capture import capture
from recollect.vault.vault import Vault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "claude"
    build_home(root)
    return root


def keep(root: Path) -> None:
    capture(Vault(own_folder("data") / "vault"), Home(root))


def lose(root: Path) -> None:
    for path in (root / "projects").glob(f"*/{SESSION}*"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def found(library: Library, query: str, mode: str = "words") -> list[tuple[str, str]]:
    answer = library.search(query, mode=mode)
    return [(session.session_id, hit.snippet.text) for session in answer.sessions for hit in session.hits]


WAYS: dict[str, Callable[[Library], list[tuple[str, str]]]] = {
    "words": lambda library: found(library, "bread"),
    "substring": lambda library: found(library, "and brea", "substring"),
    "regex": lambda library: found(library, "Milk .nd", "regex"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("indexed_before", [True, False])
def test_a_lost_session_is_found(root: Path, way: str, indexed_before: bool) -> None:
    if indexed_before:
        recollect.open(root).index()
    keep(root)
    lose(root)
    answers = WAYS[way](recollect.open(root))
    assert [(session, "Milk and bread" in text) for session, text in answers] == [(SESSION, True)]


def test_without_a_vault_it_is_gone(root: Path) -> None:
    recollect.open(root).index()
    lose(root)
    assert found(recollect.open(root), "bread") == []


def test_it_is_there_once_before_and_after_and_back_again(root: Path) -> None:
    keep(root)
    library = recollect.open(root)
    assert len(found(library, "bread")) == 1
    copy = root.parent / "copy"
    shutil.copytree(root, copy)
    lose(root)
    assert len(found(recollect.open(root), "bread")) == 1
    shutil.rmtree(root)
    shutil.copytree(copy, root)
    library = recollect.open(root)
    assert len(found(library, "bread")) == 1
    assert library.catalogue.connection.execute("SELECT count(*) FROM files WHERE device = ?", (DEVICE,)).get == 0


def test_a_second_look_reads_nothing(root: Path) -> None:
    keep(root)
    lose(root)
    first = recollect.open(root).index()
    again = recollect.open(root).index()
    assert first.lines > 0
    assert (again.lines, again.files) == (0, 0)


def test_subagents_of_it_too(root: Path) -> None:
    keep(root)
    lose(root)
    assert {session for session, _ in found(recollect.open(root), '"anything else"')} == {SESSION}


def test_sql_and_the_command_line_know_it(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(root)
    lose(root)
    answer = recollect.open(root).sql(f"SELECT count(*) FROM sessions WHERE session_id IN ('{SESSION}', '{OTHER}')")
    assert [tuple(row) for row in answer.rows] == [(2,)]
    for _ in range(2):  # the second time without a sync
        ran = run(capsys, root, "--json", "search", "bread")
        assert ran.code == 0
        assert [row["session_id"] for row in ran.data["rows"]] == [SESSION]


def test_a_damaged_vault_hides_no_live_session(root: Path) -> None:
    keep(root)
    lose(root)
    for path in (own_folder("data") / "vault" / "packs").iterdir():
        data = bytearray(path.read_bytes())
        data[len(data) // 3 : len(data) // 2] = bytes(len(data) // 2 - len(data) // 3)
        path.write_bytes(data)
    assert {session for session, _ in found(recollect.open(root), "hello")} == {OTHER}
