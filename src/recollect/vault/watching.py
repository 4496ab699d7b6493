"""Wait for changes in the homes, so that they can be kept: by notifications of the system, or by polling."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ..store.home import Home
from .selection import KEPT_FILES, KEPT_FOLDERS

GATHER_MS: Final = 1_500
"""Changes within this time are kept together."""


def changes(homes: Sequence[Home], *, at_least_every: float = 60.0, polling: bool = False) -> Iterator[None]:
    """Yield whenever files of the homes changed, and after `at_least_every` seconds anyway. Ends when interrupted."""
    folders = [home.root for home in homes if home.root.is_dir()]
    if not polling and folders:
        try:
            from watchfiles import watch

            milliseconds = int(at_least_every * 1000)
            for _ in watch(
                *folders, watch_filter=lambda _, path: _matters(homes, path), debounce=GATHER_MS, step=200,
                rust_timeout=milliseconds, yield_on_timeout=True,
            ):  # fmt: skip
                yield
            return
        except OSError:
            pass  # more folders than the system can watch
    while True:
        time.sleep(at_least_every)
        yield


def _matters(homes: Sequence[Home], path: str) -> bool:
    for home in homes:
        try:
            first = Path(path).relative_to(home.root).parts[:1]
        except ValueError:
            continue
        if first and first[0] in (*KEPT_FOLDERS, *KEPT_FILES):
            return True
    return False
