"""Rolling back after a crash with a journal that lost something: it goes on, and no bytes are gone for good."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec import Struct

from recollect.errors import Refused
from recollect.journal import disk
from recollect.journal.changes import Change, Journal, Record
from recollect.store.home import Home

OLD, NEW = b'{"model":"opus"}' * 20, b'{"model":"haiku"}' * 20


class Crash(BaseException):
    """The process ends here."""


class CrashingJournal(Journal):
    """Ends when everything is done, but for the note that it is."""

    def mark(self, folder: Path, state: str, notes: Mapping[str, Struct] | None = None) -> None:
        raise Crash

    def roll_back(self, record: Record) -> None:
        raise Crash


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "claude" / "projects").mkdir(parents=True)
    (tmp_path / "claude" / "settings.json").write_bytes(OLD)
    return Home(tmp_path / "claude")


def crashed(home: Home) -> tuple[Change, Path]:
    """A change that is all but done, and its folder in the journal."""
    change = CrashingJournal(home.root.parent / "data").change(home, "write", "Write and append")
    change.write(home.root / "settings.json", [NEW], replace=True)
    change.append(home.root / "lines.jsonl", b"{}\n", create=True)
    with pytest.raises(Crash):
        change.commit()
    (folder,) = (home.root.parent / "data" / "changes").glob("0*")
    return change, folder


def recover(home: Home) -> None:
    journal = Journal(home.root.parent / "data")
    with journal.locked(home):
        journal.recover(home)
        assert not journal.is_interrupted(home)


def test_a_sound_copy_comes_back_and_nothing_is_left_of_the_new_bytes(home: Home) -> None:
    _, folder = crashed(home)
    recover(home)
    assert (home.root / "settings.json").read_bytes() == OLD
    assert not (home.root / "lines.jsonl").exists()
    assert not any(path.read_bytes() == NEW for path in folder.iterdir())


def test_a_damaged_copy_comes_back_but_what_it_replaces_is_kept(home: Home) -> None:
    """It may as well be what a client wrote at the last moment, which must not be lost."""
    _, folder = crashed(home)
    (folder / "old-0").write_bytes(OLD[:7])
    recover(home)
    assert (home.root / "settings.json").read_bytes() == OLD[:7]
    assert (folder / "new-0").read_bytes() == NEW


def test_lines_that_the_journal_lost_stay_and_the_rest_is_rolled_back(home: Home) -> None:
    change, folder = crashed(home)
    (folder / change.steps[1].staged).unlink()  # type: ignore[union-attr]
    recover(home)
    assert (home.root / "settings.json").read_bytes() == OLD
    assert (home.root / "lines.jsonl").read_bytes() == b"{}\n"


def test_the_same_bytes_again_need_no_way_back(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be written, what holds the new bytes already was taken for done, and the home stayed blocked."""
    journal = Journal(home.root.parent / "data")

    def read_only(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    with journal.change(home, "write", "Write the same") as change:
        change.write(home.root / "settings.json", [OLD], replace=True)
        monkeypatch.setattr(disk, "put_in_place", read_only)
        monkeypatch.setattr(disk, "copy_tree", read_only)
        with pytest.raises(Refused) as refused:
            change.commit()
    assert refused.value.slug == "read-only"
    assert not journal.is_interrupted(home)
    assert (home.root / "settings.json").read_bytes() == OLD


def test_half_of_a_copy_does_not_stay(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    crashed(home)

    def no_room(source: Path, target: Path) -> None:
        target.write_bytes(source.read_bytes()[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disk, "copy_tree", no_room)
    with pytest.raises(Refused) as refused:
        recover(home)
    assert refused.value.slug == "disk-full"
    assert [path.name for path in home.root.iterdir() if "recollect-tmp" in path.name] == []
    monkeypatch.undo()
    recover(home)
    assert (home.root / "settings.json").read_bytes() == OLD
