"""Pieces of a large file are written by a thread while the next ones are still being made: writing lets Python go on."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # most commands write no large file: who does imports them
    import queue
    import threading

Piece = bytes | memoryview

AT_ONCE: Final = 4 << 20
"""So many bytes are worked on right away: most files are smaller, and need no thread."""
WAITING: Final = 8
"""So many pieces may wait for the thread."""


class BackgroundWriter:
    """Calls `work` with each piece, in their order; large numbers of them in a thread of its own.

    What `work` raises comes out of `take` or of leaving the block. Who leaves it by an error waits for the piece at hand only.
    """

    def __init__(self, work: Callable[[Piece], object], *, at_once: int = AT_ONCE) -> None:
        self._work = work
        self._left = at_once
        self._thread: threading.Thread | None = None
        self._pieces: queue.Queue[Piece | None]
        """What waits for the thread; there as soon as that is."""
        self._problem: BaseException | None = None
        self._stopped = False

    def take(self, piece: Piece) -> None:
        if self._problem is not None:
            raise self._problem
        if self._left > 0:
            self._left -= len(piece)
            self._work(piece)
            return
        if self._thread is None:
            self._thread = self._start()
        self._pieces.put(piece)

    def __enter__(self) -> BackgroundWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._stopped = error is not None
            self._pieces.put(None)
            self._thread.join()
        if error is None and self._problem is not None:
            raise self._problem

    def _start(self) -> threading.Thread:
        import queue
        import threading

        self._pieces = queue.Queue(WAITING)
        thread = threading.Thread(target=self._run, name="behind", daemon=True)
        thread.start()
        return thread

    def _run(self) -> None:
        """Goes on taking pieces after a problem, so that nobody waits for room in vain."""
        while (piece := self._pieces.get()) is not None:
            if self._problem is None and not self._stopped:
                try:
                    self._work(piece)
                except BaseException as problem:
                    self._problem = problem
