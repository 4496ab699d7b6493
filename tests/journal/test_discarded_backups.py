"""Copies that the journal deleted because the vault has them: noted, fetched again for an undo, all or none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.errors import DamagedData, Refused
from recollect.journal.changes import Journal
from recollect.journal.journal import DiscardedBackup
from recollect.store.home import Home

STRANGE = os.fsdecode(b"caf\xe9.jsonl")


class Scene:
    """A home from which a file and a folder were removed."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "claude" / "projects" / "-w"
        (self.folder / "session" / "tool-results").mkdir(parents=True)
        self.content = {"session.jsonl": b"{}\n", "session/tool-results/a.txt": b"long", f"session/{STRANGE}": b"odd"}
        for name, data in self.content.items():
            (self.folder / name).write_bytes(data)
            os.utime(self.folder / name, (1e9, 1e9))
        (self.folder / "session" / "link").symlink_to("tool-results")
        self.home = Home(root / "claude")
        self.journal = Journal(root / "data")
        with self.journal.change(self.home, "prune", "Prune") as change:
            change.remove(self.folder / "session.jsonl")
            change.remove(self.folder / "session")
            self.record = change.commit()
        self.journal.discard_backups(self.record, self.home)

    def chunks(self, file: DiscardedBackup) -> Iterator[bytes]:
        yield self.content[str(Path(file.place).relative_to("projects/-w"))]

    def copies(self) -> list[str]:
        folder = self.journal.folder_of(self.record)
        return [path.name for path in folder.rglob("*") if path.is_file() and path.parent != folder]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_the_copies_are_gone_and_noted(scene: Scene) -> None:
    assert scene.copies() == []
    files = scene.journal.discarded_backups(scene.record).values()
    assert {file.place: file.size for file in files} == {
        f"projects/-w/{name}": len(data) for name, data in scene.content.items()
    }
    assert {file.mtime_ns for file in files} == {10**18}
    assert scene.journal.records()[0].state == "pruned"


def test_without_the_vault_the_change_is_not_undone(scene: Scene) -> None:
    with pytest.raises(Refused) as refused:
        scene.journal.undo(scene.record, scene.home)
    assert refused.value.slug == "pruned"
    assert not (scene.folder / "session.jsonl").exists()


def test_with_it_everything_comes_back(scene: Scene) -> None:
    scene.journal.undo(scene.record, scene.home, lambda record: scene.journal.take_backups_again(record, scene.chunks))
    for name, data in scene.content.items():
        assert (scene.folder / name).read_bytes() == data
        assert (scene.folder / name).stat().st_mtime == 1e9
    assert (scene.folder / "session" / "link").is_symlink()
    assert scene.journal.records()[0].state == "undone"


def test_if_one_file_cannot_be_had_none_is_taken(scene: Scene) -> None:
    def chunks(file: DiscardedBackup) -> Iterator[bytes]:
        if file.place.endswith("a.txt"):
            raise DamagedData("the vault lost it")
        yield from scene.chunks(file)

    with pytest.raises(DamagedData, match="lost it"):
        scene.journal.undo(scene.record, scene.home, lambda record: scene.journal.take_backups_again(record, chunks))
    assert scene.copies() == []
    assert scene.journal.records()[0].state == "pruned"
    test_with_it_everything_comes_back(scene)


def test_a_damaged_list_is_an_error_in_words(scene: Scene) -> None:
    (scene.journal.folder_of(scene.record) / "pruned").write_bytes(b"[")
    with pytest.raises(DamagedData) as problem:
        scene.journal.discarded_backups(scene.record)
    assert problem.value.slug == "damaged-journal"
