"""Forks made by two processes are what one makes, whatever happens to the second; and a file read in parts is the file."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sys
import tempfile
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.edit.forking import Forge
from tests.properties.test_thread_properties import FILES

from recollect.edit import fork_ahead, fork_lines, second_process
from recollect.edit.fork_ahead import ForkAhead
from recollect.edit.second_process import Questions, SecondProcess
from recollect.errors import StoreBusy
from recollect.format.decode import LINES_BEFORE, Part
from recollect.format.entries import REFUSED
from recollect.format.rename_lines import NewNames, split_lines, with_names
from recollect.graph.rows import Transcript
from recollect.store.home import Home
from recollect.store.read import read_transcript, transcript_of
from recollect.testing import ALL_AGES, DAMAGES, HomeBuilder, build_age, uuid_from
from recollect.testing.toolcalls import bash, read

NEW = uuid_from("the fork")
PARTS = 4
"""In which the second process gives what it has read, however small the file is."""

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")


@pytest.fixture(autouse=True)
def two_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_process, "is_of_use", lambda: True)
    monkeypatch.setattr(fork_ahead, "LEAST", 1)
    monkeypatch.setattr(fork_ahead, "_number_of_parts", lambda *_: PARTS)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each question so far, whether it was answered."""
    found: list[bool] = []
    real = SecondProcess.answer

    def answer(second: SecondProcess) -> memoryview | None:
        data = real(second)
        found.append(data is not None)
        return data

    monkeypatch.setattr(SecondProcess, "answer", answer)
    return found


def long_session(folder: Path) -> str:
    """With everything that is done in a way of its own: calls, a compaction, titles, what nobody can read, odd spelling."""
    builder = HomeBuilder(folder)
    t = builder.session("/w/app")
    for number in range(12):
        t.user(f"Q{number}: U+2028 \u2028, é, 🗼, \\ud800" + " and more" * 40)
        t.parallel([bash("ls", "a\n"), read("/w/app/a", "x" * 500)], "LOOK")
        t.assistant(f"A{number}")
        if number == 4:
            t.compact()
            t.state("mode", mode="plan")
        if number == 7:
            t.raw(b'{"type":"user","uuid":"torn')
            t.raw(
                b'{ "type": "user", "uuid": "'
                + uuid_from("spaced").encode()
                + b'", "parentUuid": null, "message": {} }'
            )
    builder.write()
    return t.session_id


def fork_of(folder: Path, session: str, **options: Any) -> dict[str, bytes]:
    """All files of a fork of the session, by their names. Long outputs are named by whole paths: those are cut short."""
    copy = folder.with_name(f"{folder.name}-{len(list(folder.parent.iterdir()))}")
    shutil.copytree(folder, copy / "claude")
    Forge(copy / "claude").fork(session, new_id=NEW, **options)
    files = [path for path in copy.rglob("*") if path.is_file() and NEW in str(path)]
    return {str(path.relative_to(copy)): path.read_bytes().replace(str(copy).encode(), b"...") for path in files}


def fork_alone(folder: Path, session: str, monkeypatch: pytest.MonkeyPatch, **options: Any) -> dict[str, bytes]:
    with monkeypatch.context() as patch:
        patch.setattr(second_process, "is_of_use", lambda: False)
        return fork_of(folder, session, **options)


@pytest.mark.parametrize("keep", [False, True], ids=["new uuids", "uuids kept"])
class TestSameForks:
    def test_a_long_session(
        self, keep: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: list[bool]
    ) -> None:
        session = long_session(tmp_path / "home")
        assert fork_of(tmp_path / "home", session, keep_uuids=keep) == fork_alone(
            tmp_path / "home", session, monkeypatch, keep_uuids=keep
        )
        assert answers.count(True) > 1

    def test_many_blocks_and_pieces(
        self, keep: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: list[bool]
    ) -> None:
        """Lines longer than a block are among them."""
        session = long_session(tmp_path / "home")
        alone = fork_alone(tmp_path / "home", session, monkeypatch, keep_uuids=keep)
        monkeypatch.setattr(fork_ahead, "_BLOCK", 1500)
        monkeypatch.setattr(fork_lines, "PIECE", 3000)
        assert fork_of(tmp_path / "home", session, keep_uuids=keep) == alone
        assert answers.count(True) > 10 and answers.count(False)

    @pytest.mark.parametrize("version", ALL_AGES)
    def test_every_age(self, version: str, keep: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        age = build_age(tmp_path / "home" / "claude", version)
        home = tmp_path / "home" / "claude"
        for session in filter(None, (age.everyday, age.long, age.continued, age.rare)):
            options = {"keep_uuids": keep}
            assert fork_of(home, session.session_id, **options) == fork_alone(
                home, session.session_id, monkeypatch, **options
            )


@pytest.mark.parametrize("name", [name for name in DAMAGES if name not in ("huge-line", "deep-objects", "deep-arrays")])
def test_damaged_sessions(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = HomeBuilder(tmp_path / "home" / "claude")
    t = builder.session("/w/app")
    builder.damage(t, DAMAGES[name].make(1))
    builder.write()
    home = Home(tmp_path / "home" / "claude")
    path = Forge(home.root).file(t.session_id).path
    with ForkAhead(path, home) as ahead:
        found = ahead.transcript()
    assert facts(found) == facts(read_transcript(path, home, check_text=False))


def facts(found: Transcript) -> Any:
    """All that a transcript says, without what no fork asks for."""
    for row in found.rows:
        row.prompt_id = row.request_id = row.stop_reason = None
    counts = [list(count.items()) for count in found.counts()]
    return (
        found.rows, found.states, found.damage, counts, list(found.folded.items()), found.size, found.lines, found.others,
        found.by_uuid,
    )  # fmt: skip


class TestASecondProcessThatFails:
    @pytest.mark.parametrize("part", range(5))
    def test_while_it_reads(
        self, part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: list[bool]
    ) -> None:
        session = long_session(tmp_path / "home")
        alone = fork_alone(tmp_path / "home", session, monkeypatch)
        done: list[int] = []
        real = fork_ahead._as_bytes

        def fails(found: Transcript) -> bytes:
            done.append(1)
            if len(done) > part:
                raise OverflowError("a number that cannot be sent")
            return real(found)

        monkeypatch.setattr(fork_ahead, "_as_bytes", fails)
        assert fork_of(tmp_path / "home", session) == alone
        assert answers[:PARTS] == [number < part for number in range(PARTS)]

    @pytest.mark.parametrize("how", ["killed", "an error", "no answer", "a wrong answer"])
    @pytest.mark.parametrize("after", [0, 1, 3])
    def test_while_it_makes_lines(
        self, how: str, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: list[bool]
    ) -> None:
        session = long_session(tmp_path / "home")
        alone = fork_alone(tmp_path / "home", session, monkeypatch)
        monkeypatch.setattr(fork_lines, "PIECE", 3000)
        done: list[int] = []
        real = with_names

        def fails(*given: Any) -> bytes | None:
            done.append(1)
            if len(done) <= after:
                return real(*given)
            if how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if how == "an error":
                raise RuntimeError("of any kind")
            return None if how == "no answer" else b""

        monkeypatch.setattr(fork_ahead, "with_names", fails)
        assert fork_of(tmp_path / "home", session) == alone
        assert answers.count(True) >= PARTS + after

    def test_where_another_file_stands_there_by_now(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: list[bool]
    ) -> None:
        session = long_session(tmp_path / "home")
        alone = fork_alone(tmp_path / "home", session, monkeypatch)
        monkeypatch.setattr(fork_ahead, "_identity", lambda _: (os.getpid(), 0))
        assert fork_of(tmp_path / "home", session) == alone
        assert not any(answers)


@pytest.mark.parametrize("left", [0, 100, 5000])
def test_a_source_that_is_cut_is_refused(left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = long_session(tmp_path / "home")
    forge = Forge(tmp_path / "home")
    path = forge.file(session).path
    real = ForkAhead.ask

    def cut_first(ahead: ForkAhead, *given: Any) -> None:
        os.truncate(path, left)
        real(ahead, *given)

    monkeypatch.setattr(ForkAhead, "ask", cut_first)
    with pytest.raises(StoreBusy):
        forge.fork(session)
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_threads_take_turns_as_before_when_it_is_over(tmp_path: Path) -> None:
    session = long_session(tmp_path)
    (path,) = tmp_path.glob(f"projects/*/{session}.jsonl")
    before = sys.getswitchinterval()
    with pytest.raises(KeyError), ForkAhead(path, Home(tmp_path)) as ahead:
        assert ahead.helps
        assert sys.getswitchinterval() < before
        raise KeyError
    assert sys.getswitchinterval() == before


def test_which_files_are_large_enough_and_not_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_ahead, "LEAST", 1000)
    monkeypatch.setattr(fork_ahead, "MOST", 2000)
    monkeypatch.setattr(fork_ahead, "_LONGEST_LINE", 100)

    def middle(data: bytes) -> int:
        path = tmp_path / "file"
        path.write_bytes(data)
        with open(path, "rb") as stream:
            return fork_ahead._line_near_the_middle(stream, len(data))

    assert middle(b"x\n" * 499) == 0
    assert middle(b"x\n" * 1001) == 0
    assert middle(b"x" * 1500) == 0
    found = middle(b"123456789\n" * 150)
    assert found % 10 == 0 and 600 < found < 900


ODD_LINES = [
    b"", b"  ", b"no json", b'{"type":"user","uuid":"torn', b"\x00\x00\x00", b'{"type":"tag","tag":"a"}{"type":"mode"}',
    b'\xef\xbb\xbf{"type":"user","uuid":"marked","message":{"content":"x"}}', b'{"type":"custom-title","customTitle":"T"}\r',
    b'{"type":"summary","summary":"\xff"}', b'{"type":"never seen","sessionId":"s"}', b"[1,2]",
]  # fmt: skip


#: Of the same length, so that taking one for another would not show by that.
PLAIN_LINES = [
    b'{"type":"user","uuid":"a"}',
    b'{"type":"user","uuid":"b"}',
    b'{"uuid":"c"}{"uuid":"dd"}',
    b'{"uuid":"e",',
    b'"f":1}',
]


@given(FILES, st.lists(st.tuples(st.integers(0, 16), st.sampled_from(ODD_LINES)), max_size=6), st.booleans())
def test_a_file_read_in_parts_is_the_file(
    entries: list[dict[str, Any]], odd: list[tuple[int, bytes]], ends: bool
) -> None:
    lines = [json.dumps(entry).encode() for entry in entries]
    for place, line in odd:
        lines.insert(place, line)
    data = b"\n".join(lines) + (b"\n" if ends and lines else b"")

    def parts(*bounds: int) -> Transcript:
        stream = io.BytesIO(data)
        found = transcript_of(stream, part=Part(0, bounds[0] if bounds else None))
        for start, stop in zip(bounds, [*bounds[1:], None], strict=False):
            found.go_on(transcript_of(stream, part=Part(start, stop)), LINES_BEFORE)
        return found

    whole = facts(parts())
    bounds = [place + 1 for place, byte in enumerate(data) if byte == 0x0A]
    for bound in bounds:
        assert facts(parts(bound)) == whole
    assert facts(parts(*bounds)) == whole


class Asked(Questions):
    """Questions that are there already, and their answers."""

    def __init__(self, *questions: bytes) -> None:
        self.questions = list(questions)
        self.told: list[bytes | None] = []

    def waiting(self) -> bool:
        return bool(self.questions)

    def next(self) -> bytes:
        if not self.questions:
            raise EOFError
        return self.questions.pop(0)

    def answer(self, data: bytes | None) -> None:
        self.told.append(data)


def second(path: Path, *questions: bytes) -> tuple[fork_ahead._Second, list[bytes | None]]:
    """What it knows when it has nothing more to do, and what it answered."""
    asked = Asked(*questions)
    with open(path, "rb") as stream:
        knows = fork_ahead._Second(stream, 1, path.stat().st_size)
        with pytest.raises(EOFError):
            knows.run(asked)
    return knows, asked.told


@given(
    st.lists(st.sampled_from([*PLAIN_LINES, b""]), min_size=1) | st.lists(st.sampled_from(ODD_LINES), min_size=1),
    st.sampled_from([1, 60, 1 << 20]),
)
def test_each_line_is_taken_apart_as_if_it_stood_alone(lines: list[bytes], block: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder, "file")
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        patch.setattr(fork_ahead, "_BLOCK", block)
        patch.setattr(fork_ahead, "_number_of_parts", lambda *_: 1)
        knows, _ = second(path, b"")
        found = {start: as_bytes(members) for start, members in knows._lines.items()}
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    wanted = {
        start: alone[0] for start, line in zip(starts, lines, strict=False) if len(alone := taken_apart(line)) == 1
    }
    if block < 1 << 20:  # longer lines are left out, and parts of them never stand where a line begins
        wanted = {start: alone for start, alone in wanted.items() if start in found}
        found = {start: found[start] for start in wanted}
    assert found == wanted


def taken_apart(line: bytes) -> list[dict[str, bytes]]:
    try:
        return [as_bytes(members) for members in split_lines(line)]
    except REFUSED:
        return []


def as_bytes(members: dict[str, Any]) -> dict[str, bytes]:
    return {name: bytes(value) for name, value in members.items()}


def test_lines_of_which_the_second_one_knows_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b'{"a":1}\n' * 5)
    wanted = fork_ahead._encode(fork_ahead._Wanted([10**9], NewNames("s", 0, None)))
    _, told = second(path, *[b""] * PARTS, wanted)
    assert told[-1] is None
