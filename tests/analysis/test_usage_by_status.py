"""Every call has one status that can be asked for: those of all statuses are all calls, each once."""

from __future__ import annotations

from typing import Any

import pytest
from tests.analysis.scene import Entry, Scene, tokens
from tests.analysis.test_counting import progress

from recollect.cli.commands.usage import STATUSES
from recollect.graph import thread
from recollect.library.usage import Selection

FULL = tokens(10, 200, 30, 40, 500)


def prompt(uuid: str, parent: str | None = None) -> Entry:
    body = {"role": "user", "content": "Do it"}
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": body}


def answer(scene: Scene, number: int, parent: str, **more: Any) -> Entry:
    made = {"message": f"msg_{number}", "request": f"r{number}"} | more
    return scene.answer(usage=FULL, uuid=f"a{number}", parentUuid=parent, **made)


def by_status(scene: Scene) -> dict[str, list[str]]:
    """The calls of each status, none of which is in two of them or left out."""
    with scene.open() as ledger:
        found = {name: [item.answer for item in ledger.calls(Selection(status=name))] for name in STATUSES}
        every = [item.answer for item in ledger.calls()]
    assert sorted(name for calls in found.values() for name in calls) == sorted(every)
    return {name: calls for name, calls in found.items() if calls}


def test_all_statuses_of_rows_can_be_asked_for() -> None:
    assert STATUSES == thread.STATUSES


@pytest.mark.parametrize("ids", [{}, {"message": None}, {"message": None, "request": None}])
def test_a_call_whose_first_line_is_an_older_copy(scene: Scene, ids: dict[str, None]) -> None:
    first = [prompt("p1"), answer(scene, 1, "p1", **ids)]
    scene.write("s", *first, *first, prompt("p2", "a1"), answer(scene, 2, "p2", **ids))
    assert {name: len(calls) for name, calls in by_status(scene).items()} == {"live": 2}


def test_a_call_of_which_nothing_better_is_there_is_passed_over(scene: Scene) -> None:
    nothing = answer(scene, 1, "p1")
    nothing["message"]["content"] = None
    scene.write("s", prompt("p1"), nothing, answer(scene, 2, "p1"))
    assert by_status(scene) == {"bridged": ["msg_1"], "live": ["msg_2"]}


def test_calls_of_subagents_have_no_other_status(scene: Scene) -> None:
    """Neither where only progress lines tell of them, with a name or without, nor where the client cannot read the line."""
    nameless: Any = progress(scene, "msg_3", FULL)
    del nameless["data"]["agentId"]
    scene.write(
        "s", prompt("p1"), answer(scene, 1, "p1"), progress(scene, "msg_2", FULL), nameless,
        answer(scene, 4, "p1", isSidechain=True), answer(scene, 5, "gone", agentId="a1"),
    )  # fmt: skip
    scene.write("s/subagents/agent-a2", answer(scene, 6, "p1", isSidechain=True))
    found = by_status(scene)
    assert set(found) == {"live", "subagent"} and found["live"] == ["msg_1"]


def test_a_line_that_is_no_row_is_out_of_reach(scene: Scene) -> None:
    bare = answer(scene, 2, "p1")
    del bare["type"]
    scene.write("s", prompt("p1"), answer(scene, 1, "p1"), bare)
    assert by_status(scene) == {"live": ["msg_1"], "unreachable": ["msg_2"]}


def test_an_advisor_has_the_status_of_who_asked_it(scene: Scene) -> None:
    asked = {"type": "advisor_message", "model": "claude-opus-4-5-20251101", "input_tokens": 5, "output_tokens": 6}
    row = answer(scene, 1, "p1")
    row["message"]["usage"] = FULL | {"iterations": [{"type": "message"}, asked]}
    scene.write("s", prompt("p1"), row, prompt("p1"), row)
    assert by_status(scene) == {"live": ["msg_1", "msg_1"]}
