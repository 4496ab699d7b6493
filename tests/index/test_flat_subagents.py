"""A subagent's file beside its session belongs to the first session that its lines name, whatever way it is taken in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.scene import Scene, tokens

from recollect.index.catalogue.sync import bring_up_to_date
from recollect.library.usage import Ledger
from recollect.store.home import Home
from recollect.store.read import session_named_in

SUBAGENT = "agent-a1"
PROMPT = {"type": "user", "uuid": "u0", "message": {"role": "user", "content": "go"}, "isSidechain": True}


def _entries(ledger: Ledger) -> None:
    bring_up_to_date(ledger.catalogue, ledger.homes, ("entries",))


def _calls(ledger: Ledger) -> None:
    ledger.usage("session")


STAGES = [(_calls, _entries), (_entries, _calls), (_calls,), (_entries,)]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def _owner(scene: Scene, stages: tuple[Callable[[Ledger], Any], ...]) -> str | None:
    with scene.open() as ledger:
        for stage in stages:
            stage(ledger)
        found: str | None = ledger.catalogue.connection.execute("SELECT session_id FROM files").get
    (path,) = scene.root.rglob("agent-*.jsonl")
    assert found == session_named_in(path, Home(scene.root))
    return found


def _answer(scene: Scene, session: str | None) -> dict[str, Any]:
    return scene.answer("msg_1", tokens(1, 2)) | {"sessionId": session, "isSidechain": True}


@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("first", ["first", None, 7])
def test_lines_that_name_different_sessions(scene: Scene, stages: Any, first: Any) -> None:
    scene.write(SUBAGENT, PROMPT | {"sessionId": first}, _answer(scene, "second"))
    assert _owner(scene, stages) == (first if first == "first" else "second")


@pytest.mark.parametrize("stages", STAGES)
def test_a_name_that_no_database_holds(scene: Scene, stages: Any) -> None:
    scene.write(SUBAGENT, PROMPT | {"sessionId": "x\ud800"}, _answer(scene, "second"))
    with scene.open() as ledger:
        for stage in stages:
            stage(ledger)
        assert ledger.catalogue.connection.execute("SELECT session_id FROM files").get == "x\ufffd"


@pytest.mark.parametrize("stages", STAGES)
def test_a_first_line_that_is_long(scene: Scene, stages: Any) -> None:
    scene.write(SUBAGENT, PROMPT | {"text": "x" * 70_000, "sessionId": "first"}, _answer(scene, "second"))
    assert _owner(scene, stages) == "first"


@pytest.mark.parametrize("stages", STAGES)
def test_a_name_that_comes_with_a_later_line(scene: Scene, stages: Any) -> None:
    scene.write(SUBAGENT, PROMPT)
    assert _owner(scene, stages) is None
    scene.append(SUBAGENT, _answer(scene, "second"))
    assert _owner(scene, stages) == "second"
    scene.append(SUBAGENT, _answer(scene, "third"))
    assert _owner(scene, stages) == "second"


@pytest.mark.parametrize("stages", STAGES)
def test_a_file_that_is_rewritten_or_moved(scene: Scene, stages: Any) -> None:
    scene.write(SUBAGENT, PROMPT | {"sessionId": "first"}, _answer(scene, "second"))
    assert _owner(scene, stages) == "first"
    scene.path(SUBAGENT).parent.rename(scene.root / "projects" / "-q")
    assert _owner(scene, stages) == "first"
    (scene.root / "projects" / "-q").rename(scene.path(SUBAGENT).parent)
    scene.write(SUBAGENT, PROMPT)
    assert _owner(scene, stages) is None


def test_a_file_that_stood_below_another_session(scene: Scene) -> None:
    """Then its folder named its session; now its lines do."""
    scene.write(f"other/subagents/{SUBAGENT}", PROMPT | {"sessionId": "first"}, _answer(scene, "first"))
    with scene.open() as ledger:
        _calls(ledger)
        _entries(ledger)
    scene.path(f"other/subagents/{SUBAGENT}").rename(scene.path(SUBAGENT))
    assert _owner(scene, (_calls, _entries)) == "first"


def test_the_begin_of_a_file_is_told_by_times_of_every_form(scene: Scene) -> None:
    """Of two files that hold a call, the one that was begun first has it: also where times have no or another zone."""
    row = scene.answer("msg_1", tokens(1, 2), session="s", time="2026-03-02T10:00:00.000Z")
    for name, begun in (("z", "2026-03-02T09:00:00.000"), ("y", "2026-03-02T11:30:00+02:00"), ("x", None)):
        head = {"type": "mode"} if begun is None else {"type": "mode", "timestamp": begun}
        scene.write(name, head, row | {"sessionId": name})
    with scene.open() as ledger:
        assert [item.session_id for item in ledger.calls()] == ["z"]
        (scene.path("z")).unlink()
    with scene.open() as ledger:
        assert [item.session_id for item in ledger.calls()] == ["y"]
