"""Tokens and money for the pages: counted in a thread of their own, and kept while a page may show them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from pathlib import Path
from typing import Any, TypeVar

from ..analysis.zones import zone_named
from ..environment import time_zone
from ..index.catalogue.healing import is_damage
from ..library.accounting import Accounting
from ..store.home import Home
from .work import StillIndexing

T = TypeVar("T")
FRESH_SECONDS = 20.0
OLD_SECONDS = 0.5
"""Where there is an older answer, it is given after so long, and the new one the next time."""


class Accounts:
    """Asks the accounting, one question after the other: its connection belongs to one thread."""

    def __init__(
        self, homes: list[Home], own_folder: Callable[[str], Path], tell: Callable[[str], None] | None = None
    ) -> None:
        self._homes = homes
        self._tell = tell
        self._own_folder = own_folder
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="accounts")
        self._known: dict[object, tuple[float, Any]] = {}
        self._running: dict[object, Future[Any]] = {}
        self._lock = threading.Lock()
        self.done = 0
        self.total = 0

    def ask(self, name: object, question: Callable[[Accounting], T], *, patience: float = 3.0) -> T:
        """The answer, at most some seconds old where that is quick. Raises StillIndexing where there is none in `patience`."""
        with self._lock:
            known = self._known.get(name)
            if known is not None and time.monotonic() - known[0] < FRESH_SECONDS:
                return known[1]  # type: ignore[no-any-return]
            running = self._running.get(name)
            if running is None:
                running = self._running[name] = self._pool.submit(self._answer, name, question)
        try:
            return running.result(patience if known is None else min(patience, OLD_SECONDS))  # type: ignore[no-any-return]
        except NotYet:
            if known is not None:
                return known[1]  # type: ignore[no-any-return]
            raise StillIndexing(self.done, self.total) from None

    def last(self, name: object) -> Any | None:
        """What the last answer was, however old."""
        with self._lock:
            known = self._known.get(name)
        return None if known is None else known[1]

    def _answer(self, name: object, question: Callable[[Accounting], T]) -> T:
        try:
            folder = self._own_folder("cache") / "index"
            zone = zone_named(None, time_zone())
            with Accounting(self._homes, folder, zone, own_folder=self._own_folder, tell=self._tell) as accounting:
                accounting.sync(self._note)
                try:
                    answer = question(accounting)
                except BaseException as problem:
                    if not is_damage(problem):
                        raise
                    accounting.make_anew(problem)
                    answer = question(accounting)
            with self._lock:
                while len(self._known) > 64:
                    self._known.pop(next(iter(self._known)))
                self._known[name] = (time.monotonic(), answer)
            return answer
        finally:
            with self._lock:
                self._running.pop(name, None)

    def _note(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
