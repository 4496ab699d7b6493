"""Lists and tasks that are damaged or odd: a change of one item loses no other, and what JSON does not have is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.running import run, tree_state

from recollect.edit.todo_changes import (
    plan_add_task,
    plan_remove_task,
    plan_save_todos,
    plan_set_task,
    todo_file,
    transition_warning,
)
from recollect.errors import Refused
from recollect.journal.changes import Journal
from recollect.store.home import Home
from recollect.testing import HomeBuilder

S = "aaaa0000-0000-4000-8000-000000000001"
FIRST = {"content": "first", "status": "pending", "activeForm": "first"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude", version="2.0.77")
    builder.session("/w/app", session_id=S, version="2.0.77", modified="2026-03-02T10:00Z").user("go")
    builder.todos(S, [FIRST], subagent=S)
    builder.task(S, 1, "one", "pending")
    return builder.write()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "data")


def todos_of(root: Path) -> Path:
    return root / "todos" / f"{S}-agent-{S}.json"


def task(root: Path, name: str) -> Path:
    return root / "tasks" / S / f"{name}.json"


DAMAGED = {
    "no JSON": b"{broken",
    "no text": b"\xff\xfe",
    "no list": b'{"content": "a", "status": "pending"}',
    "an item that is none": b'[{"content": "a", "status": "pending"}, "b"]',
    "too deep": b"[" * 100_000,
}


class TestDamagedLists:
    @pytest.mark.parametrize("kind", DAMAGED)
    @pytest.mark.parametrize("words", [("add", "new"), ("set", "1", "completed"), ("remove", "1")])
    def test_an_item_of_one_is_not_changed(
        self, kind: str, words: tuple[str, ...], root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        todos_of(root).write_bytes(DAMAGED[kind])
        before = tree_state(root)
        refused = run(capsys, root, "todo", S, *words)
        assert (refused.code, "bad-todo" in refused.err) == (6, True)
        assert str(todos_of(root)) in refused.err
        assert tree_state(root) == before

    @pytest.mark.parametrize("kind", DAMAGED)
    def test_a_whole_list_takes_its_place_with_a_warning(self, kind: str, root: Path, journal: Journal) -> None:
        todos_of(root).write_bytes(DAMAGED[kind])
        change, warnings = plan_save_todos(journal, Home(root), S, [FIRST], version="2.0.77")
        assert len(warnings) == 1
        assert str(todos_of(root)) in warnings[0]
        with change:
            change.commit()
        assert json.loads(todos_of(root).read_bytes()) == [FIRST]
        journal.undo(journal.record(), Home(root))
        assert todos_of(root).read_bytes() == DAMAGED[kind]

    @pytest.mark.parametrize("content", [["a"], {"a": 1}, None, 5])
    def test_contents_that_are_no_text_are_named(
        self, content: Any, root: Path, journal: Journal, capsys: pytest.CaptureFixture[str]
    ) -> None:
        todos_of(root).write_text(json.dumps([FIRST, {"content": content, "status": "pending"}]))
        refused = run(capsys, root, "todo", S, "add", "new")
        assert (refused.code, "item 2" in refused.err) == (6, True)
        assert plan_save_todos(journal, Home(root), S, [FIRST], version="2.0.77")[1] == []


@pytest.mark.parametrize(
    "items",
    [
        None, {"a"}, [1], FIRST, "text", b"text", [None], [{}], [{"content": " ", "status": "pending"}],
        [{"content": ["a"], "status": "pending"}], [{"content": "a", "status": 5}],
        [{**FIRST, "more": float("nan")}], [{**FIRST, "more": {1, 2}}], [{**FIRST, "more": "a\ud800"}],
    ],
)  # fmt: skip
def test_what_is_no_list_of_to_dos(items: Any, root: Path, journal: Journal) -> None:
    before = tree_state(root)
    with pytest.raises(Refused):
        plan_save_todos(journal, Home(root), S, items, version="2.0.77")
    assert tree_state(root) == before


class TestTasks:
    @pytest.mark.parametrize("data", [b"[]", b"5", b"null", b"{broken", b"[" * 100_000])
    def test_a_damaged_task_is_not_changed(self, data: bytes, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        task(root, "7").write_bytes(data)
        before = tree_state(root)
        refused = run(capsys, root, "todo", S, "set", "7", "completed", "--kind", "tasks")
        assert (refused.code, "bad-todo" in refused.err) == (6, True)
        assert tree_state(root) == before

    def test_what_a_task_holds_and_json_does_not_is_refused(self, root: Path, journal: Journal) -> None:
        task(root, "1").write_text('{"id": "1", "subject": "x", "status": "pending", "metadata": {"n": NaN}}')
        with pytest.raises(Refused):
            plan_set_task(journal, Home(root), S, "1", "in_progress")

    @pytest.mark.parametrize("data", [b"[]", b"{broken"])
    def test_damage_in_another_task_is_in_nobodys_way(self, data: bytes, root: Path, journal: Journal) -> None:
        task(root, "7").write_bytes(data)
        task(root, "1").write_text('{"id": "1", "subject": "x", "status": "pending", "blockedBy": ["7", "x"]}')
        _, warnings = plan_set_task(journal, Home(root), S, "1", "in_progress")
        assert warnings == [f"task 1: it is blocked by task {other}, which is unreadable" for other in "7x"]
        plan_remove_task(journal, Home(root), S, "1")

    def test_files_of_odd_numbers_are_none(
        self, root: Path, journal: Journal, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for name in ("²", "٣", "9" * 200):
            task(root, name).write_text("{}")
        change, ident = plan_add_task(journal, Home(root), S, "next")
        assert ident == "2"
        with change:
            change.commit()
        (root / "tasks" / S / ".highwatermark").write_text("²")
        assert plan_add_task(journal, Home(root), S, "next")[1] == "3"
        assert run(capsys, root, "todo", S, "remove", "1", "--kind", "tasks").code == 0

    @pytest.mark.parametrize("mark", [None, "", "2", "7"])
    def test_the_number_of_a_removed_task_is_not_given_again(
        self, mark: str | None, root: Path, journal: Journal
    ) -> None:
        place = root / "tasks" / S / ".highwatermark"
        place.unlink()
        if mark is not None:
            place.write_text(mark)
        for number in "23":
            task(root, number).write_text(json.dumps({"id": number, "subject": "x", "status": "pending"}))
        change, _ = plan_remove_task(journal, Home(root), S, "3")
        with change:
            change.commit()
        assert plan_add_task(journal, Home(root), S, "next")[1] == ("8" if mark == "7" else "4")
        journal.undo(journal.record(), Home(root))
        assert (place.read_text() if place.exists() else None) == mark and task(root, "3").exists()

    def test_a_task_that_gives_itself_an_endless_number_is_shown(
        self, root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        task(root, "1").write_text(json.dumps({"id": "9" * 5000, "subject": "x", "status": "pending"}))
        assert run(capsys, root, "todos", S).code == 0


@pytest.mark.parametrize("number", ["²", "٣", "9" * 5000, "0", "-1", "x"])
@pytest.mark.parametrize("kind", ["todos", "tasks"])
def test_what_is_no_number_of_an_item(number: str, kind: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["set", "--", number, "completed"], ["remove", "--", number]):
        ran = run(capsys, root, "todo", "--kind", kind, S, *words)
        assert ran.code in (3, 6)
        assert len(ran.err) < 1000


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (None, "completed", None), ("pending", "pending", None), ("pending", "in_progress", None),
        ("in_progress", "completed", None), ("completed", "pending", "it was completed and is pending again"),
        ("pending", "completed", "it was never in progress"),
        ("in_progress", "pending", "it went back from in_progress to pending"),
    ],
)  # fmt: skip
def test_odd_changes_of_a_state_are_told(before: str | None, after: str, words: str | None) -> None:
    assert transition_warning(before, after) == words


def test_an_unknown_state_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        transition_warning("pending", "done")
    assert refused.value.slug == "bad-state"


def test_two_things_at_once_and_a_step_skipped_are_told(root: Path, journal: Journal) -> None:
    items = [{**FIRST, "status": "completed"}] + [{"content": name, "status": "in_progress"} for name in "ab"]
    change, warnings = plan_save_todos(journal, Home(root), S, items)
    with change:
        change.commit()
    assert warnings == ["first: it was never in progress", "2 items are in progress at once"]
    assert json.loads(todos_of(root).read_bytes()) == items


def test_old_versions_keep_the_list_of_a_session_under_its_own_name(root: Path) -> None:
    assert todo_file(Home(root), S, None, "1.0.20") == root / "todos" / f"{S}.json"
    assert todo_file(Home(root), S, "abc", "1.0.20") == root / "todos" / f"{S}-agent-abc.json"
    assert todo_file(Home(root), S, None, "2.1.0") == todos_of(root)


def test_a_task_without_a_subject_is_refused(root: Path, journal: Journal) -> None:
    with pytest.raises(Refused) as refused:
        plan_add_task(journal, Home(root), S, " ")
    assert refused.value.slug == "bad-todo"


def test_a_removed_task_is_no_longer_waited_for(root: Path, journal: Journal) -> None:
    for subject in ("two", "three"):
        change, ident = plan_add_task(journal, Home(root), S, subject, active_form="doing it")
        with change:
            change.commit()
    waiting = json.loads(task(root, ident).read_bytes())
    assert waiting["activeForm"] == "doing it"
    task(root, ident).write_text(json.dumps({**waiting, "blockedBy": ["1", "9"]}))
    change, warnings = plan_set_task(journal, Home(root), S, ident, "in_progress")
    assert warnings == [f"task {ident}: it is blocked by task 1, which is pending"]
    change.__exit__()
    change, warnings = plan_remove_task(journal, Home(root), S, "1")
    with change:
        change.commit()
    assert warnings == [f"task {ident}: it no longer waits for task 1"]
    assert json.loads(task(root, ident).read_bytes())["blockedBy"] == ["9"]
    assert not task(root, "1").exists()
