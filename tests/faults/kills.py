"""Children that carry out a piece of work and are killed on the way, and the loops that all tests of killing share."""

from __future__ import annotations

import gc
import os
import random
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable

from tests.faults.faulty import Fault, faulty_disk
from tests.faults.places import SOAK
from tests.faults.test_nth_call_fails import KINDS

from recollect.errors import RecollectError

KILLS = int(os.environ.get("RECOLLECT_KILLS") or (10_000 if SOAK else 300))
Tell = Callable[[bytes], None]


class Child:
    """A forked process that says on a pipe what it has done."""

    def __init__(self, work: Callable[[Tell], None]) -> None:
        self._out, inside = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            gc.disable()
            try:
                os.close(self._out)
                os.write(inside, b"begun\n")
                work(lambda text: _write_all(inside, text + b"\n"))
                signal.pause()
            except BaseException:
                os.write(inside, b"error " + traceback.format_exc().replace("\n", "|").encode() + b"\n")
            finally:
                os._exit(1)
        os.close(inside)
        self._heard = b""
        self.status = 0

    def hear(self) -> bytes:
        """The next words, at least the first of them."""
        said = os.read(self._out, 1 << 16)
        self._heard += said
        return said

    def kill(self) -> list[bytes]:
        """Everything that it said before it died."""
        os.kill(self.pid, signal.SIGKILL)
        return self.end()

    def end(self) -> list[bytes]:
        while self.hear():
            pass
        os.close(self._out)
        self.status = os.waitpid(self.pid, 0)[1]
        said = self._heard.split(b"\n")[1:-1]
        problems = [line.decode() for line in said if line.startswith(b"error ")]
        assert not problems, problems[0].replace("|", "\n")
        return said


def _write_all(fd: int, data: bytes) -> None:
    os.write(fd, data)  # short enough for a pipe to take at once


def pause(seconds: float) -> None:
    """Sleeping is too coarse for moments within a single call."""
    end = time.perf_counter() + seconds
    if seconds > 0.0005:
        time.sleep(seconds - 0.0003)
    while time.perf_counter() < end:
        pass


def kill_at_random(
    name: str,
    seconds: float,
    reset: Callable[[], object],
    work: Callable[[], object],
    judge: Callable[[bool], object],
    kills: int = KILLS,
) -> None:
    """Kill a child at a random moment of its work, so many times; `judge` hears whether it had said that it was done."""

    def told(tell: Tell) -> None:
        work()
        tell(b"done")

    chance = random.Random(name)
    for _ in range(kills):
        reset()
        child = Child(told)
        child.hear()
        pause(chance.uniform(0, seconds))
        acknowledged = bool(child.kill())
        judge(acknowledged)
        # Most kills shall come before the end, some after it, however busy the machine is.
        seconds = min(max(seconds * (0.93 if acknowledged else 1.02), 1e-4), 0.5)


def fail_every_call(
    lasting: bool, reset: Callable[[], object], work: Callable[[], object], judge: Callable[[bool], object]
) -> Counter[str]:
    """Let one call after the other fail, in each of several ways; `judge` hears whether the work was reported as done."""
    outcomes: Counter[str] = Counter()
    at, struck = 0, True
    while struck:
        at += 1
        struck = False
        for kind in KINDS if SOAK else (KINDS[at % len(KINDS)], KINDS[(at + 3) % len(KINDS)]):
            reset()
            fault = Fault(at, kind, lasting)
            problem: RecollectError | None = None
            with faulty_disk(fault):
                try:
                    work()
                except RecollectError as caught:
                    problem = caught
            if not fault.hit:
                assert problem is None
                continue
            struck = True
            try:
                outcomes["reported" if problem else "survived"] += 1
                judge(problem is None)
            except AssertionError as failure:
                raise AssertionError(f"call {at} ({fault.hit[0]}): {kind}: {problem}") from failure
    return outcomes
