"""A small database for SQL, made without an index: what is asked of it is what the child process allows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from recollect.errors import RecollectError
from recollect.index.sql.query import Answer, Limits, Question


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("sql")
    path = folder / "small.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE numbers AS SELECT i AS a, 'n' || i AS b FROM range(10) r(i)")
    before = path.read_bytes()
    yield path
    assert path.read_bytes() == before, "a question changed the database"
    assert [item.name for item in folder.iterdir()] == ["small.duckdb"], "a question left files behind"


def ask(database: Path, sql: str, parameters: object = (), **limits: float) -> Answer:
    given = Limits(**limits) if limits else None  # type: ignore[arg-type]
    return Question(database, sql, parameters, limits=given).answer()  # type: ignore[arg-type]


def mistake(database: Path, sql: str, **limits: float) -> RecollectError:
    with pytest.raises(RecollectError) as caught:
        ask(database, sql, **limits)
    return caught.value
