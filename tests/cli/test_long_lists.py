"""Lists of many rows: each file is opened once, and rows are written while others are still to come."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.running import run

from recollect.cli.command_run import CommandRun
from recollect.testing import HomeBuilder


def test_a_list_opens_each_transcript_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = HomeBuilder(tmp_path / "claude", version="2.1.325")
    for number in range(20):
        builder.session("/w/app").user(f"prompt {number}")
    root = builder.write()
    opened: list[str] = []
    really_open = os.open

    def count(path: Any, *rest: Any, **options: Any) -> int:
        opened.append(os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else "")
        return really_open(path, *rest, **options)

    monkeypatch.setattr(os, "open", count)
    assert run(capsys, root, "list", "--json").data["total"] == 20
    assert sum(path.endswith(".jsonl") for path in opened) == 20


def test_rows_of_one_object_are_written_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    written: list[int] = []
    out = ""

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal out
        for number in range(3000):
            yield {"number": number, "text": "x" * 100}
            out += capsys.readouterr().out
            written.append(len(out))

    CommandRun(format="json").rows(rows(), total=3000)
    whole = out + capsys.readouterr().out
    assert 0 < written[1500] < written[2900] < len(whole)
    expected = {"rows": [{"number": n, "text": "x" * 100} for n in range(3000)], "total": 3000}
    assert whole == json.dumps(expected, indent=2) + "\n"


def test_an_empty_list_is_an_object_too(capsys: pytest.CaptureFixture[str]) -> None:
    CommandRun(format="json").rows(iter(()), total=0, left_out=[{"path": "x"}])
    assert capsys.readouterr().out == json.dumps({"rows": [], "total": 0, "left_out": [{"path": "x"}]}, indent=2) + "\n"
