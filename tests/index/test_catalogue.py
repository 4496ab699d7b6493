"""The catalogue's file: made, found again, thrown away where it is of no use, elsewhere where it cannot be written."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import apsw
import pytest

from recollect.errors import StoreBusy
from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.schema import HISTORY, SCHEMA_VERSION, TABLES, shown_uuid, stored_uuid

AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def count_homes(catalogue: Catalogue) -> int:
    return int(catalogue.connection.execute("SELECT count(*) FROM homes").get)


def test_what_was_written_is_there_again(tmp_path: Path) -> None:
    with Catalogue.open(tmp_path / "index") as catalogue, catalogue.locked(), catalogue.transaction():
        catalogue.home_id("/somewhere", make=True)
    with Catalogue.open(tmp_path / "index") as catalogue:
        assert catalogue.home_id("/somewhere") == 1
        assert catalogue.connection.execute("PRAGMA journal_mode").get == "wal"


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Catalogue.open(tmp_path / "index") as catalogue, catalogue.locked(), catalogue.transaction():
            catalogue.home_id("/somewhere", make=True)
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in catalogue.folder.iterdir()}
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "index").stat().st_mode) == 0o700
    assert set(modes) >= {"catalogue.sqlite", "catalogue.sqlite-wal", "sync.lock"}
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("damage", ["garbage", "cut", "other version", "a folder of words that is none"])
def test_a_catalogue_of_no_use_is_made_anew(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "index"
    with Catalogue.open(folder) as catalogue, catalogue.locked(), catalogue.transaction():
        catalogue.home_id("/somewhere", make=True)
    path = folder / "catalogue.sqlite"
    if damage == "garbage":
        path.write_bytes(b"this is no database" * 1000)
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:3000])
    else:
        with apsw.Connection(str(path)) as connection:
            connection.execute("PRAGMA user_version=7")
        if damage == "a folder of words that is none":
            (folder / "words").write_bytes(b"")
    with Catalogue.open(folder) as catalogue:
        assert catalogue.problem == ""
        assert count_homes(catalogue) == 0
        assert not (folder / "words").exists()


def test_who_has_it_open_follows_when_it_is_made_anew(tmp_path: Path) -> None:
    with Catalogue.open(tmp_path / "index") as first, Catalogue.open(tmp_path / "index") as second:
        with first.locked(), first.transaction():
            first.home_id("/one", make=True)
        second.make_anew()
        with first.locked(), first.transaction():
            assert count_homes(first) == 0
            first.home_id("/two", make=True)
        assert second.home_id("/two") == 1


@pytest.mark.skipif(os.name == "nt", reason="folders have no such modes")
@pytest.mark.parametrize("obstacle", ["a file in the way", "a folder that may not be written"])
def test_an_index_that_cannot_be_written_lies_in_a_temporary_folder(tmp_path: Path, obstacle: str) -> None:
    if obstacle == "a file in the way":
        (tmp_path / "cache").write_text("")
    else:
        if AS_ROOT:
            pytest.skip("root may write everywhere")
        (tmp_path / "cache").mkdir(mode=0o500)
    with Catalogue.open(tmp_path / "cache" / "index") as catalogue:
        assert catalogue.is_temporary
        assert str(tmp_path / "cache" / "index") in catalogue.problem
        assert count_homes(catalogue) == 0
        folder = catalogue.folder
    assert not folder.exists()


def test_there_is_one_writer(tmp_path: Path) -> None:
    with Catalogue.open(tmp_path / "index") as first, Catalogue.open(tmp_path / "index") as second:
        with first.locked(), first.locked(), pytest.raises(StoreBusy) as told, second.locked(seconds=0.05):
            pass
        assert told.value.slug == "indexing-elsewhere"
        with second.locked(seconds=0.05):
            pass


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be removed")
def test_a_folder_that_was_removed_meanwhile_is_made_again(tmp_path: Path) -> None:
    with Catalogue.open(tmp_path / "index") as catalogue:
        shutil.rmtree(tmp_path / "index")
        with catalogue.locked(), catalogue.transaction():
            catalogue.home_id("/one", make=True)
        with Catalogue.open(tmp_path / "index") as other:
            assert other.home_id("/one") == 1


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with Catalogue.open(tmp_path / "index") as catalogue:
        with pytest.raises(ZeroDivisionError), catalogue.transaction():
            catalogue.home_id("/somewhere", make=True)
            raise ZeroDivisionError
        assert count_homes(catalogue) == 0


def test_every_version_of_the_schema_says_what_changed() -> None:
    assert list(HISTORY) == list(range(1, SCHEMA_VERSION + 1))


def test_every_column_is_explained() -> None:
    assert [(table.name, column.name) for table in TABLES for column in table.columns if not column.doc] == []


@pytest.mark.parametrize(
    ("text", "length"),
    [("0a0a0a0a-0000-4000-8000-00000000000f", 16), ("0A0A0A0A-0000-4000-8000-00000000000F", 36), ("any text", 8)],
)
def test_uuids_come_back_as_they_were(text: str, length: int) -> None:
    assert len(stored_uuid(text) or "") == length
    assert shown_uuid(stored_uuid(text)) == text
    assert stored_uuid(None) is shown_uuid(None) is None
