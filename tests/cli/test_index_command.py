"""`recollect index`: what it says, what it does, and what it does where it may not write."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.index.syncing import small_home
from tests.running import run, tree_state

from recollect.index.api_calls import collect
from recollect.index.catalogue import transcript_rows


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return small_home(tmp_path / "claude").write()


def test_the_second_time_nothing_changed(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    before = tree_state(home)
    first = run(capsys, home, "index")
    assert first.code == 0
    assert "files read" in first.out
    second = run(capsys, home, "index")
    assert second.out.startswith("nothing changed\nthe index knows 3 sessions; it takes ")
    assert tree_state(home) == before


def test_as_json(capsys: pytest.CaptureFixture[str], home: Path, own_home: Path) -> None:
    first = run(capsys, home, "index", "--json").data
    assert (first["sessions"], first["damaged"], first["temporary"]) == (3, 0, False)
    assert first["folder"] == str(own_home / "recollect" / "cache" / "index")
    assert first["lines"] > 50
    assert first["index_bytes"] > 10_000
    second = run(capsys, home, "index", "--json").data
    assert (second["files"], second["lines"], second["bytes"], second["sessions"]) == (0, 0, 0, 3)


def test_rebuild_reads_everything_again(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    first = run(capsys, home, "index", "--json").data
    again = run(capsys, home, "index", "--rebuild", "--json").data
    same = ("files", "lines", "bytes", "entries", "documents", "sessions")
    assert [again[name] for name in same] == [first[name] for name in same]


def test_an_index_that_cannot_be_written_is_a_temporary_one(
    capsys: pytest.CaptureFixture[str], home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in-the-way").write_text("")
    monkeypatch.setenv("RECOLLECT_CACHE_DIR", str(tmp_path / "in-the-way"))
    ran = run(capsys, home, "index", "--json")
    assert ran.code == 0
    assert ran.data["temporary"] is True
    assert ran.err.count("a temporary one is used") == 1


def test_a_file_that_cannot_be_read_is_named(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    path = home / "projects" / "-w-app" / "0a0a0a0a-0000-4000-8000-00000000000a.jsonl"
    path.symlink_to(home / ".credentials.json")
    (home / ".credentials.json").write_text("secret")
    ran = run(capsys, home, "index")
    assert ran.code == 0
    assert str(path) in ran.err
    assert "secret" not in ran.out


def test_no_home_is_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(capsys, tmp_path / "nowhere", "index").code == 3


@pytest.mark.parametrize(
    ("question", "stages"),
    [(("search", "alpha"), 1), (("usage", "--json"), 1), (("sql", "SELECT 1 FROM responses"), 2)],
)
def test_a_row_that_recollect_fails_on_is_named_and_left_out(
    capsys: pytest.CaptureFixture[str], home: Path, question: tuple[str, ...], stages: int, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """It stops no question, is told once by each stage, and stands in the report of `index`."""
    decode = vars(collect)["decode_call_line"]

    def failing(data: bytes) -> object:
        if b'"end_turn"' in bytes(data):
            raise ZeroDivisionError
        return decode(data)

    monkeypatch.setattr(collect, "decode_call_line", failing)
    words_of = vars(transcript_rows)["words_of"]
    monkeypatch.setattr(transcript_rows, "words_of", lambda entry: 1 / 0 if entry.type == "system" else words_of(entry))
    with next((home / "projects").glob("*/*.jsonl")).open("a") as stream:
        stream.write('{"type":"system","uuid":"s","content":"odd"}\n')
    asked = run(capsys, home, *question)
    assert asked.code == 0
    assert asked.err.count("left out of the index, since Recollect fails on ") == stages
    assert run(capsys, home, *question).err.count("left out of the index") == 0
    told = run(capsys, home, "index", "--rebuild", "--json").data["left_out"]
    assert all(name.endswith(": ZeroDivisionError") for name in told)
    assert len({name.partition(", line ")[0] for name in told}) > 1
