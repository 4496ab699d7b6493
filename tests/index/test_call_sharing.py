"""Calls in several files are found and booked alike: many files at once or few, in one transaction or in several."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.analysis.scene import ledger_over

from recollect.index.api_calls import store
from recollect.index.api_calls import sync as intake

_FILES = 45


def _answer(number: int, seconds: int, output: int) -> bytes:
    usage = {"input_tokens": number, "output_tokens": output}
    body = {"id": f"msg_{number}", "model": "claude-sonnet-4-5-20250929", "usage": usage}
    when = f"2026-01-02T03:{seconds // 60:02}:{seconds % 60:02}.678Z"
    told = {"type": "assistant", "message": body, "requestId": f"r{number}", "timestamp": when}
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"


def _write(folder: Path, random: Random, name: int) -> None:
    """A file with calls of its own and some that others have, too: as often as not with other counts or another time."""
    numbers = [1000 + name, *random.sample(range(60), random.randrange(6))]
    random.shuffle(numbers)
    lines = [_answer(number, number + random.choice((0, 0, 1)), random.choice((5, 5, 9))) for number in numbers]
    (folder / f"{name:02}.jsonl").write_bytes(b"".join(lines))


def _change(folder: Path, random: Random) -> None:
    """More than twenty files are other ones: gone, grown, rewritten or new."""
    for name in random.sample(range(_FILES), 30):
        path = folder / f"{name:02}.jsonl"
        what = random.choice(("gone", "grown", "rewritten"))
        if not path.exists() or what == "rewritten":
            _write(folder, random, name)
        elif what == "gone":
            path.unlink()
        else:
            with path.open("ab") as stream:
                stream.write(_answer(random.randrange(60), 7, 40))


def _told(home: Path, index: Path) -> tuple[list[Any], Any]:
    """What is booked where, and the report."""
    with ledger_over([home], index) as ledger:
        report = ledger.usage()
        db = ledger.catalogue.connection
        shared = db.execute(
            "SELECT a.message_id, a.request_id, f.path, s.line, s.part, s.counted, s.copies, s.input, s.output, s.flags, s.cost "
            "FROM shared_calls s JOIN api_calls a USING (file_id, line, part) JOIN files f ON f.id = s.file_id ORDER BY 1, 2, 3"
        ).fetchall()
        assert [row[0] for row in db.execute("PRAGMA index_list(api_calls)").fetchall()]
    return shared, report


@pytest.mark.parametrize("many", [0, 1 << 30], ids=["asked for all at once", "one by one"])
@pytest.mark.parametrize("batch", [1, 3000, 1 << 30])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_decided_is_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, batch: int, many: int
) -> None:
    random = Random(seed)
    home = tmp_path / "claude"
    folder = home / "projects" / "-p"
    folder.mkdir(parents=True)
    for name in range(_FILES):
        _write(folder, random, name)
    monkeypatch.setattr(intake, "BATCH_BYTES", batch)
    monkeypatch.setattr(store, "_MANY", many)
    for number in range(4):
        wanted = _told(home, tmp_path / f"anew-{number}")
        assert len(wanted[0]) > 10
        assert _told(home, tmp_path / "index") == wanted
        _change(folder, random)
