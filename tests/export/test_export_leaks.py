"""Exports of labelled homes: no planted secret stands in what was written, in any format."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

import recollect
from recollect.export.formats import FORMATS
from recollect.testing.secret_home import Planted, build_secret_home


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Planted]]:
    root = tmp_path_factory.mktemp("labelled") / "claude"
    return root, build_secret_home(root, per_kind=1, per_harmless=1)


def written(folder: Path) -> str:
    """Everything that was written, as text; tables are read, since their bytes are compressed."""
    parts: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet":
            with duckdb.connect() as connection:
                parts += map(str, connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM '{path}'").fetchall())
        elif path.is_file():
            parts.append(path.read_text("utf-8", "replace"))
    return "\n".join(parts)


@pytest.mark.parametrize("name", FORMATS)
def test_no_definite_secret_is_left(name: str, planted: tuple[Path, list[Planted]], tmp_path: Path) -> None:
    home, truth = planted
    library = recollect.open(home)
    for item in library.sessions(kept=None, count=False):
        folder = tmp_path / item.session_id
        folder.mkdir()
        library.session(item.session_id).export(
            folder / f"talk{FORMATS[name].suffix}", format=name, depth="all", redact="secrets"
        )
    text = written(tmp_path)
    for item_of_truth in truth:
        if (
            item_of_truth.family == "secret"
            and item_of_truth.confidence == "definite"
            and item_of_truth.pointer is not None
        ):
            assert item_of_truth.value not in text, (item_of_truth.kind, item_of_truth.form)
            assert json.dumps(item_of_truth.value)[1:-1] not in text, (item_of_truth.kind, item_of_truth.form)
