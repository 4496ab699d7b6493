"""Sessions of old clients in the layout of today's: nothing is lost, and a resume sends the same."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.edit.repair.repairing import files_state

from recollect.edit.migrate import MigrateResult, copy_home, plan_migrate
from recollect.errors import Refused, StoreBusy, Unavailable
from recollect.journal import disk
from recollect.journal.changes import Journal
from recollect.library.library import Library, open_library
from recollect.store.home import Home
from recollect.testing import ALL_AGES, HomeBuilder, build_age
from recollect.testing.toolcalls import bash, read

LONG_AGO = 1_750_000_000


def aged(root: Path) -> Library:
    for path in root.rglob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    return open_library([root])


def lift(journal: Journal, library: Library, session_id: str) -> MigrateResult:
    change, result = plan_migrate(journal, library.session(session_id).file)
    with change:
        if result.changes_something:
            change.commit()
    return result


def said(library: Library, session_id: str) -> list[Any]:
    session = library.session(session_id)
    return [(view.role, [str(block) for block in view.blocks]) for view in session.messages()]


@pytest.mark.parametrize("age", ALL_AGES)
def test_every_age(age: str, tmp_path: Path) -> None:
    root = tmp_path / "claude"
    build_age(root, age)
    library = aged(root)
    before = files_state(root)
    journal = Journal(tmp_path / "data")
    for file in library.files():
        spoken = said(library, file.session_id)
        subagents = {subagent.tool_use_id for subagent in library.session(file.session_id).conversation.subagents}
        result = lift(journal, library, file.session_id)
        now = open_library([root])
        assert [words for role, blocks in said(now, file.session_id) for words in blocks] == [
            words for role, blocks in spoken for words in blocks
        ]
        found = now.session(file.session_id).conversation.subagents
        assert {subagent.tool_use_id for subagent in found} == subagents
        assert {subagent.layout for subagent in found} <= {"subagents", "mentioned"}
        assert not lift(journal, now, file.session_id).changes_something
        if result.changes_something:
            journal.undo(journal.record(), now.homes[0])
    assert files_state(root) == before


def old_session(tmp_path: Path, version: str) -> tuple[Library, str]:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session("/w/app", version=version)
    t.user("Look at both.")
    t.parallel([bash("ls", "a\n"), read("/w/app/a", "x")], "two at once")
    subagent = t.subagent("find the rest")
    subagent.call(bash("find", "b\n"))
    subagent.finish("found")
    t.assistant("Done.")
    return aged(home.write()), t.session_id


def test_each_block_of_an_answer_gets_a_line(tmp_path: Path) -> None:
    library, session_id = old_session(tmp_path, "0.2.126")
    lift(Journal(tmp_path / "data"), library, session_id)
    entries = [json.loads(line) for line in library.session(session_id).file.path.read_bytes().splitlines()]
    answers = [entry for entry in entries if entry["type"] == "assistant"]
    assert all(len(entry["message"]["content"]) == 1 for entry in answers)
    uuids = [entry["uuid"] for entry in entries if "uuid" in entry]
    assert len(set(uuids)) == len(uuids)
    costs = [entry for entry in answers if "costUSD" in entry]
    assert len({entry["message"]["id"] for entry in answers}) == len(costs)


@pytest.mark.parametrize("version", ["2.0.26", "2.0.77"])
def test_subagents_get_files_and_descriptions(version: str, tmp_path: Path) -> None:
    library, session_id = old_session(tmp_path, version)
    lift(Journal(tmp_path / "data"), library, session_id)
    now = open_library([library.homes[0].root])
    file = now.session(session_id).file
    (subagent,) = file.subagents
    assert subagent.layout == "subagents"
    assert subagent.meta_path is not None
    meta = json.loads(subagent.meta_path.read_bytes())
    (linked,) = now.session(session_id).conversation.subagents
    assert meta["toolUseId"] == linked.tool_use_id
    assert b'"isSidechain":true' not in file.path.read_bytes()


def test_to_do_lists_become_tasks(tmp_path: Path) -> None:
    library, session_id = old_session(tmp_path, "2.0.77")
    root = library.homes[0].root
    todos = root / "todos" / f"{session_id}-agent-{session_id}.json"
    todos.parent.mkdir()
    items = [{"content": "Dig", "status": "completed", "activeForm": "Digging"}, {"content": "Sow", "status": "odd"}]
    todos.write_text(json.dumps(items))
    lift(Journal(tmp_path / "data"), library, session_id)
    tasks = [json.loads((root / "tasks" / session_id / f"{number}.json").read_bytes()) for number in (1, 2)]
    assert [(task["subject"], task["status"]) for task in tasks] == [("Dig", "completed"), ("Sow", "completed")]
    assert not todos.exists()


def test_only_to_the_layout_that_is_known(tmp_path: Path) -> None:
    library, session_id = old_session(tmp_path, "2.0.77")
    with pytest.raises(Unavailable):
        plan_migrate(Journal(tmp_path / "data"), library.session(session_id).file, to="3.0")


def test_a_session_in_use_is_refused(tmp_path: Path) -> None:
    library, session_id = old_session(tmp_path, "2.0.77")
    os.utime(library.session(session_id).file.path)
    with pytest.raises(StoreBusy):
        plan_migrate(Journal(tmp_path / "data"), library.session(session_id).file)


def test_in_a_copy(tmp_path: Path) -> None:
    library, session_id = old_session(tmp_path, "2.0.77")
    root = library.homes[0].root
    (root / ".credentials.json").write_text("secret")
    before = files_state(root)
    copy = copy_home(library.homes[0], tmp_path / "copy")
    result = lift(Journal(tmp_path / "data"), open_library([copy.root]), session_id)
    assert result.changes_something
    assert files_state(root) == before
    assert not (copy.root / ".credentials.json").exists()
    with pytest.raises(Refused):
        copy_home(library.homes[0], tmp_path / "copy")
    with pytest.raises(Refused):
        copy_home(Home(root), root / "inside")


def test_a_subagent_of_a_subagent_is_described_by_its_call(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session("/w/app", version="2.1.9")
    t.user("Look.")
    outer = t.subagent("find the rest")
    inner = outer.subagent("look deeper")
    inner.finish("found")
    outer.finish("found, too")
    t.assistant("Done.")
    library, session_id = aged(home.write()), t.session_id
    lift(Journal(tmp_path / "data"), library, session_id)
    file = open_library([library.homes[0].root]).session(session_id).file
    prompts = {json.loads(item.meta_path.read_bytes()).get("toolUseId") for item in file.subagents if item.meta_path}
    assert len(file.subagents) == len(prompts) == 2
    assert None not in prompts


def test_a_copy_that_cannot_be_written_is_told_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library, _ = old_session(tmp_path, "2.0.77")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk, "copy_tree", full)
    with pytest.raises(Refused) as refused:
        copy_home(library.homes[0], tmp_path / "copy")
    assert refused.value.slug == "disk-full"
