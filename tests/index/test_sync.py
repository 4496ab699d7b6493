"""Only what changed is read; and whatever changed, the index says what one says that is built from nothing."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.index.syncing import Index, small_home

from recollect.analysis.cost import usual_prices
from recollect.format import worded_entry
from recollect.index.api_calls.sync import sync_calls
from recollect.index.catalogue import ingest
from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.tracking import changed
from recollect.index.words import sync as words_sync
from recollect.index.words.word_index import WordsWriter, forget_words
from recollect.testing import uuid_from


@pytest.fixture
def index(tmp_path: Path) -> Index:
    small_home(tmp_path / "claude").write()
    return Index(tmp_path / "claude", tmp_path)


def main_files(index: Index) -> list[Path]:
    return sorted(index.home.projects.glob("*/*.jsonl"))


def append(path: Path, text: str) -> None:
    with path.open("ab") as stream:
        stream.write(text.encode())


def prompt(text: str, uuid: str = "", parent: str | None = None) -> str:
    link = f'"{parent}"' if parent else "null"
    return (
        f'{{"parentUuid":{link},"isSidechain":false,"type":"user","uuid":"{uuid or uuid_from(text)}",'
        f'"timestamp":"2026-03-09T10:00:00.000Z","cwd":"/w/app","message":{{"role":"user","content":"{text}"}}}}\n'
    )


def count_decodes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths of all lines that are decoded from now on, by the index or by the graph."""
    seen: list[int] = []
    decode = worded_entry.decode_index_entry

    def counted(data: bytes) -> worded_entry.IndexEntry:
        seen.append(len(data))
        return decode(data)

    monkeypatch.setattr(ingest, "decode_index_entry", counted)
    monkeypatch.setattr(words_sync, "decode_index_entry", counted)
    return seen


def test_a_second_sync_parses_no_line_and_opens_no_file(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = count_decodes(monkeypatch)
    first = index.sync()
    assert first.lines == len(decoded) > 50
    decoded.clear()
    monkeypatch.setattr("recollect.index.catalogue.tracking.open_inside", None)
    monkeypatch.setattr("recollect.index.catalogue.catalogue.Catalogue.locked", None)
    second = index.sync()
    assert (second.lines, second.files, second.bytes, second.documents, second.threaded, decoded) == (0, 0, 0, 0, 0, [])


def test_of_a_grown_file_only_the_new_lines_are_parsed(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    index.sync()
    decoded = count_decodes(monkeypatch)
    append(main_files(index)[0], prompt("needle one") + prompt("needle two"))
    report = index.sync()
    assert (report.files, report.lines, len(decoded), report.documents) == (1, 2, 2, 2)
    assert index.told() == index.told_by_a_new_one()
    assert len(index.told()[1]["needle"]) == 2


def test_of_a_file_with_one_more_link_nothing_is_parsed(
    index: Index, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    index.sync()
    before = index.told()
    decoded = count_decodes(monkeypatch)
    for number, path in enumerate(main_files(index)):
        os.link(path, tmp_path / f"backup-{number}")
    report = index.sync()
    assert (report.files, report.lines, report.documents, report.threaded, decoded) == (0, 0, 0, 0, [])
    assert index.told() == before
    monkeypatch.setattr("recollect.index.catalogue.catalogue.Catalogue.locked", None)
    assert index.sync().files == 0, "it is not asked again"


def test_nor_for_its_calls(index: Index, tmp_path: Path) -> None:
    assert sync_calls(index.catalogue, [index.home], usual_prices()).lines > 0
    for number, path in enumerate(main_files(index)):
        os.link(path, tmp_path / f"backup-{number}")
    report = sync_calls(index.catalogue, [index.home], usual_prices())
    assert (report.files, report.lines, report.bytes) == (0, 0, 0)
    assert changed(index.catalogue, [index.home], "calls") == []


def test_statuses_of_a_grown_session_are_renewed(index: Index) -> None:
    index.sync()
    path = main_files(index)[0]
    append(path, prompt("needle: begun anew"))
    report = index.sync()
    assert report.threaded == 1
    told, fresh = index.told(), index.told_by_a_new_one()
    assert told == fresh
    name = f"1:{path.relative_to(index.home.root)}"
    rows = [entry for entry in told[0]["entries"] if entry["file_id"] == name and entry["uuid"] is not None]
    assert None not in {entry["status"] for entry in rows}
    assert index.sync().threaded == 0


def truncated(index: Index) -> None:
    path = main_files(index)[0]
    data = path.read_bytes()
    os.truncate(path, data.rindex(b"\n", 0, len(data) // 2) + 1)


def cut_in_a_line(index: Index) -> None:
    path = main_files(index)[0]
    os.truncate(path, path.stat().st_size // 2)


def emptied(index: Index) -> None:
    os.truncate(main_files(index)[0], 0)


def replaced(index: Index) -> None:
    path = main_files(index)[0]
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes().replace(b"alpha", b"needle") + prompt("more").encode())
    os.replace(other, path)


def rewritten_in_place(index: Index) -> None:
    path = main_files(index)[0]
    data = path.read_bytes().replace(b"alpha", b"omega")
    before = path.stat().st_mtime_ns
    path.write_bytes(data)
    os.utime(path, ns=(before + 10, before + 10))


def title_of_the_same_length_and_time(index: Index) -> None:
    path = main_files(index)[0]
    data, before = path.read_bytes(), path.stat().st_mtime_ns
    os.truncate(path, 0)
    append(path, data.replace(b"Title ", b"TITLE ").decode())
    os.utime(path, ns=(before, before))


def renamed(index: Index) -> None:
    path = main_files(index)[0]
    path.rename(path.with_name(f"{uuid_from('new name')}.jsonl"))


def moved_to_another_project(index: Index) -> None:
    path = main_files(index)[0]
    folder = index.home.projects / "-w-other"
    folder.mkdir()
    path.rename(folder / path.name)
    path.with_suffix("").rename(folder / path.stem)


def deleted(index: Index) -> None:
    main_files(index)[0].unlink()


def project_deleted(index: Index) -> None:
    import shutil

    shutil.rmtree(main_files(index)[0].parent)


def copied(index: Index) -> None:
    path = main_files(index)[0]
    path.with_name(f"{uuid_from('copy')}.jsonl").write_bytes(path.read_bytes())


def names_exchanged(index: Index) -> None:
    one, two, _ = main_files(index)
    aside = one.with_suffix(".aside")
    one.rename(aside)
    two.rename(one)
    aside.rename(two)


def half_a_line(index: Index) -> None:
    append(main_files(index)[0], prompt("needle half")[:60])


def line_without_an_end(index: Index) -> None:
    append(main_files(index)[0], prompt("needle unended").rstrip("\n"))


def meta_changed(index: Index) -> None:
    note = next(index.home.projects.rglob("agent-*.meta.json"))
    note.write_text('{"agentType":"changed","description":"another"}')


CHANGES = [
    truncated, cut_in_a_line, emptied, replaced, rewritten_in_place, title_of_the_same_length_and_time, renamed,
    moved_to_another_project, deleted, project_deleted, copied, names_exchanged, half_a_line, line_without_an_end, meta_changed,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: str(change.__name__))
def test_every_change_is_noticed(index: Index, change: Callable[[Index], None]) -> None:
    index.sync()
    before = index.told()
    change(index)
    index.sync()
    told = index.told()
    assert told == index.told_by_a_new_one()
    assert told != before
    assert index.sync().lines == 0


def test_a_line_is_finished_later(index: Index) -> None:
    path = main_files(index)[0]
    index.sync()
    line = prompt("needle in two halves")
    append(path, line[:50])
    index.sync()
    assert index.told()[1]["needle"] == []
    assert {item["kind"] for item in index.told()[0]["damage"]} == {"torn"}
    append(path, line[50:-1])
    index.sync()
    assert len(index.told()[1]["needle"]) == 1
    assert index.told()[0]["damage"] == []
    append(path, "\n" + prompt("and one more"))
    assert index.sync().lines == 1
    assert index.told() == index.told_by_a_new_one()


def test_words_catch_up_with_a_catalogue_that_was_alone(index: Index) -> None:
    from recollect.index.catalogue.sync import bring_up_to_date

    bring_up_to_date(index.catalogue, [index.home], ("entries",))
    assert not index.catalogue.words_folder.exists()
    report = index.sync()
    assert report.documents > 20
    assert index.told() == index.told_by_a_new_one()


def test_words_that_were_committed_unheard_are_not_there_twice(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash after the words are committed and before the catalogue's mark is."""
    commit = WordsWriter.commit

    def crash(writer: WordsWriter, mark: int) -> None:
        commit(writer, mark)
        raise KeyboardInterrupt

    monkeypatch.setattr(WordsWriter, "commit", crash)
    with pytest.raises(KeyboardInterrupt):
        index.sync()
    monkeypatch.undo()
    index.sync()
    assert index.told() == index.told_by_a_new_one()


@pytest.mark.parametrize("damage", ["garbage", "half", "gone", "a page in the middle"])
def test_a_broken_catalogue_is_built_anew_by_itself(index: Index, damage: str) -> None:
    index.sync()
    expected = index.told()
    index.catalogue.close()
    path = index.folder / "index" / "catalogue.sqlite"
    data = path.read_bytes()
    if damage == "garbage":
        path.write_bytes(os.urandom(50_000))
    elif damage == "half":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "gone":
        path.unlink()
    else:
        path.write_bytes(data[:8192] + b"\xff" * (len(data) - 8192))
    index.catalogue = Catalogue.open(index.folder / "index")
    index.sync()
    assert index.told() == expected


def test_a_reader_that_makes_its_lock_meanwhile_does_not_keep_words_from_being_removed(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread of tantivy does so half a second after it noticed a commit, wherever the process is by then."""
    index.sync()
    expected = index.told()
    lock = index.catalogue.words_folder / ".tantivy-meta.lock"
    real = os.rmdir

    def make_lock_first(path: Any, **options: Any) -> None:
        with contextlib.suppress(FileNotFoundError):
            lock.touch()
        real(path, **options)

    monkeypatch.setattr(os, "rmdir", make_lock_first)
    forget_words(index.catalogue)
    monkeypatch.undo()
    index.sync()
    assert index.told() == expected
    assert not list(index.catalogue.folder.glob("words.*"))


@pytest.mark.parametrize("damage", ["folder gone", "meta.json broken"])
def test_a_broken_word_index_is_built_anew_from_the_catalogue(index: Index, damage: str) -> None:
    index.sync()
    expected = index.told()
    folder = index.catalogue.words_folder
    if damage == "folder gone":
        forget_words(index.catalogue)
    else:
        (folder / "meta.json").write_text("{ no")
        append(main_files(index)[0], prompt("needle"))
    index.sync()
    told = index.told()
    assert told == index.told_by_a_new_one()
    assert (told == expected) is (damage == "folder gone")


def test_an_index_of_another_schema_is_built_anew(index: Index) -> None:
    index.sync()
    expected = index.told()
    index.catalogue.close()
    with apsw.Connection(str(index.folder / "index" / "catalogue.sqlite")) as connection:
        connection.execute("PRAGMA user_version=1; DROP TABLE sessions")
    index.catalogue = Catalogue.open(index.folder / "index")
    assert index.sync().lines > 50
    assert index.told() == expected


def test_large_files_are_committed_on_the_way(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every file were large: pieces of a few lines, committed one by one."""
    monkeypatch.setattr(ingest, "WHOLE", 100)
    monkeypatch.setattr(ingest, "LINES_PER_COMMIT", 3)
    monkeypatch.setattr(ingest, "WORDS_PER_COMMIT", 2_000)
    path = main_files(index)[0]
    append(path, prompt("glued").rstrip("\n") + prompt("needle") + "no json\n" + prompt("end"))
    index.sync()
    told = index.told()
    monkeypatch.undo()
    assert told == index.told_by_a_new_one()


@pytest.mark.parametrize("after", range(1, 26, 4))
def test_an_interrupted_sync_goes_on(index: Index, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Stopped at the Nth commit: what was committed is not read again, and in the end all is there."""
    monkeypatch.setattr(ingest, "WHOLE", 100)
    monkeypatch.setattr(ingest, "LINES_PER_COMMIT", 2)
    commits = 0
    commit = ingest.Ingest._commit

    def interrupted(self: ingest.Ingest) -> None:
        nonlocal commits
        commits += 1
        if commits == after:
            raise KeyboardInterrupt
        commit(self)

    monkeypatch.setattr(ingest.Ingest, "_commit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        index.sync()
    done = int(index.catalogue.connection.execute("SELECT coalesce(sum(lines), 0) FROM progress").get)
    monkeypatch.setattr(ingest.Ingest, "_commit", commit)
    decoded = count_decodes(monkeypatch)
    index.sync()
    told = index.told()
    monkeypatch.undo()
    assert told == index.told_by_a_new_one()
    if done:
        total = sum(path.read_bytes().count(b"\n") for path in index.home.projects.rglob("*.jsonl"))
        # Words of entries that were in the catalogue already are read back: each line is decoded once more at most.
        assert len(decoded) <= total


def test_many_small_syncs_leave_few_pieces_and_lose_nothing(tmp_path: Path) -> None:
    small_home(tmp_path / "claude").write()
    index = Index(tmp_path / "claude", tmp_path)
    index.sync()
    paths = sorted((tmp_path / "claude" / "projects").glob("*/*.jsonl"))
    with index.catalogue:
        for number in range(20):
            entry = {
                "type": "user", "uuid": f"u{number}", "parentUuid": None, "timestamp": "2026-06-01T00:00:00.000Z",
                "message": {"role": "user", "content": f"needle alpha {number}"},
            }  # fmt: skip
            with paths[number % len(paths)].open("a") as stream:
                stream.write(json.dumps(entry) + "\n")
            report = index.sync()
            assert (report.lines, report.documents) == (1, 1)
            meta = json.loads((index.catalogue.words_folder / "meta.json").read_text())
            assert len(meta["segments"]) < 8
        assert index.told() == index.told_by_a_new_one()
