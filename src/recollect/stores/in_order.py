"""Run jobs in threads, in the order in which they were requested."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable


class _Job:
    __slots__ = ("done", "error", "withdrawn", "work")

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work
        self.done = False
        self.withdrawn = False
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            if not self.withdrawn:
                self.work()
        except BaseException as problem:  # the error belongs to the caller of this job, whichever thread runs it
            self.error = problem
        finally:
            self.done = True


class InOrder:
    """Runs the changes of one store one at a time, first requested first run, also if many tasks ask at once.

    A thread that gets its turn first runs everything requested before its own job. So a job whose own thread never
    starts (its task was cancelled, or all threads are busy) cannot block the others.
    """

    def __init__(self) -> None:
        self._waiting: deque[_Job] = deque()
        self._turn = threading.Lock()

    async def do(self, work: Callable[[], None]) -> None:
        job = _Job(work)
        self._waiting.append(job)  # before the first await: the order of the calls is the order of the work
        try:
            await asyncio.to_thread(self._work_until_done, job)
        except asyncio.CancelledError:
            job.withdrawn = True
            raise

    def _work_until_done(self, job: _Job) -> None:
        with self._turn:
            while not job.done:
                self._waiting.popleft().run()
        if job.error is not None:
            raise job.error
