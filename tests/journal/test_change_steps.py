"""What may become a step of a change, what keeps a change from being committed, and what the journal says about changes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.edit.append import SessionWriter
from recollect.errors import DamagedData, NotFound, RecollectError, Refused, StoreBusy
from recollect.format.encode import RowContext
from recollect.journal import disk
from recollect.journal.changes import Change, Journal
from recollect.store.home import Home

SESSION = "0f0e0d0c-0b0a-4908-8706-050403020100"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "claude" / "projects" / "-w").mkdir(parents=True)
    (tmp_path / "claude" / "file.json").write_bytes(b"{}\n")
    return Home(tmp_path / "claude")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "data")


@pytest.fixture
def change(journal: Journal, home: Home) -> Change:
    return journal.change(home, "test", "Test")


def _link(home: Home) -> Path:
    (home.root / "link").symlink_to("file.json")
    return home.root / "link"


REFUSED: dict[str, tuple[Callable[[Change, Home], None], str]] = {
    "append to nothing": (lambda c, h: c.append(h.root / "none", b"x"), "no-such-file"),
    "create what is there": (lambda c, h: c.append(h.root / "file.json", b"x", create=True), "exists"),
    "write over a file": (lambda c, h: c.write(h.root / "file.json", [b"x"]), "exists"),
    "move onto a file": (lambda c, h: c.move(h.projects, h.root / "file.json"), "exists"),
    "a secret": (lambda c, h: c.write(h.root / ".credentials.json", [b"x"]), "secret"),
    "outside of the home": (lambda c, h: c.write(h.root.parent / "x", [b"x"]), "outside-home"),
    "through a link": (lambda c, h: c.write(_link(h), [b"x"], replace=True), "outside-home"),
    "below a file": (lambda c, h: c.folder(h.root / "file.json" / "x"), "no-place"),
    "rely on nothing": (lambda c, h: c.rely_on(h.root / "none", content=True), "no-such-file"),
    "rely on a folder": (lambda c, h: c.rely_on(h.projects, content=True), "unreadable-file"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_a_step(name: str, change: Change, home: Home) -> None:
    step, slug = REFUSED[name]
    with pytest.raises(RecollectError) as problem:
        step(change, home)
    assert problem.value.slug == slug
    assert change.steps == []


def test_a_kept_home_is_not_changed(journal: Journal, home: Home, tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        journal.change(Home(home.root, kept_from=tmp_path / "gone"), "test", "Test")
    assert refused.value.slug == "only-kept"


def _other_time(path: Path) -> None:
    os.utime(path, (1e9, 1e9))


def _other_bytes_at_the_same_time(path: Path) -> None:
    info = path.stat()
    path.write_bytes(b"[]\n")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


@pytest.mark.parametrize(
    ("content", "meddle"),
    [(False, _other_time), (True, _other_bytes_at_the_same_time), (False, Path.unlink)],
    ids=["time", "bytes", "gone"],
)
def test_a_file_that_changed_since_it_was_read_stops_the_change(
    content: bool, meddle: Callable[[Path], Any], change: Change, home: Home
) -> None:
    change.rely_on(home.root / "file.json", content=content)
    change.append(home.root / "new.jsonl", b"{}\n", create=True)
    meddle(home.root / "file.json")
    with pytest.raises(StoreBusy) as busy, change:
        change.commit()
    assert busy.value.slug == "changed-meanwhile"
    assert not (home.root / "new.jsonl").exists()
    assert not list(change.journal.staging.glob("*"))


def test_a_file_that_comes_before_it_is_created_stops_the_change(change: Change, home: Home) -> None:
    change.append(home.root / "new.jsonl", b"{}\n", create=True)
    (home.root / "new.jsonl").write_bytes(b"theirs")
    with pytest.raises(StoreBusy), change:
        change.commit()
    assert (home.root / "new.jsonl").read_bytes() == b"theirs"


def test_a_copy_that_is_not_what_was_read_stops_the_change(
    change: Change, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home.root / "file.json"
    change.rely_on(path, content=True)
    change.write(path, [b"new"], replace=True)

    def damaged(source: Path, target: Path) -> None:
        target.write_bytes(source.read_bytes() if "doing" in target.name else b"xx\n")

    monkeypatch.setattr(disk, "link_or_copy", damaged)
    with pytest.raises(DamagedData) as problem, change:
        change.commit()
    assert problem.value.slug == "backup-differs"
    assert path.read_bytes() == b"{}\n"


def test_lines_of_one_file_are_one_write_and_end_an_open_line(change: Change, home: Home) -> None:
    path = home.root / "file.json"
    path.write_bytes(b"{}")
    change.append(path, b"1\n")
    change.append(path, b"2\n")
    assert change.describe() == [f"append 5 bytes to {path}"]
    assert not change.takes_away
    with change:
        change.commit()
    assert path.read_bytes() == b"{}\n1\n2\n"


def test_a_plan_that_is_not_committed_leaves_nothing(journal: Journal, home: Home) -> None:
    with journal.change(home, "test", "Test") as change:
        change.write(home.root / "deep" / "file", [b"x"])
        assert list(journal.staging.iterdir())
    assert not list(journal.staging.iterdir())
    assert journal.records() == []
    assert not (home.root / "deep").exists()


def _written(journal: Journal, home: Home, name: str = "new.jsonl") -> Path:
    with journal.change(home, "test", "Test") as change:
        change.append(home.root / name, b"{}\n", create=True)
        change.commit()
    return home.root / name


class TestRecords:
    def test_changes_of_another_home_are_told_apart(self, journal: Journal, home: Home, tmp_path: Path) -> None:
        _written(journal, home)
        (tmp_path / "other" / "projects").mkdir(parents=True)
        other = Home(tmp_path / "other")
        assert journal.records([other]) == []
        with pytest.raises(Refused) as refused:
            journal.record(1, [other])
        assert refused.value.slug == "other-home"
        with pytest.raises(Refused) as refused:
            journal.undo(journal.record(1), other)
        assert refused.value.slug == "not-undoable"

    @pytest.mark.parametrize("number", [None, 7])
    def test_a_change_that_is_not_there(self, journal: Journal, number: int | None) -> None:
        with pytest.raises(NotFound) as missing:
            journal.record(number)
        assert missing.value.slug == "no-such-change"

    def test_a_journal_that_is_no_folder(self, journal: Journal, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        journal.folder.write_bytes(b"")
        with pytest.raises(DamagedData) as problem:
            journal.records()
        assert problem.value.slug == "damaged-journal"

    def test_a_record_that_cannot_be_read_is_passed_over(self, journal: Journal, home: Home) -> None:
        _written(journal, home)
        _written(journal, home, "second.jsonl")
        (journal.folder / "000002-test" / "change.json").write_bytes(b"{")
        (journal.folder / "strange").mkdir()
        assert [record.number for record in journal.records()] == [1]
        assert journal.next_number() == 3

    def test_a_change_is_undone_once(self, journal: Journal, home: Home) -> None:
        path = _written(journal, home)
        record = journal.record()
        journal.undo(record, home)
        assert not path.exists()
        with pytest.raises(Refused) as refused:
            journal.undo(record, home)
        assert refused.value.slug == "not-undoable"


UNDO_REFUSED: dict[str, tuple[Callable[[Path, Path], Any], str]] = {
    "the file is gone": (lambda path, _: path.unlink(), "changed-since"),
    "it has grown": (lambda path, _: path.write_bytes(b"{}\n{}\n"), "changed-since"),
    "it has other bytes": (lambda path, _: path.write_bytes(b"[]\n"), "changed-since"),
    "the copy is gone": (lambda _, folder: next(folder.glob("append-*")).unlink(), "damaged-journal"),
    "the copy is cut": (lambda _, folder: next(folder.glob("append-*")).write_bytes(b"{"), "damaged-journal"),
}


@pytest.mark.parametrize("name", UNDO_REFUSED)
def test_what_keeps_lines_from_being_undone(name: str, journal: Journal, home: Home) -> None:
    path = _written(journal, home)
    meddle, slug = UNDO_REFUSED[name]
    meddle(path, journal.folder / "000001-test")
    with pytest.raises(RecollectError) as problem:
        journal.check_undo(journal.record(), home)
    assert problem.value.slug == slug


def test_a_replaced_file_is_undone_only_with_a_sound_copy(journal: Journal, home: Home) -> None:
    path = home.root / "file.json"
    with journal.change(home, "test", "Test") as change:
        change.write(path, [b"new"], replace=True)
        assert change.takes_away
        change.commit()
    record = journal.record()
    copy = journal.folder / "000001-test" / "old-0"
    sound, times = copy.read_bytes(), copy.stat()
    copy.write_bytes(b"other bytes")
    with pytest.raises(DamagedData, match="is damaged"):
        journal.undo(record, home)
    copy.unlink()
    with pytest.raises(DamagedData, match="is missing"):
        journal.undo(record, home)
    copy.write_bytes(sound)
    os.utime(copy, ns=(times.st_atime_ns, times.st_mtime_ns))
    path.write_bytes(b"new2")
    with pytest.raises(Refused, match="changed since"):
        journal.undo(record, home)
    path.unlink()
    with pytest.raises(Refused, match="it is gone"):
        journal.undo(record, home)
    path.write_bytes(b"new")
    journal.undo(record, home)
    assert path.read_bytes() == sound


class TestWriters:
    """The lines of a writer are one step."""

    @pytest.fixture
    def writer(self, journal: Journal, home: Home) -> SessionWriter:
        path = home.projects / "-w" / f"{SESSION}.jsonl"
        return SessionWriter(journal, home, path, RowContext(SESSION, "/w"), force=True)

    def test_they_are_undone_together(self, writer: SessionWriter, journal: Journal, home: Home) -> None:
        with writer:
            writer.append_message("user", "one")
            writer.append_message("assistant", "two")
        record = journal.record()
        assert journal.describe_undo(record) == [f"remove {writer.path}"]
        assert [action.describe() for action in record.actions] == [f"append messages to {writer.path}"]
        journal.undo(record, home)
        assert not writer.path.exists()

    @pytest.mark.parametrize("grown", [None, b"{"], ids=["not closed", "damaged"])
    def test_without_a_note_of_what_was_written_nothing_is_undone(
        self, grown: bytes | None, writer: SessionWriter, journal: Journal, home: Home
    ) -> None:
        with writer:
            writer.append_message("user", "one")
        note = journal.folder_of(journal.record()) / "grown.json"
        note.unlink()
        if grown is not None:
            note.write_bytes(grown)
        with pytest.raises(RecollectError, match=r"grown\.json|without closing"):
            journal.check_undo(journal.record(), home)
        assert writer.path.exists()

    def test_lines_of_somebody_else_keep_them(self, writer: SessionWriter, journal: Journal, home: Home) -> None:
        with writer:
            writer.append_message("user", "one")
        with writer.path.open("ab") as stream:
            stream.write(b"{}\n")
        with pytest.raises(Refused, match="changed since"):
            journal.check_undo(journal.record(), home)

    def test_an_undo_that_fails_leaves_them(
        self, writer: SessionWriter, journal: Journal, home: Home, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        writer.path.write_bytes(b'{"type":"tag"}\n')
        os.utime(writer.path, (1e9, 1e9))
        with writer:
            writer.append_message("user", "one")
        before = writer.path.read_bytes()
        real = journal.mark

        def full(folder: Path, state: str, *rest: Any) -> None:
            if state == "undone":
                raise OSError(errno.ENOSPC, "No space left on device")
            real(folder, state, *rest)

        monkeypatch.setattr(journal, "mark", full)
        with pytest.raises(Refused) as refused:
            journal.undo(journal.record(), home)
        assert refused.value.slug == "disk-full"
        assert writer.path.read_bytes() == before
        monkeypatch.undo()
        journal.undo(journal.record(), home)
        assert writer.path.read_bytes() == b'{"type":"tag"}\n'

    @pytest.mark.parametrize("after", ["truncate", "mark"])
    def test_an_undo_that_a_crash_interrupts_is_completed(
        self, after: str, writer: SessionWriter, journal: Journal, home: Home, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        writer.path.write_bytes(b'{"type":"tag"}\n')
        os.utime(writer.path, (1e9, 1e9))
        with writer:
            writer.append_message("user", "one")

        def crash(*_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(*((disk, "truncate", crash) if after == "truncate" else (journal, "mark", crash)))
        with pytest.raises(KeyboardInterrupt):
            journal.undo(journal.record(), home)
        monkeypatch.undo()
        with journal.locked(home):
            assert [record.number for record in journal.recover(home)] == [1]
        assert writer.path.read_bytes() == b'{"type":"tag"}\n'
        assert writer.path.stat().st_mtime == 1e9
        assert journal.records()[0].state == "undone"


MOVED: dict[str, tuple[Callable[[Home, Path], Any], str]] = {
    "the old place is taken": (lambda home, _: (home.root / "file.json").touch(), "changed-since"),
    "the new place is empty": (lambda home, _: (home.root / "there.json").unlink(), "changed-since"),
    "what was removed is there again": (lambda home, _: (home.projects / "-w").mkdir(), "changed-since"),
    "the copy is gone": (lambda _, folder: next(folder.glob("removed-*")).rmdir(), "damaged-journal"),
    "the copy holds something else": (
        lambda _, folder: (next(folder.glob("removed-*")) / "x").write_bytes(b"x"),
        "damaged-journal",
    ),
}


@pytest.mark.parametrize("name", MOVED)
def test_what_keeps_a_move_and_a_removal_from_being_undone(name: str, journal: Journal, home: Home) -> None:
    with journal.change(home, "test", "Test") as change:
        change.move(home.root / "file.json", home.root / "there.json")
        change.remove(home.projects / "-w")
        change.commit()
    record = journal.record()
    assert journal.check_undo(record, home).number == 1
    meddle, slug = MOVED[name]
    meddle(home, journal.folder_of(record))
    with pytest.raises(RecollectError) as problem:
        journal.check_undo(record, home)
    assert problem.value.slug == slug
