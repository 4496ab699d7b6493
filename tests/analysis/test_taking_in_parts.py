"""A store that is taken in piece by piece gives the same calls as one that is taken in at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analysis.scene import Entry, Scene, tokens

from recollect.analysis.cost import usual_prices
from recollect.index.api_calls import sync
from recollect.index.api_calls.sync import sync_calls
from recollect.library.usage import SyncLag


@pytest.fixture(autouse=True)
def small_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync, "BUFFER", 4096)


def fill(scene: Scene) -> None:
    """Files of many buffers, with blank lines wherever a piece may end, a line longer than a buffer, and calls in two files."""
    for name in ("a", "b", "c"):
        entries: list[Entry | str] = []
        for number in range(60):
            answer = scene.answer(f"msg_{name}{number}", tokens(1, number), request=f"r{number}", session=name)
            answer["message"]["content"][0]["text"] = "x" * (9000 if number == 7 else 300)
            entries += [answer, "", ""]
        scene.write(name, *entries, scene.answer("msg_everywhere", tokens(5, 5), session="a"))


def read(scene: Scene, index: Path) -> list[tuple[object, ...]]:
    with scene.open(folder=index) as ledger:
        found = ledger.calls()
        return sorted((item.path, item.line, item.message_id, item.counts, item.copies) for item in found)


@pytest.mark.parametrize("most", [0, 1, 5000, 20_000])
def test_in_pieces_or_at_once(scene: Scene, tmp_path: Path, most: int) -> None:
    fill(scene)
    pieces = 0
    with scene.open(folder=tmp_path / "pieces") as ledger:
        while True:
            pieces += 1
            report = sync_calls(ledger.catalogue, ledger.homes, usual_prices(), most_bytes=most)
            if not report.left:
                break
            assert report.bytes > 0, "no piece may come no further"
    assert pieces > 3
    assert read(scene, tmp_path / "pieces") == read(scene, tmp_path / "whole") != []


def test_a_whole_sync_goes_on_where_a_piece_ended(scene: Scene, tmp_path: Path) -> None:
    fill(scene)
    with scene.open(folder=tmp_path / "pieces") as ledger:
        assert sync_calls(ledger.catalogue, ledger.homes, usual_prices(), most_bytes=9000).left
    assert read(scene, tmp_path / "pieces") == read(scene, tmp_path / "whole")


def test_a_blank_line_that_comes_later_is_a_line(scene: Scene, tmp_path: Path) -> None:
    scene.write("a", scene.answer("msg_1", tokens(1, 1)))
    with scene.open(folder=tmp_path / "grown") as ledger:
        ledger.sync()
    scene.append("a", "", scene.answer("msg_2", tokens(1, 1)))
    assert [line for _, line, *_ in read(scene, tmp_path / "grown")] == [1, 3]


def test_marks() -> None:
    assert SyncLag().mark(0) == "" == SyncLag(10).mark(11)
    assert SyncLag(10).mark(10) == "≥"
    assert SyncLag(10, may_be_less=True).mark(10) == "~"
