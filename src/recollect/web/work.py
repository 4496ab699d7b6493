"""Work that takes its time: everything that needs the index has one thread of its own; long chores tell how far they are."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..errors import RecollectError, Unavailable
from ..library.library import Library

T = TypeVar("T")
ANSWER_SECONDS = 60.0


class StillIndexing(Exception):
    """The index is being built for the first time; `done` of `total` bytes are in it."""

    def __init__(self, done: int, total: int) -> None:
        super().__init__("still indexing")
        self.done = done
        self.total = total


class IndexWork:
    """Questions to the index, one after the other. The first one builds it, in the background."""

    def __init__(self, open_library: Callable[[], Library]) -> None:
        self._open_library = open_library
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="index")
        self._building: Future[None] | None = None
        self._library: Library | None = None
        self._lock = threading.Lock()
        self.done = 0
        self.total = 0

    @property
    def library(self) -> Library:
        """The library whose catalogue belongs to the thread of the index."""
        if self._library is None:
            self._library = self._open_library()
        return self._library

    def begin(self) -> Future[None]:
        """Build it where nobody did yet, in the background."""
        with self._lock:
            if self._building is None:
                self._building = self._pool.submit(self._build)
            return self._building

    @property
    def is_building(self) -> bool:
        return self._building is not None and not self._building.done()

    @property
    def is_ready(self) -> bool:
        building = self._building
        return building is not None and building.done() and not building.cancelled() and building.exception() is None

    def ask(self, question: Callable[[Library], T], *, patience: float = 1.5) -> T:
        """The answer. Raises StillIndexing where the index is not there yet after `patience` seconds."""
        building = self.begin()
        try:
            building.result(patience)
        except NotYet:
            raise StillIndexing(self.done, self.total) from None
        except Exception:
            with self._lock:
                self._building = None  # the next question tries again
            raise
        try:
            return self._pool.submit(lambda: question(self.library)).result(ANSWER_SECONDS)
        except NotYet:
            raise Unavailable(
                "the index did not answer in time", slug="index-busy", hint="try again in a moment"
            ) from None

    def _build(self) -> None:
        def note(done: int, total: int) -> None:
            self.done, self.total = done, total

        self.library.index(stages=("entries", "words"), progress=note)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


@dataclass
class Chore:
    """A long job that was started from a page."""

    name: str
    running: bool = True
    done: int = 0
    total: int = 0
    result: Any = None
    problem: str | None = None
    ended: float | None = None


@dataclass
class Chores:
    """At most one of each kind runs at a time; its last result is kept."""

    _known: dict[str, Chore] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, name: str) -> Chore | None:
        return self._known.get(name)

    def start(self, name: str, job: Callable[[Chore], Any]) -> Chore:
        with self._lock:
            known = self._known.get(name)
            if known is not None and known.running:
                return known
            chore = self._known[name] = Chore(name)
        threading.Thread(target=self._run, args=(chore, job), name=name, daemon=True).start()
        return chore

    @staticmethod
    def _run(chore: Chore, job: Callable[[Chore], Any]) -> None:
        try:
            chore.result = job(chore)
        except RecollectError as problem:
            chore.problem = problem.message
        except Exception as problem:
            chore.problem = f"{type(problem).__name__}: {problem}"
        finally:
            chore.ended = time.time()
            chore.running = False
