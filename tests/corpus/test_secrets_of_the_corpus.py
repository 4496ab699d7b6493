"""Real transcripts, which hold no known secret: nothing is definite, and next to nothing likely."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.corpus.test_corpus import CORPUS, FILES

from recollect.secrets.file_search import FileSearch
from recollect.secrets.find import Finder
from recollect.secrets.fingerprints import Fingerprints

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real transcripts is not here"),
]


def test_false_finds(tmp_path_factory: pytest.TempPathFactory) -> None:
    search = FileSearch(Finder(), Fingerprints(tmp_path_factory.mktemp("data")))
    counts: Counter[str] = Counter()
    size = 0
    for path in FILES:
        with open(path, "rb") as stream:
            search.in_lines(stream, 0, 0, lambda place: counts.update([place.confidence]))
        size += path.stat().st_size
    for path in CORPUS.rglob("*"):
        if path.is_file() and path.suffix != ".jsonl":
            counts.update(place.confidence for place in search.in_file(path.name, path.read_bytes()))
    assert counts["definite"] == 0
    assert counts["likely"] <= size / 1e6, counts
