"""Changes through the library: each verb gives a plan, a plan changes nothing, `commit` makes it, `undo` takes it back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.running import tree_state

import recollect
from recollect.errors import NotFound, Refused
from recollect.library.library import Library
from recollect.library.locate import message_uuid
from recollect.library.plan import Plan
from recollect.store.home import check_home
from recollect.testing import HomeBuilder
from recollect.testing.transcript import TranscriptBuilder

Verb = Callable[[Library, str], Plan]
VERBS: dict[str, Verb] = {
    "rename": lambda library, ident: library.changes.rename(ident, "Another name"),
    "tag": lambda library, ident: library.changes.tag(ident, "later"),
    "archive": lambda library, ident: library.changes.archive(ident),
    "rewind": lambda library, ident: library.changes.rewind(ident, "#2"),
    "fork": lambda library, ident: library.changes.fork(ident, at="#2"),
    "append": lambda library, ident: library.changes.append(ident, "user", "And then?"),
    "delete": lambda library, ident: library.changes.delete([ident]),
    "delete_project": lambda library, _: library.changes.delete_project("/w/app"),
    "move": lambda library, _: library.changes.move("/w/app", "/w/moved"),
    "todo": lambda library, ident: library.changes.todo(ident, "add", "Write it"),
}


@pytest.fixture
def talk(tmp_path: Path) -> tuple[Library, TranscriptBuilder]:
    builder = HomeBuilder(tmp_path / "claude", version="2.1.325")
    t = builder.session("/w/app", modified="2026-03-02T10:00Z")
    for number in range(3):
        t.user(f"Question {number}")
        t.assistant(f"Answer {number}")
    root = builder.write()
    return Library([check_home(root)], own_folder=lambda kind: tmp_path / "own" / kind), t


def files_of(root: Path) -> dict[str, tuple[str, int, int]]:
    """Every file of the home. Undoing does not put the times of folders back."""
    return {path: state for path, state in tree_state(root).items() if state[0]}


@pytest.mark.parametrize("name", VERBS)
def test_a_plan_changes_nothing_and_is_made_and_undone(name: str, talk: tuple[Library, TranscriptBuilder]) -> None:
    library, t = talk
    root = library.homes[0].root
    before = files_of(root)
    with VERBS[name](library, t.session_id) as plan:
        assert plan.title and plan.steps
        assert plan.as_dict()["dry_run"] is True and plan.as_dict()["change"] is None
    assert files_of(root) == before
    done = VERBS[name](library, t.session_id).commit()
    assert done.number is not None and done.undo_command is not None
    assert str(done.number) in done.undo_command
    changed = files_of(root)
    assert changed != before
    library.refresh()
    assert library.changes.records()[0].number == done.number
    library.changes.undo(done.number).commit()
    assert files_of(root) == before


def test_a_session_has_the_verbs_too(talk: tuple[Library, TranscriptBuilder]) -> None:
    library, t = talk
    session = library.session(t.session_id)
    fork = session.fork(at="last", title="Copy").commit()
    library.refresh()
    assert library.session(fork.result["session_id"]).summary.title == "Copy"
    assert session.repair().steps == []
    assert session.rename("Named").commit().result["title"] == "Named"


def test_a_session_without_its_library_cannot_be_changed(talk: tuple[Library, TranscriptBuilder]) -> None:
    library, t = talk
    with pytest.raises(recollect.Unavailable):
        recollect.Session(library.session(t.session_id).file).rename("No")


class TestHowAMessageIsNamed:
    def test_every_form(self, talk: tuple[Library, TranscriptBuilder]) -> None:
        library, t = talk
        session = library.session(t.session_id)
        uuids = t.row_uuids
        assert message_uuid(session, "#1") == uuids[0]
        assert message_uuid(session, f"#{len(uuids)}") == message_uuid(session, "last") == uuids[-1]
        assert message_uuid(session, uuids[2]) == message_uuid(session, uuids[2][:13].upper()) == uuids[2]
        line = session.transcript.by_uuid[uuids[3]].line
        assert message_uuid(session, f"line:{line}") == uuids[3]

    @pytest.mark.parametrize("name", ["#0", "#7", "#-1", "#x", "#", "line:0", "line:9999", "line:", "abc", "", "#१"])
    def test_what_is_none(self, name: str, talk: tuple[Library, TranscriptBuilder]) -> None:
        library, t = talk
        with pytest.raises(NotFound, match="no message"):
            message_uuid(library.session(t.session_id), name)


class TestTheCurrentSession:
    def test_it_is_the_one_of_the_environment(
        self, talk: tuple[Library, TranscriptBuilder], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        library, t = talk
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", t.session_id)
        assert library.session("current").id == t.session_id

    def test_outside_of_one_there_is_none(
        self, talk: tuple[Library, TranscriptBuilder], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        library, _ = talk
        monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)
        with pytest.raises(NotFound) as caught:
            library.session("current")
        assert caught.value.slug == "no-current-session"


def test_a_message_and_a_branch_together_are_refused(talk: tuple[Library, TranscriptBuilder]) -> None:
    library, t = talk
    with pytest.raises(Refused):
        library.changes.fork(t.session_id, at="#1", branch=1)
