"""Secrets are masked among any sequence of other changing commands: no undo, restore or sync brings one back.

The commands are those of the test of undoing in any order. What was masked stays masked; a change can be undone, or says why not;
the vault is whole; every session has the messages that it had.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from tests.faults.places import SOAK
from tests.faults.scene import BYSTANDER, SESSION, TORN, Scene
from tests.faults.test_undo_in_any_order import COMMANDS, ONE, Commands
from tests.secrets.masking_scene import TOKEN, forms, readable

from recollect.errors import RecollectError
from recollect.journal.changes import Record
from recollect.library.library import Library

SAYING = [
    ("rename", "{one}", "Tea {word}", "--force"),
    ("append", "{one}", "use {word} now", "--role", "user", "--force"),
    ("todo", "{one}", "add", "rotate {word}"),
    ("archive", "{one}", "--title", "{word}", "--force"),
]
WITHOUT_A_PLACE = [words for words in COMMANDS if "files" not in words]


class Masked(Commands):
    """Commands with a secret in some of them, and masking at any moment."""

    is_clean = False

    @initialize()
    def start(self) -> None:
        self.scene = Scene(self.folder)
        self.run("bundle", SESSION, "--output", str(self.folder / "talk.recollect"))
        self.last_masked = 0
        self.say_it(SAYING[1], SESSION)
        self.keep()

    def own_folder(self, kind: str) -> Path:
        return self.scene.data if kind == "data" else self.folder / kind

    def library(self) -> Library:
        return Library([self.scene.home], own_folder=self.own_folder)

    def standing(self) -> list[Record]:
        return [record for record in super().standing() if not record.is_masking]

    @rule(words=st.sampled_from(SAYING), one=ONE)
    def say_it(self, words: tuple[str, ...], one: str) -> None:
        self.is_clean = False
        self.run(*(item.format(one=one, word=TOKEN.value) for item in words))

    @rule()
    def index(self) -> None:
        self.run("index")

    @rule(everywhere=st.booleans())
    def mask(self, everywhere: bool) -> None:
        with self.library() as library:
            before = self.messages(library)
            plan = library.changes.mask([TOKEN], settings=True, everywhere=everywhere)
            plan.commit()
            assert plan.result["masked"], plan.result["left"]
            library.refresh()
            assert self.messages(library) == before
            if library.vault.exists:
                assert library.vault.verify().findings == []
        self.is_clean = True
        self.last_masked = max((record.number for record in self.scene.journal.records()), default=0)

    def messages(self, library: Library) -> dict[str, int]:
        found = {}
        for one in (SESSION, BYSTANDER, TORN):
            try:
                found[one] = len(library.session(one).messages())
            except RecollectError:
                found[one] = -1
        return found

    @invariant()
    def nothing_comes_back(self) -> None:
        if self.is_clean:
            places = [name for name, data in readable(self.folder) if any(form in data for form in forms(TOKEN.value))]
            assert places == []

    @rule(words=st.sampled_from(WITHOUT_A_PLACE), one=ONE, word=st.sampled_from(["a", "b"]))
    def change(self, words: tuple[str, ...], one: str, word: str) -> None:
        self.run_filled(words, one, word)

    @precondition(lambda self: self.standing())
    @rule(data=st.data())
    def undo_any(self, data: st.DataObject) -> None:
        record = data.draw(st.sampled_from(self.standing()), "change")
        before = self.scene.photograph()
        code, told = self.run("undo", str(record.number))
        if code == 0:
            return
        assert self.scene.photograph() == before, told
        assert "damaged" not in told, told
        if not re.search(r"undo change ([0-9, then]+) first", told):
            assert record.number <= self.last_masked, told
            assert "masked" in told or "no later change is known" in told or "the vault no longer has" in told, told

    @precondition(lambda self: self.standing() and self.standing()[0].number > self.last_masked)
    @rule()
    def undo_the_newest(self) -> None:
        newest = self.standing()[0]
        code, told = self.run("undo", str(newest.number))
        assert code == 0, f"{newest.number} {newest.title}: {told}"

    def teardown(self) -> None:
        try:
            if hasattr(self, "scene"):
                self.mask(False)
                self.nothing_comes_back()
                assert not self.scene.litter(self.scene.photograph())
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


Masked.TestCase.settings = settings(
    max_examples=200 if SOAK else 14, stateful_step_count=30 if SOAK else 12, deadline=None
)
TestMasked = pytest.mark.timeout(7200 if SOAK else 300)(Masked.TestCase)
