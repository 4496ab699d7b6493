"""A request opens each transcript once, and opens nothing that it does not need."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest
from tests.running import run
from tests.web.scene import scene

import recollect
from recollect.graph import messages
from recollect.graph.rows import Row
from recollect.store import home as home_module
from recollect.store import opening
from recollect.testing import HomeBuilder
from recollect.testing.toolcalls import bash, edit

FIRST = "11111111-0000-4000-8000-000000000001"
SECOND = "22222222-0000-4000-8000-000000000002"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often each file of a home is opened, by its name."""
    counts: Counter[str] = Counter()
    real = opening.open_regular

    def counted(root: str, path: str, given: str) -> tuple[int, str]:
        counts[Path(path).name] += 1
        return real(root, path, given)

    monkeypatch.setattr(home_module, "open_regular", counted)
    return counts


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Build two sessions in two projects, of a version that puts subagents into files beside the sessions."""
    builder = HomeBuilder(tmp_path / "claude", version="2.0.60")
    for folder, ident in (("/w/one", FIRST), ("/w/two", SECOND)):
        session = builder.session(folder, session_id=ident)
        for number in range(4):
            session.user(f"Question {number}")
            session.call(bash("ls", "a\nb"))
            session.call(edit("/w/a.py", "a", "b", original="a\n"))
            session.subagent(f"Look into {number}").finish("Found it.")
            session.assistant("Done.")
    return builder.write()


def beside(home: Path, folder: str) -> set[str]:
    return {path.name for path in (home / "projects" / folder).glob("agent-*.jsonl")}


@pytest.mark.parametrize(
    "words",
    [
        ("show", FIRST), ("show", FIRST, "--json"), ("show", FIRST, "--tools", "full", "--thinking", "--tokens"),
        ("show", FIRST, "--history"), ("tree", FIRST), ("tools", FIRST), ("subagents", FIRST), ("thread", FIRST),
        ("fork", FIRST),
    ],
)  # fmt: skip
def test_a_command_opens_a_transcript_once(
    home: Path, opened: Counter[str], capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    ran = run(capsys, home, *words)
    assert ran.code == 0
    assert opened[f"{FIRST}.jsonl"] == 1


def test_show_looks_only_at_subagents_of_the_same_folder(
    home: Path, opened: Counter[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, home, "show", FIRST).code == 0
    assert len(beside(home, "-w-one")) == 4
    assert {name for name in opened if name.startswith("agent-")} == beside(home, "-w-one")
    assert opened[f"{SECOND}.jsonl"] == 0


def test_a_page_opens_a_transcript_once(home: Path, tmp_path: Path, opened: Counter[str]) -> None:
    script = scene(home, tmp_path / "own").script
    answer = script.get(f"/sessions/{FIRST}")
    assert answer.status_code == 200
    assert "Question 3" in answer.text
    assert opened[f"{FIRST}.jsonl"] == 1
    opened.clear()
    assert script.get(f"/sessions/{FIRST}").status_code == 200
    assert opened[f"{FIRST}.jsonl"] == 0  # the page is as it was


def test_the_page_reads_whose_a_subagent_is_once(home: Path, opened: Counter[str]) -> None:
    library = recollect.open(home)
    library.files()
    first = opened.total()
    library.refresh()
    library.files()
    assert first == 8
    assert opened.total() == 8


def test_show_puts_messages_together_once(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    joined: list[int] = []
    real = messages.join_responses

    def counted(rows: list[Row]) -> list[messages.Message]:
        joined.append(len(rows))
        return real(rows)

    for name in ("recollect.library.reading", "recollect.library.session", "recollect.graph.session"):
        monkeypatch.setattr(f"{name}.join_responses", counted)
    assert run(capsys, home, "show", FIRST, "--limit", "3").code == 0
    assert len(joined) == 1


class TestASessionAsAContext:
    def test_files_are_closed_at_the_end(self, home: Path, opened: Counter[str]) -> None:
        with recollect.open(home).session(FIRST) as session:
            assert [message.role for message in session.messages(limit=1)] == ["user"]
            assert session.title
            assert len(list(session.entries())) == session.facts.lines
            assert opened[f"{FIRST}.jsonl"] == 1
        session.messages(limit=1)
        assert opened[f"{FIRST}.jsonl"] == 2

    def test_a_reader_that_is_left_behind_can_go_on(self, home: Path) -> None:
        with recollect.open(home).session(FIRST) as session:
            entries = session.entries()
            first = next(entries)
        rest = list(entries)
        assert [first, *rest] == list(session.entries())

    def test_several_readers_do_not_disturb_each_other(self, home: Path) -> None:
        session = recollect.open(home).session(FIRST)
        expected = [message.text for message in session.messages()]
        found: list[list[str]] = []

        def read() -> None:
            for _ in range(20):
                found.append([message.text for message in session.stream_messages()])

        with session:
            threads = [threading.Thread(target=read) for _ in range(4)]
            for thread in threads:
                thread.start()
            lines = b"".join(line.data for line in session.lines())
            for thread in threads:
                thread.join()
        assert lines == session.file.path.read_bytes()
        assert len(found) == 80
        assert all(texts == expected for texts in found)
