"""Any sequence of changing commands, undone in any order: every change can be undone or says what has to go first.

The oracle: whatever was undone in between, undoing the rest newest first gives back the home as it was at the beginning,
bytes and times (but for empty folders). Pruned sessions are part of that: the vault has them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import tempfile
import unittest.mock
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tests.faults.operations import environment
from tests.faults.places import SOAK, memory_folder
from tests.faults.scene import BYSTANDER, CWD, SESSION, SHARING, TORN, Scene, differences

from recollect.cli.main import main
from recollect.journal.changes import Record

ONE = st.sampled_from([SESSION, BYSTANDER, TORN])
COMMANDS: list[tuple[str, ...]] = [
    ("rename", "{one}", "{word}", "--force"),
    ("tag", "{one}", "{word}", "--force"),
    ("tag", "{one}", "--remove", "--force"),
    ("archive", "{one}", "--force"),
    ("append", "{one}", "{word}", "--role", "user", "--force"),
    ("fork", "{one}"),
    ("rewind", "{one}", "{message}", "--force"),
    ("repair", "{one}", "--apply", "--yes"),
    ("repair", "--all", "--apply", "--yes"),
    ("migrate", "{one}", "--to", "2.1", "--apply", "--yes"),
    ("move", CWD, "/work/moved-{word}", "--yes", "--force"),
    ("move", "/work/moved-{word}", CWD, "--yes", "--force"),
    ("split", "-work-notes", "--project", SHARING, "--name", "shared-{word}", "--yes", "--force"),
    ("delete", "{one}", "--yes"),
    ("delete", "--project", "/work/other", "--yes"),
    ("delete", "--project", CWD, "--yes"),
    ("todo", "{one}", "add", "{word}"),
    ("todo", "{one}", "set", "1", "completed"),
    ("todo", "{one}", "remove", "1"),
    ("new", "--project", "{outside}"),
    ("files", "{one}", f"{CWD}/list.md", "--at", "end", "--write", "--output", "{outside}/{word}.md", "--yes"),
    ("restore", "{one}", "--yes"),
    ("restore", "--all", "--yes"),
    ("prune", "--older", "2030-01-01", "--apply", "--yes"),
    ("prune", "--project", "/work/other", "--apply", "--yes"),
    ("unbundle", "{folder}/talk.recollect", "--yes"),
]


class Commands(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="any-order-", dir=memory_folder()))

    @initialize()
    def start(self) -> None:
        self.scene = Scene(self.folder)
        self.before = self.scene.photograph()
        self.run("bundle", SESSION, "--output", str(self.folder / "talk.recollect"))
        self.keep()

    def run(self, *words: str) -> tuple[int, str]:
        out, err = io.StringIO(), io.StringIO()
        with (
            unittest.mock.patch.dict(os.environ, environment(self.scene)),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = main(["--home", str(self.scene.root), *words])
        assert code not in (2, 70), (words, err.getvalue())
        return code, err.getvalue()

    def standing(self) -> list[Record]:
        """Changes that were made and not undone, newest first."""
        return [record for record in self.scene.journal.records() if record.state in ("done", "pruned")]

    def message(self, session: str) -> str:
        path = self.scene.transcript(session)
        found = (
            re.search(rb'"type":"assistant".*?"uuid":"([0-9a-f-]{36})"', path.read_bytes()) if path.exists() else None
        )
        return found[1].decode() if found else session

    def run_filled(self, words: tuple[str, ...], one: str, word: str) -> None:
        """Run a command whose words name a session, a message or a folder by a placeholder."""
        places = {
            "message": self.message(one),
            "one": one,
            "word": word,
            "outside": self.scene.outside,
            "folder": self.folder,
        }
        self.run(*(item.format_map(places) for item in words))

    @rule(words=st.sampled_from(COMMANDS), one=ONE, word=st.sampled_from(["a", "b"]))
    def change(self, words: tuple[str, ...], one: str, word: str) -> None:
        self.run_filled(words, one, word)

    @rule()
    def keep(self) -> None:
        code, told = self.run("keep")
        assert code == 0, told

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
        first = re.search(r"undo change ([0-9, then]+) first", told)
        assert first, f"change {record.number} can neither be undone nor explained: {told}"
        named = {int(number) for number in re.findall(r"\d+", first[1])}
        assert named <= {item.number for item in self.standing() if item.number > record.number}, told

    @precondition(lambda self: self.standing())
    @rule()
    def undo_the_newest(self) -> None:
        newest = self.standing()[0]
        code, told = self.run("undo")
        assert code == 0, f"{newest.number} {newest.title}: {told}"
        assert newest.number not in [record.number for record in self.standing()]

    def teardown(self) -> None:
        try:
            if hasattr(self, "scene"):
                while self.standing():
                    self.undo_the_newest()
                now = self.scene.photograph()
                # A folder that two changes shared stays, empty, where the one that made it was undone first.
                left = [
                    name
                    for name in differences(self.before, now)
                    if name in self.before or now[name].content is not None
                ]
                assert not left, left
                assert not self.scene.litter(now)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


Commands.TestCase.settings = settings(
    max_examples=400 if SOAK else 20, stateful_step_count=30 if SOAK else 12, deadline=None
)
TestCommands = pytest.mark.timeout(7200 if SOAK else 300)(Commands.TestCase)
