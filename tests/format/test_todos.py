"""Todo lists: known and unknown fields, broken files."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recollect.format.todos import Todo, parse_todos

SESSION = "6f2d0c1e-1111-4222-8333-444455556666"


def test_items_of_all_ages() -> None:
    todos = parse_todos(
        b"""[
        {"content": "Write it", "status": "pending", "activeForm": "Writing it"},
        {"content": "Old", "status": "completed", "priority": "high", "id": "1"},
        {"content": "Older", "status": "cancelled", "id": 2, "since": "forever"}]"""
    )
    assert todos.problem is None
    assert todos.items == (
        Todo(content="Write it", status="pending", active_form="Writing it"),
        Todo(content="Old", status="completed", priority="high", id="1"),
        Todo(content="Older", status="cancelled", id="2", extra={"since": "forever"}),
    )


def test_fields_of_a_strange_type_are_kept() -> None:
    (todo,) = parse_todos(b'[{"content": ["a"], "status": null}]').items
    assert todo == Todo(extra={"content": ["a"], "status": None})


def test_items_that_are_no_objects_are_kept_and_said() -> None:
    todos = parse_todos(b'["just a text", {"content": "x"}, 7]')
    assert [todo.content for todo in todos.items] == ["x"]
    assert todos.stray == ("just a text", 7)
    assert todos.problem == "2 of 3 items are not objects (the first is a string)"


def test_an_object_instead_of_a_list() -> None:
    todos = parse_todos(b'{"todos": []}')
    assert todos.items == ()
    assert todos.stray == ({"todos": []},)
    assert todos.problem == "expected a list, found an object"


def test_torn_file() -> None:
    assert parse_todos(b'[{"content": "x"').problem == "not JSON at character 16"


@given(st.binary(max_size=120))
def test_no_bytes_raise(data: bytes) -> None:
    todos = parse_todos(data)
    assert todos.problem is not None or not todos.stray
