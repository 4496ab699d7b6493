"""Real transcripts: the words that a snippet shows are those that the index took in."""

from __future__ import annotations

import pytest
from tests.corpus.test_corpus import CORPUS, FILES
from tests.index.test_entry_words import taken_in

from recollect.index.catalogue.reading_back import loads_text

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real transcripts is not here"),
]


def test_words_read_back_are_those_taken_in() -> None:
    count = 0
    different = []
    for path in FILES:
        for number, line in enumerate(path.read_bytes().split(b"\n")[:25], 1):
            found = taken_in(line) if len(line) < 200_000 else []
            if len(found) == 1:
                count += 1
                if loads_text(line) != found[0]:
                    different.append(f"{path.name}:{number}")
    assert count > 1_000
    assert different == []
