"""Calls in several files are found and booked alike: many files at once or few, in one transaction or in several."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from recollect.index import calls as intake
from recollect.index import sharing
from recollect.index.sharing import Sharing
from recollect.library.accounting import open_accounting

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


def _told(home: Path, index: Path) -> tuple[list[Any], list[Any], Any]:
    """What is booked where, the sums of every file, and the report."""
    with open_accounting([home], timezone="UTC", folder=index) as accounting:
        report = accounting.usage()
        db = accounting.catalogue.connection
        shared = db.execute(
            "SELECT message_id, request_id, f.path, number, copies, input, output, flags FROM shared_calls s "
            "JOIN files f ON f.id = s.file_id ORDER BY 1, 2"
        ).fetchall()
        sums = db.execute(
            "SELECT f.path, day, calls, input, output, cost, lower_bounds FROM day_sums s "
            "JOIN files f ON f.id = s.file_id WHERE calls > 0 ORDER BY 1, 2"
        ).fetchall()
    return shared, sums, report


def _found_anew(home: Path, index: Path) -> tuple[list[Any], list[Any], Any]:
    """The same by an index that remembers no calls while it is made: it looks for all of them in all files."""

    def few(self: Sharing, catalogue: Any, *, many: bool) -> None:
        made(self, catalogue, many=False)

    made = Sharing.__init__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sharing, "__init__", few)
        return _told(home, index)


@pytest.mark.parametrize("alike", [False, True], ids=["hashes", "equal hashes"])
@pytest.mark.parametrize("batch", [1, 3000, 1 << 30])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_remembered_is_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, batch: int, alike: bool
) -> None:
    random = Random(seed)
    home = tmp_path / "claude"
    folder = home / "projects" / "-p"
    folder.mkdir(parents=True)
    for name in range(_FILES):
        _write(folder, random, name)
    monkeypatch.setattr(intake, "BATCH_BYTES", batch)
    if alike:
        monkeypatch.setattr(sharing, "hash", lambda key: len(key[0]), raising=False)
    for number in range(4):
        wanted = _found_anew(home, tmp_path / f"anew-{number}")
        assert len(wanted[0]) > 10
        assert _told(home, tmp_path / "index") == wanted
        _change(folder, random)


def test_files_with_calls_of_their_own_are_not_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first report knows from memory which files share calls: only their sums change."""
    folder = tmp_path / "claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    for name in range(30):
        (folder / f"{name:02}.jsonl").write_bytes(_answer(name, name, 5))
    (folder / "07-copy.jsonl").write_bytes(_answer(7, 7, 5))

    settled: list[set[int]] = []
    settle = Sharing.settle

    def watched(self: Sharing) -> set[int]:
        settled.append(settle(self))
        return settled[-1]

    monkeypatch.setattr(Sharing, "settle", watched)
    monkeypatch.setattr(sharing, "files_with", None)
    with open_accounting([tmp_path / "claude"], timezone="UTC", folder=tmp_path / "index") as accounting:
        assert accounting.usage().totals.calls == 30
        names = dict(iter(accounting.catalogue.connection.execute("SELECT id, path FROM files")))
    shared = {"projects/-p/07.jsonl", "projects/-p/07-copy.jsonl"}
    assert [{names[number] for number in stale} for stale in settled] == [shared]
