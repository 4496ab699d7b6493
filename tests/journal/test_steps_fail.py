"""One change with every kind of step, failing or interrupted at every call: the home is as before or as after, never between."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.faulty import Fault, faulty_disk

from recollect.errors import RecollectError
from recollect.journal.changes import Journal, Record
from recollect.store.home import Home

Tree = dict[str, tuple[bytes, int] | None]
"""Bytes and time of every file below the home, by its path; None for a folder."""


class Scene:
    """A small home, and a change of it that appends, creates, replaces, moves, removes, and makes and removes folders."""

    def __init__(self, root: Path) -> None:
        (root / "claude" / "projects" / "-w" / "old").mkdir(parents=True)
        self.home = Home(root / "claude")
        self.data = root / "data"
        self.journal = Journal(self.data)
        for number, name in enumerate(("grows", "replaced", "moved", "removed", "same")):
            path = self.project / f"{name}.jsonl"
            path.write_bytes(b'{"type":"tag","tag":"%s"}\n' % name.encode())
            os.utime(path, (1e9 + number, 1e9 + number))
        (self.project / "whole").mkdir()
        (self.project / "whole" / "inside.txt").write_bytes(b"inside")

    @property
    def project(self) -> Path:
        return self.home.projects / "-w"

    def commit(self) -> Record:
        with self.journal.change(self.home, "everything", "Everything at once") as change:
            change.append(self.project / "grows.jsonl", b"{}\n", keep_mtime=True)
            change.append(self.project / "new.jsonl", b"{}\n", create=True)
            change.write(self.project / "replaced.jsonl", [b"other", b" bytes"], replace=True, mtime_ns=10**18)
            change.write(self.project / "deep" / "er" / "written.json", [b"[]"])
            change.move(self.project / "moved.jsonl", self.project / "there.jsonl")
            change.move(self.project / "whole", self.project / "elsewhere")
            change.remove(self.project / "removed.jsonl")
            change.remove_folder(self.project / "old")
            return change.commit()

    def tree(self) -> Tree:
        found: Tree = {}
        for path in sorted(self.home.root.rglob("*")):
            content = None if path.is_dir() else (path.read_bytes(), path.stat().st_mtime_ns)
            found[str(path.relative_to(self.home.root))] = content
        return found

    def recover(self) -> None:
        with self.journal.locked(self.home):
            self.journal.recover(self.home)
            assert not self.journal.is_interrupted(self.home)

    def is_one_of(self, *trees: Tree) -> bool:
        """Times of files that a change wrote itself are those of the moment."""
        now = self.tree()
        return any(_without_times(now) == _without_times(tree) for tree in trees)


def _without_times(tree: Tree) -> dict[str, bytes | None]:
    return {name: content and content[0] for name, content in tree.items()}


KINDS = ("EIO", "short", "signal after")


def _strike_everywhere(
    tmp_path: Path,
    kind: str,
    act: Callable[[Scene], None],
    prepare: Callable[[Scene], None],
    lasting: bool,
    apart: bool,
) -> None:
    whole = Scene(tmp_path / "whole")
    prepare(whole)
    act(whole)
    after = whole.tree()
    at, struck = 0, True
    while struck:
        at += 1
        scene = Scene(tmp_path / str(at))
        prepare(scene)
        before = scene.tree()
        fault = Fault(at, kind, lasting, (scene.home.root, scene.data) if apart else None)
        failed = False
        with faulty_disk(fault):
            try:
                act(scene)
            except (RecollectError, KeyboardInterrupt):
                failed = True
        struck = bool(fault.hit)
        if not failed:
            assert scene.is_one_of(after)
        scene.recover()
        assert scene.is_one_of(before, after), f"call {at} ({fault.hit})"
        assert not list(scene.home.root.rglob("*.recollect-*"))
    assert at > 20


def _nothing(_: Scene) -> None: ...


def _commit(scene: Scene) -> None:
    scene.commit()


def _undo(scene: Scene) -> None:
    scene.journal.undo(scene.journal.record(), scene.home)


@pytest.mark.parametrize("apart", [False, True], ids=["one disk", "two disks"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_call_of_a_commit_fails(tmp_path: Path, kind: str, apart: bool) -> None:
    _strike_everywhere(tmp_path, kind, _commit, _nothing, False, apart)


@pytest.mark.parametrize("apart", [False, True], ids=["one disk", "two disks"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_call_of_an_undo_fails(tmp_path: Path, kind: str, apart: bool) -> None:
    _strike_everywhere(tmp_path, kind, _undo, _commit, False, apart)


@pytest.mark.parametrize("act", [_commit, _undo], ids=["commit", "undo"])
@pytest.mark.parametrize("kind", ["EIO", "EROFS"])
def test_from_some_call_on_everything_fails(tmp_path: Path, kind: str, act: Callable[[Scene], None]) -> None:
    _strike_everywhere(tmp_path, kind, act, _commit if act is _undo else _nothing, True, False)


def test_without_a_fault_the_undo_gives_everything_back(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    before = scene.tree()
    record = scene.commit()
    assert scene.tree().keys() != before.keys()
    said = [step.describe() for step in record.actions]
    assert len(said) == len(set(said)) == len(record.actions)
    assert scene.journal.describe_undo(record)
    _undo(scene)
    assert scene.tree() == before
    assert [(item.number, item.state) for item in scene.journal.records()] == [(1, "undone")]
