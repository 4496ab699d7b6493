"""The SQLite store: what is in the file, and files that are something else."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
from tests.contracts.store_kinds import (
    KEY,
    everything_in,
    loaded,
    row,
)

from recollect.errors import DamagedData, Refused, StoreBusy, Unavailable
from recollect.stores.sqlite import APPLICATION_ID, SqliteSessionStore


def test_the_exact_text_of_entries_is_in_the_database(tmp_path: Path) -> None:
    async def use() -> None:
        store = SqliteSessionStore(tmp_path / "store.db")
        await store.append(KEY, [{"type": "x", "b": 1, "a": "ü\ud800"}, {"type": "y"}])
        store.close()

    asyncio.run(use())
    database = sqlite3.connect(tmp_path / "store.db")
    assert database.execute("SELECT text FROM entries ORDER BY number").fetchall() == [
        ('{"type":"x","b":1,"a":"ü\\ud800"}',),
        ('{"type":"y"}',),
    ]
    assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    database.close()


def test_files_that_are_no_store_are_refused_and_not_changed(tmp_path: Path) -> None:
    def foreign(path: Path, *statements: str) -> Path:
        database = sqlite3.connect(path)
        for statement in statements:
            database.execute(statement)
        database.commit()
        database.close()
        return path

    text = tmp_path / "text"
    text.write_text("no database at all, but long enough to look at it" * 100)
    newer = (f"PRAGMA application_id = {APPLICATION_ID}", "PRAGMA user_version = 99", "CREATE TABLE t (x)")
    cases: list[tuple[Path, type[Exception]]] = [
        (text, DamagedData),
        (foreign(tmp_path / "other", "CREATE TABLE notes (x)"), Refused),
        (foreign(tmp_path / "newer", *newer), Unavailable),
    ]
    before = everything_in(tmp_path)

    async def use() -> None:
        for path, error in cases:
            store = SqliteSessionStore(path)
            with pytest.raises(error):
                await store.append(KEY, [row(1)])
            with pytest.raises(error):
                await store.load(KEY)

    asyncio.run(use())
    assert everything_in(tmp_path) == before


def test_a_database_that_others_hold_is_busy(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def use() -> None:
        store = SqliteSessionStore(path, wait=0.1)
        await store.append(KEY, [row(1)])
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            await store.append(KEY, [row(2)])
        assert await loaded(store) == [row(1)]
        other.execute("ROLLBACK")
        other.close()
        await store.append(KEY, [row(2)])
        assert await loaded(store) == [row(1), row(2)]

    asyncio.run(use())


def test_summaries_of_another_fold_are_made_anew(tmp_path: Path) -> None:
    async def use() -> None:
        store = SqliteSessionStore(tmp_path / "store.db")
        await store.append(KEY, [{"type": "custom-title", "customTitle": "Right"}])
        (right,) = await store.list_session_summaries("-p")
        for _ in range(2):
            other = sqlite3.connect(tmp_path / "store.db")
            other.execute("""UPDATE transcripts SET fold = 0, summary = '{"custom_title":"Wrong"}'""")
            other.commit()
            other.close()
            (again,) = await store.list_session_summaries("-p")
            assert again["data"] == right["data"]
            await store.append(KEY, [{"type": "mode", "mode": "x"}])
            (after,) = await store.list_session_summaries("-p")
            assert after["data"] == right["data"]

    asyncio.run(use())
