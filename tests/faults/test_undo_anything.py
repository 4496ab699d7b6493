"""Any sequence of changes, undone one after the other, gives back every tree that was: bytes and times of every file."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tests.faults.operations import OPERATIONS
from tests.faults.places import SOAK, memory_folder
from tests.faults.scene import BYSTANDER, SESSION, TORN, Scene, Tree, differences

from recollect.errors import RecollectError
from recollect.format.encode import custom_title, encode_line

CHANGES = sorted(name for name, operation in OPERATIONS.items() if operation.prepare is None)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(str.strip)
SESSIONS = st.sampled_from([SESSION, BYSTANDER, TORN])


class Changes(RuleBasedStateMachine):
    """A stack of changes with the tree before each of them."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="recollect-undo-", dir=memory_folder()))
        self.trees: list[Tree] = []

    @initialize()
    def start(self) -> None:
        self.scene = Scene(self.folder)

    @rule(name=st.sampled_from(CHANGES))
    def change(self, name: str) -> None:
        before = self.scene.photograph()
        try:
            OPERATIONS[name].perform(self.scene)
        except (
            RecollectError,
            FileNotFoundError,
            StopIteration,
        ):  # it was done already, or what it needs was moved away
            assert self.scene.photograph() == before
            return
        self.trees.append(before)

    @rule(session=SESSIONS, texts=st.lists(TEXTS, min_size=1, max_size=3))
    def append(self, session: str, texts: list[str]) -> None:
        before = self.scene.photograph()
        with self.scene.writer(session) as writer:
            for text in texts:
                writer.append_message("user", text)
        self.trees.append(before)

    @rule(session=SESSIONS, title=st.text("abc\u2028é", max_size=5), keep_mtime=st.booleans())
    def add_a_line(self, session: str, title: str, keep_mtime: bool) -> None:
        before = self.scene.photograph()
        if not self.scene.transcript(session).exists():
            return
        with self.scene.journal.change(self.scene.home, "rename", "rename") as change:
            change.append(
                self.scene.transcript(session), encode_line(custom_title(session, title)), keep_mtime=keep_mtime
            )
            change.commit()
        self.trees.append(before)

    @rule(name=st.sampled_from(["settings.json", "a/b.txt", "a/c/d.txt"]), content=st.binary(max_size=50))
    def write_a_file(self, name: str, content: bytes) -> None:
        before = self.scene.photograph()
        with self.scene.journal.change(self.scene.home, "write", "write") as change:
            change.write(self.scene.root / name, [content], replace=True)
            change.commit()
        self.trees.append(before)

    @rule(data=st.data())
    def remove_something(self, data: st.DataObject) -> None:
        before = self.scene.photograph()
        kept = {f"{session}.jsonl" for session in (SESSION, BYSTANDER, TORN)} | {"-work-notes"}
        names = [name for name in sorted(before) if "/" in name and name[0] != "." and Path(name).name not in kept]
        if not names:
            return
        name = data.draw(st.sampled_from(names))
        with self.scene.journal.change(self.scene.home, "remove", "remove") as change:
            change.remove(self.scene.root / name)
            change.commit()
        self.trees.append(before)

    @precondition(lambda self: self.trees)
    @rule()
    def undo(self) -> None:
        journal = self.scene.journal
        journal.undo(journal.record(), self.scene.home)
        before = self.trees.pop()
        now = self.scene.photograph()
        assert not differences(before, now), differences(before, now)

    def teardown(self) -> None:
        try:
            while self.trees:
                self.undo()
            if hasattr(self, "scene"):
                assert not self.scene.litter(self.scene.photograph())
                assert all(record.state in ("undone", "failed") for record in self.scene.journal.records())
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


Changes.TestCase.settings = settings(
    max_examples=300 if SOAK else 25, stateful_step_count=30 if SOAK else 12, deadline=None
)
TestChanges = pytest.mark.timeout(3600 if SOAK else 300)(Changes.TestCase)
