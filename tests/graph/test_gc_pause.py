"""Python's garbage collector waits while rows are built, and is then as it was before."""

from __future__ import annotations

import gc

import pytest

from recollect.graph.rows import gc_paused


def test_it_is_off_inside_and_on_again_afterwards() -> None:
    assert gc.isenabled()
    with pytest.raises(KeyError), gc_paused():
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()


def test_whoever_had_it_off_has_it_off_afterwards() -> None:
    with gc_paused():
        with gc_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
