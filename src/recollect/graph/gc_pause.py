"""While many small objects are built, Python's garbage collector would go through all of them again and again: it waits."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Automatic collections are off inside, and on again after it if they were before. Nothing built here is a circle."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
