"""Changes that are undone out of turn: what a later one needs is refused, and in the right order everything comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.edit.moving_scene import NEW, OLD, tree

from recollect.edit.append import plan_new_session
from recollect.edit.delete import plan_delete, plan_delete_project
from recollect.edit.move import plan_move
from recollect.edit.todo_changes import plan_add_task, plan_set_task
from recollect.errors import RecollectError, Refused
from recollect.journal.changes import Change, Journal, Record
from recollect.store.home import Home
from recollect.store.scan import SessionFile, scan_home
from recollect.testing import HomeBuilder, uuid_from

ONE, TWO = uuid_from("one of the project"), uuid_from("another of it")


class Place:
    def __init__(self, folder: Path) -> None:
        builder = HomeBuilder(folder / "claude")
        for name in (ONE, TWO):
            session = builder.session(OLD, session_id=name)
            session.user("Hello")
            session.assistant("Hello to you")
        self.home = Home(builder.write())
        self.journal = Journal(folder / "data")
        self.before = tree(self.home.root)

    def file(self, name: str) -> SessionFile:
        return next(file for file in scan_home(self.home).sessions if file.session_id == name)

    def do(self, planned: tuple[Change, object]) -> Record:
        with planned[0] as change:
            return change.commit()

    def undo(self, record: Record) -> None:
        self.journal.undo(record, self.home)

    def delete_one(self) -> Record:
        return self.do(plan_delete(self.journal, self.home, [self.file(ONE)]))

    def delete_project(self) -> Record:
        return self.do(plan_delete_project(self.journal, self.home, OLD))

    def move(self) -> Record:
        return self.do(plan_move(self.journal, self.home, OLD, NEW))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def refused(place: Place, record: Record, first: Record) -> None:
    """Nothing changes, and it is said what to undo first; in that order everything comes back."""
    now = tree(place.home.root)
    with pytest.raises(Refused) as problem:
        place.undo(record)
    assert problem.value.slug == "changed-since"
    assert (problem.value.hint or "").startswith(f"undo change {first.number} first")
    with pytest.raises(RecollectError):
        place.journal.check_undo(record, place.home)
    assert tree(place.home.root) == now
    place.undo(first)
    place.undo(record)
    assert tree(place.home.root) == place.before


def test_a_session_of_a_folder_that_was_deleted_later(place: Place) -> None:
    """The folder made again for it would be in the way of the other one for ever."""
    record = place.delete_one()
    refused(place, record, place.delete_project())


def test_a_session_of_a_folder_that_was_moved_later(place: Place) -> None:
    record = place.delete_one()
    refused(place, record, place.move())


def test_a_session_that_was_begun_in_a_folder_after_it_was_moved(place: Place) -> None:
    """It would go to the old place with the folder, where neither the client nor its own change would find it."""
    record = place.move()
    begun = plan_new_session(place.journal, place.home, NEW, uuid_from("begun at the new place"))
    refused(place, record, place.do(begun))


def test_a_file_that_got_the_same_bytes_again(place: Place) -> None:
    """They do not tell that a later change wrote them: without it, that one could not be undone any more."""
    record = place.do(plan_add_task(place.journal, place.home, ONE, "Buy milk"))
    refused(place, record, place.do(plan_set_task(place.journal, place.home, ONE, "1", "pending")))


def test_a_folder_that_somebody_else_removed_is_made_again(place: Place) -> None:
    record = place.do(plan_delete(place.journal, place.home, [place.file(ONE), place.file(TWO)]))
    (place.home.projects / "-w-old-app").rmdir()
    place.undo(record)
    assert tree(place.home.root) == place.before
