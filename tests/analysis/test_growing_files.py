"""A file that is taken in while it grows counts as if it had been read at once; lines that lack something do not count twice."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.scene import MODEL, Entry, Scene, ledger_over, tokens

from recollect.index.api_calls import sync as intake

FULL = tokens(10, 200, 30, 40, 500)
ONCE = (1, 10, 200, 30, 40, 500)


def same_as_at_once(scene: Scene, folder: Path) -> list[Any]:
    """Every report of a store that grew is that of one read anew; returns its calls."""
    with scene.open() as grown, scene.open(folder=folder) as fresh:
        for by in ("day", "session", "subagent", "model"):
            assert grown.usage(by) == fresh.usage(by), by
        found = [item._replace(file_id=0) for item in grown.calls()]
        assert sorted(found) == sorted(item._replace(file_id=0) for item in fresh.calls())
    return found


@pytest.mark.parametrize("time", ["2026-03-02T10:00:00.000Z", "2026-03-02T10:00:00"])
def test_a_time_that_comes_with_a_later_line(scene: Scene, tmp_path: Path, time: str) -> None:
    scene.write("s", scene.answer("msg_1", FULL, time=None))
    assert scene.counts() == ONCE
    scene.append("s", scene.answer("msg_1", FULL, time=time))
    (call,) = same_as_at_once(scene, tmp_path / "fresh")
    assert (call.time, call.zoneless) == (1_772_445_600_000_000, not time.endswith("Z"))


@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize("first", [{"type": "mode"}, {"type": "mode", "timestamp": "never"}])
def test_a_file_of_which_only_a_line_without_a_time_was_there(
    scene: Scene, tmp_path: Path, first: Entry, end: str
) -> None:
    """The original's call is booked on it, though its begin became known later."""
    row = scene.answer("msg_1", FULL)
    scene.write("z", first, end=end)
    scene.counts()
    scene.append("z", *([""] if not end else []), row | {"sessionId": "z"})
    scene.counts()
    begun = {"type": "queue-operation", "timestamp": "2025-11-04T10:00:00.000Z"}
    scene.write("fork", begun, row | {"sessionId": "fork"})
    assert [item.session_id for item in same_as_at_once(scene, tmp_path / "fresh")] == ["z"]


def test_a_begin_that_comes_when_a_copy_is_there(scene: Scene, tmp_path: Path) -> None:
    row = scene.answer("msg_1", FULL, time=None)
    scene.write("z", row | {"sessionId": "z"})
    scene.write("fork", {"type": "mode", "timestamp": "2025-11-04T10:00:00.000Z"}, row | {"sessionId": "fork"})
    scene.counts()
    scene.append("z", {"type": "mode", "timestamp": "2025-11-03T10:00:00.000Z"})
    assert [item.session_id for item in same_as_at_once(scene, tmp_path / "fresh")] == ["z"]


def test_a_begin_on_a_last_line_without_its_line_feed(scene: Scene, tmp_path: Path) -> None:
    row = scene.answer("msg_1", FULL)
    scene.write("z", {"type": "mode", "timestamp": "2025-11-03T09:00:00.000Z"}, end="")
    scene.counts()
    scene.append("z", "", row | {"sessionId": "z"})
    scene.write("fork", {"type": "mode", "timestamp": "2025-11-03T09:30:00.000Z"}, row | {"sessionId": "fork"})
    assert [item.session_id for item in same_as_at_once(scene, tmp_path / "fresh")] == ["z"]


def test_subagents_whose_lines_have_no_id_at_all(scene: Scene) -> None:
    for name, output in (("a1", 100), ("a2", 200)):
        row = scene.answer(None, tokens(10, output), request=None, isSidechain=True, agentId=name)
        del row["uuid"]
        scene.write(f"s/subagents/agent-{name}", row)
    assert scene.counts() == (2, 20, 300, 0, 0, 0)


def lines_without_a_model(scene: Scene) -> list[Entry]:
    """Three lines of one call, of which one names the model."""
    return [
        scene.answer("msg_1", tokens(10, 1, 30, 40, 500), model=None, stop=None),
        scene.answer("msg_1", tokens(1, 200)),
        scene.answer("msg_1", tokens(10, 5), model=None),
    ]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_line_without_a_model_is_of_the_call_that_has_one(
    scene: Scene, tmp_path: Path, order: tuple[int, ...]
) -> None:
    lines = lines_without_a_model(scene)
    other = scene.answer("msg_2", tokens(1, 1), request="req_2")
    scene.write("s", lines[order[0]], other)
    for number in order[1:]:
        scene.counts()
        scene.append("s", lines[number])
    assert scene.counts() == (2, 11, 201, 30, 40, 500)
    found = same_as_at_once(scene, tmp_path / "fresh")
    assert [(item.model, item.line, item.lower_bound) for item in found] == [(MODEL, 1, False), (MODEL, 2, False)]


def test_of_a_call_that_nobody_names_the_model_is_not_known(scene: Scene) -> None:
    scene.write("s", *(scene.answer("msg_1", FULL, model=None) for _ in range(2)))
    scene.write("t", scene.answer("msg_1", FULL, model=None), scene.answer("msg_1", FULL, request="req_2"))
    assert scene.counts()[0] == 2


@pytest.mark.parametrize("batch", [1, 1 << 30])
@pytest.mark.parametrize("many", [0, 30])
@pytest.mark.parametrize("names", list(permutations(("named", "bare", "again"))))
def test_files_that_hold_a_call_with_and_without_its_model(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], many: int, batch: int
) -> None:
    """In whatever order they come, at once or one after the other, and when one of them goes again."""
    monkeypatch.setattr(intake, "BATCH_BYTES", batch)
    bare, named, again = lines_without_a_model(scene)
    texts = {"named": named, "bare": bare, "again": again}
    for place, name in enumerate(names):
        scene.write(f"{place}-{name}", texts[name] | {"sessionId": f"{place}-{name}"})
        for number in range(many):  # so that calls are remembered, not looked for
            scene.write(f"x{place}{number}", scene.answer(f"x{place}{number}", tokens(0, 1), session="x"))
        scene.counts()
    assert scene.counts() == (1 + 3 * many, 10, 200 + 3 * many, 30, 40, 500)
    found = same_as_at_once(scene, tmp_path / "fresh")
    assert [item.model for item in found if item.message_id == "msg_1"] == [MODEL]
    for place, name in enumerate(names):
        scene.path(f"{place}-{name}").unlink()
        same_as_at_once(scene, tmp_path / f"without-{name}")


def test_homes_that_hold_a_call_with_and_without_its_model(scene: Scene, tmp_path: Path) -> None:
    other = Scene(tmp_path / "other")
    bare, named, _ = lines_without_a_model(scene)
    scene.write("s", bare)
    other.write("s", named)
    with ledger_over([scene.root, other.root], scene.folder) as both:
        ((model, totals),) = [(group.key, group.totals) for group in both.usage("model").groups]
    assert (model, totals.calls, totals.counts.input, totals.counts.output) == (MODEL, 1, 10, 200)


def test_a_subagent_beside_its_session_stays_with_the_session_of_its_first_line(scene: Scene, tmp_path: Path) -> None:
    scene.write("agent-a1", scene.answer("msg_1", FULL, session="a", agentId="a1"))
    scene.counts()
    scene.append("agent-a1", scene.answer("msg_2", FULL, request="req_2", session="b", agentId="a1"))
    assert {item.session_id for item in same_as_at_once(scene, tmp_path / "fresh")} == {"a"}


def test_a_subagent_beside_its_session_of_which_a_later_line_tells(scene: Scene, tmp_path: Path) -> None:
    scene.write("agent-a1", {"type": "mode"})
    scene.counts()
    scene.append("agent-a1", scene.answer("msg_1", FULL, session="a", agentId="a1"))
    assert {item.session_id for item in same_as_at_once(scene, tmp_path / "fresh")} == {"a"}


@pytest.mark.parametrize("grows", [False, True])
def test_terms_that_only_a_later_line_names(scene: Scene, tmp_path: Path, grows: bool) -> None:
    """What a stream says first may lack speed, tier and place: the line with them decides on the price."""
    first = {"input_tokens": 10, "output_tokens": 1}
    last = tokens(10, 200, service_tier="batch", speed="fast", inference_geo="us")
    rows = [scene.answer("msg_1", usage, model="claude-opus-4-6") for usage in (first, last)]
    scene.write("s", rows[0])
    if grows:
        scene.counts()
    scene.append("s", rows[1])
    (call,) = same_as_at_once(scene, tmp_path / "fresh")
    assert (call.service_tier, call.speed, call.geo) == ("batch", "fast", "us")
