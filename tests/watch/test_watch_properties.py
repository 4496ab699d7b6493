"""Whatever writers do between two looks, a watch tells every complete new line once and in order."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.watch.watch_model import Observer, Store

from recollect.watch import lines as watch_lines


@given(
    st.randoms(use_true_random=False), st.lists(st.booleans(), min_size=1, max_size=40), st.sampled_from([64, 1 << 20])
)
def test_every_complete_new_line_is_told_once_and_in_order(
    chance: random.Random, looks: list[bool], batch: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(watch_lines, "BATCH", batch)
        store = Store(Path(folder), chance)
        observer = Observer(store)
        for is_look in looks:
            store.change()
            if is_look or store.must_look:
                observer.look()
        observer.look()
        assert observer.look() == [], "nothing happened, and something was told"
