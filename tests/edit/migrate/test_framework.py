"""Steps are carried through as a whole, or taken back as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.running import tree_state

from recollect.edit.migrate.framework import Migration, carry_through, chain
from recollect.edit.migrate.own_folder import OwnFolder
from recollect.errors import DamagedData, NotFound, Unavailable
from recollect.journal import disk


def step(start: str, end: str, log: list[str], *, problem: str | None = None) -> Migration[list[str]]:
    def migrate(subject: list[str]) -> int:
        log.append(f"do {start}")
        subject.append(end)
        return 1

    return Migration(
        f"{start}-{end}", start, end, "words", migrate, lambda _: log.append(f"back {start}"), lambda _: problem
    )


def test_a_chain_leads_from_version_to_version() -> None:
    steps = [step("2", "3", []), step("1", "2", [])]
    assert [item.name for item in chain(steps, "1", "3")] == ["1-2", "2-3"]
    assert chain(steps, "3", "3") == []
    with pytest.raises(Unavailable):
        chain(steps, "4", "3")


def test_a_failure_takes_everything_back_the_last_first() -> None:
    log: list[str] = []
    with pytest.raises(DamagedData, match="2-3: wrong"):
        carry_through([], [step("1", "2", log), step("2", "3", log, problem="wrong")])
    assert log == ["do 1", "do 2", "back 2", "back 1"]


def writing(text: bytes, problem: str | None = None) -> Callable[[str, str], Migration[Path]]:
    def make(start: str, end: str) -> Migration[Path]:
        def migrate(folder: Path) -> int:
            (folder / "data").write_bytes(text)
            return 1

        return Migration(f"{start}-{end}", start, end, "words", migrate, lambda _: None, lambda _: problem)

    return make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "own" / "vault"
    path.mkdir(parents=True)
    (path / "data").write_bytes(b"one")
    return path


def test_an_own_folder_goes_to_the_new_format_and_back(folder: Path) -> None:
    before = tree_state(folder)
    own = OwnFolder("vault", folder, "3", (writing(b"two")("1", "2"), writing(b"three")("2", "3")))
    assert own.version == "1"
    assert [item.name for item in own.migrate()] == ["1-2", "2-3"]
    assert (folder / "data").read_bytes() == b"three"
    assert json.loads((folder / "format.json").read_bytes()) == {"format": "3"}
    assert own.version == "3"
    assert own.migrate() == []
    assert own.roll_back() == "1"
    assert {name: item[0] for name, item in tree_state(folder).items()} == {k: v[0] for k, v in before.items()}
    with pytest.raises(NotFound):
        own.roll_back()


def test_a_failing_step_leaves_the_folder_as_it_was(folder: Path) -> None:
    before = tree_state(folder.parent)
    own = OwnFolder("vault", folder, "2", (writing(b"two", "wrong")("1", "2"),))
    with pytest.raises(DamagedData):
        own.migrate()
    after = tree_state(folder.parent)
    assert after.keys() == before.keys()
    assert after["vault/data"] == before["vault/data"]


def test_a_crash_between_the_renames_is_mended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = OwnFolder("vault", folder, "2", (writing(b"two")("1", "2"),))
    real, calls = disk.rename, []

    def crash(source: Path, target: Path) -> None:
        calls.append(source)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(source, target)

    monkeypatch.setattr(disk, "rename", crash)
    with pytest.raises(KeyboardInterrupt):
        own.migrate()
    monkeypatch.setattr(disk, "rename", real)
    assert own.version == "1"
    assert (folder / "data").read_bytes() == b"one"
    assert own.migrate()
    assert (folder / "data").read_bytes() == b"two"


def test_a_folder_from_the_future_is_refused(folder: Path) -> None:
    (folder / "format.json").write_text('{"format": 9}')
    with pytest.raises(Unavailable):
        OwnFolder("vault", folder, "1").migrate()


def test_nothing_there_is_nothing_to_do(tmp_path: Path) -> None:
    own = OwnFolder("vault", tmp_path / "none" / "vault", "2", (writing(b"two")("1", "2"),))
    assert own.version is None
    assert own.migrate() == []
