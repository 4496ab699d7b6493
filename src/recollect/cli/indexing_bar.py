"""Show a progress bar while changed files are read: on a terminal, and only if there is something to wait for."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

PATIENCE = 0.5
"""Seconds before a bar appears: a shorter wait does not need one."""


@contextlib.contextmanager
def indexing_bar(words: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield the function for `Library.index(progress=...)`; None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(words), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    begun = time.monotonic()
    task = None

    def progress(done: int, total: int) -> None:
        nonlocal task
        if task is None:
            if time.monotonic() - begun < PATIENCE:
                return
            bar.start()
            task = bar.add_task(words, total=total)
        bar.update(task, completed=done, total=total)

    try:
        yield progress
    finally:
        bar.stop()
