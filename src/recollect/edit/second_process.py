"""A copy of this process that works on another processor: it is asked, and answers. Only on Linux, and never needed.

    with SecondProcess(work) as second:
        second.ask(b"...")
        answer = second.answer()  # None where there is none: then the work is to be done here

`work` runs in the copy and has all that was in memory when it was made; nothing else goes there but what it is asked, and
nothing comes back but its answers. It ends with this process, whatever ends that.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import mmap
import os
import select
import signal
import sys
import weakref
from collections import deque
from collections.abc import Callable
from typing import Final, NoReturn

ROOM: Final = 4 << 20
"""The longest answer."""
ROOMS: Final = 48
"""So many answers can be waited for or in use at once. Memory is only taken for those that ever were."""
PATIENCE: Final = 20.0
"""Seconds after which an answer is no longer waited for."""
_HEAD: Final = 8
_NOTHING: Final = b"\xff" * _HEAD


def is_of_use() -> bool:
    """Whether a copy can be made without danger, and has a processor to work on.

    Other threads would not be in the copy, but whatever they have locked would stay locked there.
    """
    if sys.platform != "linux":
        return False
    try:
        return len(os.sched_getaffinity(0)) > 1 and len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


class Questions:
    """The copy's side: what it is asked, in order. Each question gets one answer."""

    def __init__(self, questions: int, answers: int, rooms: mmap.mmap) -> None:
        self._questions = questions
        self._answers = answers
        self._rooms = rooms
        self._room = 0

    def waiting(self) -> bool:
        """Whether there is one."""
        return _poll(self._questions, 0.0)

    def next(self) -> bytes:
        """Waits for it. Raises EOFError when nobody asks any more."""
        head = _read(self._questions, 2 * _HEAD)
        self._room = _number(head[:_HEAD])
        return _read(self._questions, _number(head[_HEAD:]))

    def answer(self, data: bytes | None) -> None:
        """To the last one. None, and what is too long, is no answer."""
        if data is None or len(data) > ROOM:
            _write(self._answers, _NOTHING)
        else:
            start = self._room * ROOM
            self._rooms[start : start + len(data)] = data
            _write(self._answers, _eight_bytes(len(data)))


class _Room(ctypes.c_char * ROOM):  # type: ignore[misc]  # an array's class is made when it is needed
    """A room in use: views of it, and views of those, keep it alive."""


class SecondProcess:
    """What `work` does there may go wrong in any way: then there are no more answers."""

    def __init__(self, work: Callable[[Questions], None]) -> None:
        self._work = work
        self._pid: int | None = None
        self._questions: int | None = None
        """Where they go to; None where there shall be no more of them."""
        self._answers: int | None = None
        """Where they come from."""
        self._free = list(range(ROOMS))
        self._asked: deque[int | None] = deque()
        """Rooms for the answers that were not taken yet; None where nobody was asked."""
        self._in_use: dict[int, weakref.ref[_Room]] = {}

    def __enter__(self) -> SecondProcess:
        try:
            self._start()
        except OSError:  # no room for another process
            self._close()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self) -> None:
        self._rooms = mmap.mmap(-1, ROOM * ROOMS)
        with contextlib.ExitStack() as of_the_copy:
            questions, self._questions = os.pipe()
            of_the_copy.callback(os.close, questions)
            self._answers, answers = os.pipe()
            of_the_copy.callback(os.close, answers)
            os.set_blocking(self._questions, False)
            # Who collects what is young writes on each page of it, and would have to copy those that both processes share.
            gc.collect(0)
            before = signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
            of_the_copy.callback(signal.pthread_sigmask, signal.SIG_SETMASK, before)
            pid = os.fork()
            if pid == 0:
                _be_second(self._work, questions, answers, self._rooms)
            self._pid = pid

    def ask(self, question: bytes) -> None:
        """A long one waits until those before it were read: no more than a few should be without an answer."""
        room = self._free.pop() if self._free and self._questions is not None else None
        self._asked.append(room)
        if room is not None and self._questions is not None:
            try:
                _write(self._questions, _eight_bytes(room) + _eight_bytes(len(question)) + question)
            except OSError:
                self.no_more()  # there may be answers to the ones before

    def answer(self) -> memoryview | None:
        """To the first question of which the answer was not taken yet. It stays what it is while anybody refers to part of it."""
        room = self._asked.popleft()
        if room is None or self._answers is None:
            return None
        try:
            _wait_for(self._answers, select.POLLIN)
            head = _read(self._answers, _HEAD)
        except (OSError, EOFError):
            self._close()
            return None
        if head == _NOTHING:
            self._free.append(room)
            return None
        place, free = _Room.from_buffer(self._rooms, room * ROOM), self._free
        self._in_use[room] = weakref.ref(place, lambda _: free.append(room))
        return memoryview(place).cast("B")[: _number(head)].toreadonly()

    def no_more(self) -> None:
        """There are no further questions: the copy ends by itself, while this process goes on."""
        if self._questions is not None:
            os.close(self._questions)
            self._questions = None

    def _close(self) -> None:
        self.no_more()
        if self._answers is not None:
            os.close(self._answers)
            self._answers = None

    def __exit__(self, *_: object) -> None:
        self._close()
        if self._pid is not None:
            with contextlib.suppress(OSError):  # somebody else may have waited for it
                if os.waitpid(self._pid, os.WNOHANG) == (0, 0):
                    os.kill(self._pid, signal.SIGKILL)
                    os.waitpid(self._pid, 0)
            self._pid = None


def _be_second(work: Callable[[Questions], None], questions: int, answers: int, rooms: mmap.mmap) -> NoReturn:
    """Never returns: what the first process would do after it is not for the second one to do."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
        _close_all_but(questions, answers)  # among them the first one's locks, and its own ends of the pipes
        _keep_memory()
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        work(Questions(questions, answers, rooms))
    finally:
        os._exit(0)


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Of `mallopt`."""


def _keep_memory() -> None:
    """What this process, which lives for a moment, has once had of the system and freed is used again, not given back.

    Or each long answer would be made in fresh memory, which costs more than to fill it.
    """
    with contextlib.suppress(OSError, AttributeError):  # other C libraries know nothing of the kind
        libc = ctypes.CDLL(None)
        libc.mallopt(_MMAP_THRESHOLD, 32 << 20)  # the most it takes
        libc.mallopt(_TRIM_THRESHOLD, 1 << 30)


def _close_all_but(*kept: int) -> None:
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            with contextlib.suppress(OSError):
                os.close(int(name))


def _eight_bytes(number: int) -> bytes:
    return number.to_bytes(_HEAD, "big")


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _poll(descriptor: int, seconds: float, event: int = select.POLLIN) -> bool:
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(seconds * 1000))


def _wait_for(descriptor: int, event: int) -> None:
    if not _poll(descriptor, PATIENCE, event):
        raise TimeoutError


def _read(descriptor: int, length: int) -> bytes:
    parts: list[bytes] = []
    while length:
        data = os.read(descriptor, length)
        if not data:
            raise EOFError
        parts.append(data)
        length -= len(data)
    return b"".join(parts)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            _wait_for(descriptor, select.POLLOUT)
