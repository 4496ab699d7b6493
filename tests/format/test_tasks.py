"""Tasks: one file each, a high-water mark, a lock."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.format.todos import Task, parse_high_water_mark, parse_task, task_number


def test_a_full_task() -> None:
    task = parse_task(
        b"""{"id": "3", "subject": "Ship", "description": "all of it", "activeForm": "Shipping", "owner": "team-lead",
        "status": "in_progress", "blocks": ["4"], "blockedBy": ["1", "2"], "metadata": {"k": 1}, "colour": "red"}"""
    )
    assert task == Task(
        id="3",
        subject="Ship",
        description="all of it",
        active_form="Shipping",
        owner="team-lead",
        status="in_progress",
        blocks=("4",),
        blocked_by=("1", "2"),
        metadata={"k": 1},
        extra={"colour": "red"},
    )


def test_numbers_instead_of_names_in_lists_are_kept() -> None:
    assert parse_task(b'{"id": 3, "blocks": [4]}') == Task(id="3", extra={"blocks": [4]})


def test_not_a_task() -> None:
    task = parse_task(b"[1, 2]")
    assert task.extra == {"value": [1, 2]}
    assert task.problem == "expected an object, found a list"


@pytest.mark.parametrize(
    ("name", "number"), [("1.json", 1), ("12.json", 12), (".lock", None), ("x.json", None), ("²", None), ("1", None)]
)
def test_numbers_in_names(name: str, number: int | None) -> None:
    assert task_number(name) == number


@pytest.mark.parametrize(("data", "mark"), [(b"17\n", 17), (b"", None), (b"-1", None), (b"x", None), (b"9" * 40, None)])
def test_high_water_mark(data: bytes, mark: int | None) -> None:
    assert parse_high_water_mark(data) == mark


@given(st.binary(max_size=120))
def test_no_bytes_raise(data: bytes) -> None:
    parse_high_water_mark(data)
    assert parse_task(data).problem is not None or data.strip().startswith(b"{")
