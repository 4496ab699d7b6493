"""Objects over several lines in index, usage and summaries: what the same objects say on one line each, however they come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.index.syncing import Index, small_home

from recollect.analysis.cost import usual_prices
from recollect.index.api_calls.sync import sync_calls
from recollect.index.catalogue.catalogue import Catalogue
from recollect.store.home import Home
from recollect.store.scan import scan_home
from recollect.store.summary import summarise


def spread(data: bytes) -> bytes:
    """The same objects, pretty-printed."""
    return b"".join(json.dumps(json.loads(line), indent=1).encode() + b"\n" for line in data.splitlines())


def transcripts(root: Path) -> list[Path]:
    return sorted(root.glob("projects/**/*.jsonl"))


def calls(catalogue: Catalogue) -> list[Any]:
    rows = catalogue.connection.execute(
        "SELECT message_id, time, input, output, flags, cost FROM api_calls ORDER BY 1, 2"
    )
    return list(rows.fetchall())


@pytest.fixture
def plain_and_spread(tmp_path: Path) -> tuple[Path, Path]:
    roots = tmp_path / "plain", tmp_path / "spread"
    for root in roots:
        small_home(root).write()
    for path in transcripts(roots[1]):
        path.write_bytes(spread(path.read_bytes()))
    return roots


def test_the_index_says_the_same(plain_and_spread: tuple[Path, Path], tmp_path: Path) -> None:
    plain, other = (Index(root, tmp_path / f"of-{root.name}") for root in plain_and_spread)
    plain.sync()
    other.sync()
    columns = "session_id, project, title, first_prompt, messages, prompts, entries, damaged, threaded, reachable"
    for question in (
        f"SELECT {columns} FROM sessions ORDER BY 1",
        "SELECT uuid, type, status, time FROM entries ORDER BY uuid, type, time",
        "SELECT count(*) FROM damage",
    ):  # fmt: skip
        assert other.catalogue.connection.execute(question).fetchall() == (
            plain.catalogue.connection.execute(question).fetchall()
        )


def test_a_file_that_comes_in_pieces_is_in_the_index_as_one_that_came_at_once(tmp_path: Path) -> None:
    root = tmp_path / "claude"
    small_home(root, sessions=1).write()
    path = min(transcripts(root), key=lambda item: len(item.parts))
    plain = path.read_bytes()
    data = spread(plain) + plain + b'{"type":"user","message":\n' + spread(plain)
    path.write_bytes(b"")
    index = Index(root, tmp_path)
    for end in range(0, len(data), len(data) // 23):
        path.write_bytes(data[:end])
        index.sync()
        sync_calls(index.catalogue, [index.home], usual_prices())
    path.write_bytes(data)
    index.sync()
    sync_calls(index.catalogue, [index.home], usual_prices())
    assert index.told() == index.told_by_a_new_one()
    with Catalogue.open(tmp_path / "other") as fresh:
        sync_calls(fresh, [index.home], usual_prices())
        assert calls(fresh) == calls(index.catalogue) != []


def test_usage_counts_the_same_calls(plain_and_spread: tuple[Path, Path], tmp_path: Path) -> None:
    found = []
    for root in plain_and_spread:
        with Catalogue.open(tmp_path / f"index-{root.name}") as catalogue:
            sync_calls(catalogue, [Home(root)], usual_prices())
            begun = catalogue.connection.execute("SELECT begun FROM call_files ORDER BY 1").fetchall()
            found.append((calls(catalogue), begun))
    assert found[0] == found[1]
    assert found[0][0]


def test_a_summary_says_the_same(plain_and_spread: tuple[Path, Path]) -> None:
    found = []
    for root in plain_and_spread:
        summaries = [summarise(file, count=True) for file in scan_home(Home(root)).sessions]
        assert all(item.problem is None for item in summaries)
        found.append([
            (item.title, item.first_prompt, item.created, item.last_activity, item.messages, item.cwds, item.subagents)
            for item in sorted(summaries, key=lambda item: item.file.session_id)
        ])  # fmt: skip
    assert found[0] == found[1]
