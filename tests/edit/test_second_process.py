"""A second process answers what it is asked, or nothing; it does no harm, and nothing of it is left."""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recollect.edit import second_process
from recollect.edit.second_process import ROOM, ROOMS, Questions, SecondProcess

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only there is a second process ever used"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning"),
]


def always(answer: Callable[[bytes], bytes | None]) -> Callable[[Questions], None]:
    def work(questions: Questions) -> None:
        while True:
            questions.answer(answer(questions.next()))

    return work


def asked(second: SecondProcess, question: bytes) -> bytes | None:
    second.ask(question)
    found = second.answer()
    return None if found is None else bytes(found)


def children() -> set[int]:
    """Processes that this one has begun and nobody has waited for."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        found |= {int(pid) for pid in (task / "children").read_text().split()}
    return found


def test_questions_are_answered_in_order() -> None:
    with SecondProcess(always(bytes.upper)) as second:
        for question in (b"a", b"", b"bc" * 100_000):
            second.ask(question)
        assert [bytes(second.answer() or b"?") for _ in range(3)] == [b"A", b"?", b"BC" * 100_000]


def test_it_has_what_was_in_memory_and_changes_nothing_here() -> None:
    known = [b"before"]

    def answer(question: bytes) -> bytes:
        known.append(question)
        return b" ".join(known)

    with SecondProcess(always(answer)) as second:
        known.append(b"not there")
        assert asked(second, b"x") == b"before x"
        assert asked(second, b"y") == b"before x y"
    assert known == [b"before", b"not there"]


def test_no_answer_and_one_that_is_too_long() -> None:
    with SecondProcess(always(lambda question: None if question == b"no" else bytes(int(question)))) as second:
        assert asked(second, b"no") is None
        assert asked(second, b"%d" % (ROOM + 1)) is None
        assert asked(second, b"%d" % ROOM) == bytes(ROOM)


def test_an_answer_stays_what_it_is_while_somebody_has_part_of_it() -> None:
    with SecondProcess(always(lambda question: question * 1000)) as second:
        second.ask(b"first")
        whole = second.answer()
        assert whole is not None and whole.readonly
        part = whole[5:10]
        del whole
        for number in range(3 * ROOMS):
            assert asked(second, b"%d" % number) == b"%d" % number * 1000
        assert bytes(part) == b"first"


def test_who_keeps_all_answers_gets_no_more() -> None:
    with SecondProcess(always(lambda question: question)) as second:
        kept = []
        for number in range(ROOMS + 2):
            second.ask(b"%d" % number)
            kept.append(second.answer())
        assert [found and bytes(found) for found in kept] == [*[b"%d" % number for number in range(ROOMS)], None, None]
        kept.clear()
        assert asked(second, b"again") == b"again"


@pytest.mark.parametrize("how", [RuntimeError("no"), KeyboardInterrupt(), SystemExit(3), None])
def test_work_that_ends_gives_no_more_answers(how: BaseException | None, capfd: pytest.CaptureFixture[str]) -> None:
    def work(questions: Questions) -> None:
        questions.answer(questions.next())
        questions.next()
        if how is not None:
            raise how

    with SecondProcess(work) as second:
        assert asked(second, b"one") == b"one"
        assert [asked(second, b"two"), asked(second, b"three" * 100_000)] == [None, None]
    assert capfd.readouterr() == ("", "")


def test_one_that_is_killed_gives_no_more_answers() -> None:
    before = children()
    with SecondProcess(always(lambda question: question)) as second:
        assert asked(second, b"one") == b"one"
        (pid,) = children() - before
        os.kill(pid, signal.SIGKILL)
        assert asked(second, b"two") is None
    assert children() == before


def test_one_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_process, "PATIENCE", 0.05)
    with SecondProcess(lambda _: time.sleep(60)) as second:
        assert asked(second, b"?") is None
    with SecondProcess(lambda _: time.sleep(60)) as second:
        assert asked(second, bytes(1 << 20)) is None


def test_nothing_is_left_of_it() -> None:
    def open_files() -> set[str]:
        return set(os.listdir("/proc/self/fd"))

    gc.collect()  # what other tests have left open is none of this one's
    files, processes = open_files(), children()
    with pytest.raises(KeyError), SecondProcess(always(lambda question: question)) as second:
        asked(second, b"x")
        raise KeyError("of who asks")
    gc.collect()
    assert open_files() == files
    assert children() == processes
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


def test_where_no_process_can_be_made_there_are_no_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(os, "fork", refused)
    files = set(os.listdir("/proc/self/fd"))
    with SecondProcess(always(lambda question: question)) as second:
        assert asked(second, b"x") is None
    assert set(os.listdir("/proc/self/fd")) == files


def test_it_holds_no_locks(tmp_path: Path) -> None:
    held = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(held, fcntl.LOCK_EX)
    with SecondProcess(always(lambda question: question)) as second:
        assert asked(second, b"x") == b"x"
        os.close(held)
        other = os.open(tmp_path / "lock", os.O_RDWR)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(other)


def test_ctrl_c_is_for_the_first_one() -> None:
    before = children()
    with SecondProcess(always(lambda question: question)) as second:
        assert asked(second, b"one") == b"one"
        (pid,) = children() - before
        os.kill(pid, signal.SIGINT)
        assert asked(second, b"two") == b"two"


def test_it_ends_with_the_first_one() -> None:
    script = """
import os, time
from recollect.store.second_process import SecondProcess
def work(questions):
    questions.answer(str(os.getpid()).encode() + questions.next())
    questions.next()
with SecondProcess(work) as second:
    second.ask(b"")
    print(bytes(second.answer()).decode(), flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        second = int(first.stdout.readline())
        assert Path(f"/proc/{second}").exists()
        first.kill()
        first.wait()
        for _ in range(500):
            if not Path(f"/proc/{second}").exists():
                break
            time.sleep(0.01)
        assert not Path(f"/proc/{second}").exists()


def test_of_use_only_for_a_process_without_other_threads() -> None:
    script = """
import os, sys, threading
from recollect.store.second_process import is_of_use
alone = is_of_use()
stop = threading.Event()
threading.Thread(target=stop.wait).start()
print(alone == (len(os.sched_getaffinity(0)) > 1), is_of_use())
stop.set()
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["True", "False"]


def test_of_no_use_on_one_processor_or_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert not second_process.is_of_use()
    finally:
        done.set()
        thread.join()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert not second_process.is_of_use()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not second_process.is_of_use()
