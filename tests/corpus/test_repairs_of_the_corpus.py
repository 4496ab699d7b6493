"""Real transcripts: a repair loses no line of them, finds nothing the second time, and only ever brings back more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.edit.repair.repairing import repair, valid_lines

CORPUS = Path(os.environ.get("RECOLLECT_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")
LARGEST = 1 << 20

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real transcripts is not here"),
]

FILES = [path for path in sorted(CORPUS.rglob("*.jsonl")) if path.stat().st_size <= LARGEST] if CORPUS.is_dir() else []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_repair(path: Path) -> None:
    data = path.read_bytes()
    repaired = repair(data, stem=path.stem)
    assert not valid_lines(data) - valid_lines(repaired.after)
    assert repaired.was.reached <= repaired.now.reached
    assert repaired.now.share >= repaired.was.share or not repaired.was.found
    assert repair(repaired.after, stem=path.stem).after == repaired.after
