"""Reading files: streams, whole transcripts, and single entries by their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.errors import NotFound, Refused
from recollect.format import line as line_module
from recollect.format.line import Damage
from recollect.store.home import Home
from recollect.store.read import EntryBytes, read_transcript, stream_entries, stream_lines
from recollect.testing import DAMAGES, HomeBuilder, sample_session, write_huge_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "claude" / "projects" / "-w" / "sample.jsonl"
    found.parent.mkdir(parents=True)
    found.write_bytes(sample_session().to_bytes())
    return found


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "claude")


def test_lines_join_to_the_file(path: Path, home: Home) -> None:
    assert b"".join(line.data for line in stream_lines(path, home)) == path.read_bytes()
    assert b"".join(line.data for line in stream_lines(path)) == path.read_bytes()


@pytest.mark.parametrize("name", ["torn-and-glued", "nul-inside", "invalid-utf8", "crlf", "bom", "no-final-newline"])
def test_lines_of_a_damaged_file_join_to_it(path: Path, home: Home, name: str) -> None:
    path.write_bytes(DAMAGES[name].make())
    assert b"".join(line.data for line in stream_lines(path, home)) == path.read_bytes()


def test_entries_come_as_they_are_read(path: Path, home: Home) -> None:
    first = next(iter(stream_entries(path, home)))
    assert first.entry.type == "mode"


def test_damage_is_handed_out_if_asked_for(path: Path, home: Home) -> None:
    path.write_bytes(DAMAGES["torn-middle"].make())
    damage: list[Damage] = []
    assert len(list(stream_entries(path, home, damage))) == 18
    assert [item.kind for item in damage] == ["torn"]
    assert len(list(stream_entries(path, home))) == 18


def test_a_transcript_knows_its_size_and_lines(path: Path, home: Home) -> None:
    transcript = read_transcript(path, home, file=3)
    assert (transcript.size, transcript.lines) == (path.stat().st_size, 19)
    assert {row.file for row in transcript.rows} == {3}


def test_a_long_line_counts_once(path: Path, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_module, "PIECE", 4096)
    monkeypatch.setattr(line_module, "HELD_LIMIT", 16384)
    write_huge_file(path, 100_000)
    transcript = read_transcript(path, home)
    assert (transcript.size, transcript.lines) == (path.stat().st_size, 20)
    assert len(transcript.rows) == 18
    assert [item.kind for item in transcript.damage] == ["oversize"]


def test_an_empty_file(path: Path, home: Home) -> None:
    path.write_bytes(b"")
    transcript = read_transcript(path, home)
    assert (transcript.size, transcript.lines, transcript.rows, transcript.damage) == (0, 0, [], [])


def test_nothing_outside_the_home(path: Path, home: Home, tmp_path: Path) -> None:
    (tmp_path / "outside.jsonl").write_bytes(b"{}\n")
    with pytest.raises(Refused):
        list(stream_lines(tmp_path / "outside.jsonl", home))
    with pytest.raises(Refused):
        read_transcript(tmp_path / "outside.jsonl", home)
    with pytest.raises(Refused), EntryBytes(tmp_path / "outside.jsonl", home):
        pass
    with pytest.raises(NotFound):
        read_transcript(path.with_name("nothing.jsonl"), home)


class TestEntryBytes:
    def test_entries_by_their_place(self, path: Path, home: Home) -> None:
        sample = sample_session()
        with EntryBytes(path, home) as entries:
            for row in reversed(read_transcript(path, home).rows):
                assert entries.value_at(row.offset, row.length) == sample.entry(row.uuid or "")
                assert entries.bytes_at(row.offset, row.length) in sample.lines

    def test_without_being_opened_before(self, path: Path, home: Home) -> None:
        row = read_transcript(path, home).rows[0]
        assert EntryBytes(path, home).value_at(row.offset, row.length)["uuid"] == row.uuid

    def test_a_place_that_is_not_there_any_more(self, path: Path, home: Home) -> None:
        row = read_transcript(path, home).rows[-1]
        path.write_bytes(path.read_bytes()[: row.offset + 10])
        with EntryBytes(path, home) as entries:
            assert len(entries.bytes_at(row.offset, row.length)) == 10
            assert entries.value_at(row.offset, row.length) == {}
            assert entries.value_at(10**9, 10) == {}


def test_reading_changes_nothing(tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / "home")
    t = builder.session("/w/app")
    t.user("hello")
    root = builder.write()
    before = {item: (item.stat().st_mtime_ns, item.stat().st_size) for item in root.rglob("*")}
    read_transcript(builder.session_path(t), Home(root))
    assert {item: (item.stat().st_mtime_ns, item.stat().st_size) for item in root.rglob("*")} == before
