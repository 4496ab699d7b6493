"""Run long work in background threads and report its progress: building the index, counting usage, and jobs.

A catalogue may be used by one thread only, so each worker opens its own and answers its questions one after the other.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from ..errors import RecollectError, Unavailable
from .indexing import with_index_healed
from .library import Library
from .usage import Ledger

T = TypeVar("T")
ANSWER_SECONDS: Final = 60.0
FRESH_SECONDS: Final = 20.0
"""Answers about usage that are younger than this are returned without counting again."""
OLD_SECONDS: Final = 0.5
"""How long a caller waits for a new answer before it gets the older one."""
MAX_ANSWERS: Final = 64


class StillIndexing(Exception):
    """Raised when the index is not ready for an answer yet; `done` of `total` bytes are indexed."""

    def __init__(self, done: int, total: int) -> None:
        super().__init__("still indexing")
        self.done = done
        self.total = total


class IndexWorker:
    """Answers questions over the index, one after the other. The first question builds the index in the background."""

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
        """Return the library of this worker's thread, and open it on first use."""
        if self._library is None:
            self._library = self._open_library()
        return self._library

    def begin(self) -> Future[None]:
        """Start building the index in the background, unless it is built or being built."""
        with self._lock:
            if self._building is None:
                self._building = self._pool.submit(self._build)
            return self._building

    @property
    def is_building(self) -> bool:
        """Whether the index is being built now."""
        return self._building is not None and not self._building.done()

    @property
    def is_ready(self) -> bool:
        """Whether the index was built since this worker was made."""
        building = self._building
        return building is not None and building.done() and not building.cancelled() and building.exception() is None

    def ask(self, question: Callable[[Library], T], *, patience: float = 1.5) -> T:
        """Return the answer to a question. Raises StillIndexing if the index is not built within `patience` seconds."""
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
        """Answer no further questions; the one that is being answered is finished."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class UsageWorker:
    """Answers questions about tokens and money, one after the other, and caches each answer for some seconds."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="usage")
        self._known: dict[object, tuple[float, Any]] = {}
        self._running: dict[object, Future[Any]] = {}
        self._lock = threading.Lock()
        self.done = 0
        self.total = 0

    def ask(self, name: object, question: Callable[[Ledger], T], *, patience: float = 3.0) -> T:
        """Return the answer to the question of this name, which may be some seconds old.

        Raises StillIndexing if there is no answer at all after `patience` seconds.
        """
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
        """Return the last answer to the question of this name, however old; None if there is none."""
        with self._lock:
            known = self._known.get(name)
        return None if known is None else known[1]

    def _answer(self, name: object, question: Callable[[Ledger], T]) -> T:
        try:
            with self._library.for_another_thread() as library:
                ledger = library.ledger()
                ledger.sync(self._note)
                answer = with_index_healed(library, lambda: question(ledger))
            with self._lock:
                while len(self._known) > MAX_ANSWERS:
                    self._known.pop(next(iter(self._known)))
                self._known[name] = (time.monotonic(), answer)
            return answer
        finally:
            with self._lock:
                self._running.pop(name, None)

    def _note(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def close(self) -> None:
        """Answer no further questions; the one that is being answered is finished."""
        self._pool.shutdown(wait=False, cancel_futures=True)


@dataclass
class Job:
    """Long work that runs in the background: its progress, and its result or its problem."""

    name: str
    running: bool = True
    done: int = 0
    total: int = 0
    result: Any = None
    problem: str | None = None
    ended: float | None = None


@dataclass
class Jobs:
    """Runs jobs in threads, at most one of each name at a time, and remembers the last one of each name."""

    _known: dict[str, Job] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, name: str) -> Job | None:
        """Return the running or the last job of this name."""
        return self._known.get(name)

    def start(self, name: str, work: Callable[[Job], Any]) -> Job:
        """Start the work in the background, or return the job of this name that is already running."""
        with self._lock:
            known = self._known.get(name)
            if known is not None and known.running:
                return known
            job = self._known[name] = Job(name)
        threading.Thread(target=self._run, args=(job, work), name=name, daemon=True).start()
        return job

    @staticmethod
    def _run(job: Job, work: Callable[[Job], Any]) -> None:
        try:
            job.result = work(job)
        except RecollectError as problem:
            job.problem = problem.message
        except Exception as problem:
            job.problem = f"{type(problem).__name__}: {problem}"
        finally:
            job.ended = time.time()
            job.running = False
