"""Families of forks, and sessions that were written down again: every call once, every class of tokens exact."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.scene import Entry, Scene, tokens

from recollect.analysis.cost import Counts

#: Powers of ten and a factor per class: a sum shows which calls are in it, and how often.
CLASSES = Counts(1, 2, 3, 4, 5, 6, 7)


def spent(number: int) -> Entry:
    """What the call of this number used: no two calls, and no two classes, have the same."""
    unit = 10**number
    return tokens(
        unit, 2 * unit, 3 * unit, 4 * unit, 5 * unit,
        output_tokens_details={"thinking_tokens": 6 * unit}, server_tool_use={"web_search_requests": 7 * unit},
    )  # fmt: skip


def wanted(*numbers: int) -> Counts:
    return Counts(*(factor * sum(10**number for number in numbers) for factor in CLASSES))


def call(scene: Scene, number: int, session: str, **more: Any) -> list[Entry]:
    """An answer as it is written: two lines, the first with a placeholder for the output."""
    when = f"2026-03-01T10:00:{number:02}.000Z"
    first = spent(number) | {"output_tokens": 1, "output_tokens_details": {"thinking_tokens": 0}}
    return [
        scene.answer(f"msg_{number}", used, request=f"r{number}", time=when, stop=stop, session=session, **more)
        for used, stop in ((first, None), (spent(number), "end_turn"))
    ]


def copied(entries: list[Entry], session: str, **more: Any) -> list[Entry]:
    return [entry | {"sessionId": session} | more for entry in entries]


def held(scene: Scene, index: Path | None = None) -> tuple[Counts, dict[str, int]]:
    """All tokens, the quick way and the thorough one, and how many calls are booked on each session."""
    with scene.open(folder=index) as ledger:
        totals, sessions = ledger.usage("day").totals, ledger.usage("session")
        assert totals == sessions.totals and totals.lower_bounds == 0
        return totals.counts, {group.key: group.totals.calls for group in sessions.groups}


def family(scene: Scene) -> None:
    """a (calls 0, 1) was forked three times: into b and c after both calls, into d after the first; b again, into e."""
    a = call(scene, 0, "a") + call(scene, 1, "a")
    b = copied(a, "b") + call(scene, 2, "b")
    scene.write("a", *a)
    scene.write("b", *b)
    scene.write("c", *copied(a, "c"), *call(scene, 3, "c"))
    scene.write("d", *copied(a[:2], "d", forkedFrom={"sessionId": "a", "messageUuid": "u1"}), *call(scene, 4, "d"))
    scene.write("e", *copied(b, "e"), *call(scene, 5, "e"))


def test_a_family_of_forks(scene: Scene) -> None:
    family(scene)
    assert held(scene) == (wanted(0, 1, 2, 3, 4, 5), {"a": 2, "b": 1, "c": 1, "d": 1, "e": 1})


@pytest.mark.parametrize("order", list(permutations("abcde"))[::17])
def test_a_family_that_comes_in_any_order(scene: Scene, tmp_path: Path, order: tuple[str, ...]) -> None:
    family(scene)
    texts = {name: scene.path(name).read_bytes() for name in order}
    for name in order:
        scene.path(name).unlink()
    for name in order:
        scene.path(name).write_bytes(texts[name])
        held(scene, tmp_path / "grown")
    assert held(scene, tmp_path / "grown") == held(scene, tmp_path / "new")


@pytest.mark.parametrize(
    ("gone", "sessions"),
    [
        ("a", {"b": 3, "c": 1, "d": 1, "e": 1}),
        ("b", {"a": 2, "c": 1, "d": 1, "e": 2}),
        ("ab", {"c": 3, "d": 1, "e": 2}),
        ("bcde", {"a": 2}),
    ],
)
def test_a_family_that_lost_some_of_its_own(scene: Scene, gone: str, sessions: dict[str, int]) -> None:
    """What is copied elsewhere is still counted; only what stood in the lost files alone is gone with them."""
    family(scene)
    held(scene)
    for name in gone:
        scene.path(name).unlink()
    left = {
        int(entry["requestId"][1:])
        for path in scene.root.rglob("*.jsonl")
        for entry in map(json.loads, path.read_text("utf-8").splitlines())
    }
    counts, booked = held(scene)
    assert counts == wanted(*left)
    assert booked == sessions


def test_a_session_that_was_written_down_again_in_its_own_file(scene: Scene) -> None:
    """A client that is resumed may write all rows again, with new uuids and times, before it goes on."""
    rows = call(scene, 0, "a") + call(scene, 1, "a")
    again = [
        entry | {"uuid": f"again-{place}", "timestamp": "2026-03-05T10:00:00.000Z"} for place, entry in enumerate(rows)
    ]
    scene.write("a", *rows)
    assert held(scene) == (wanted(0, 1), {"a": 2})
    scene.append("a", *again, *call(scene, 2, "a"))
    assert held(scene) == (wanted(0, 1, 2), {"a": 3})
    with scene.open() as ledger:
        assert [group.key for group in ledger.usage("day").groups] == ["2026-03-01"], "booked when it was made"


def test_a_session_that_was_replayed_into_another(scene: Scene) -> None:
    """The same calls at later times, in a new session that goes on; then that one, with a subagent, into a third."""
    rows = call(scene, 0, "a") + call(scene, 1, "a")
    replayed = copied(rows, "b", timestamp="2026-03-05T10:00:00.000Z", uuid="n") + call(scene, 2, "b")
    inside = call(scene, 3, "b", agentId="x", isSidechain=True)
    scene.write("a", *rows)
    scene.write("b", *replayed)
    scene.write("b/subagents/agent-x", *inside)
    scene.write("c", *copied(replayed, "c"))
    scene.write("c/subagents/agent-x", *copied(inside, "c"))
    assert held(scene) == (wanted(0, 1, 2, 3), {"a": 2, "b": 2})


def test_a_fork_of_which_only_a_part_was_written_has_the_larger_counts_of_the_two(scene: Scene) -> None:
    """The original was cut off at the placeholder; the fork copied it later, with the final count."""
    rows = call(scene, 0, "a")
    scene.write("a", rows[0])
    scene.write("b", *copied(rows, "b"), *call(scene, 1, "b"))
    assert held(scene) == (wanted(0, 1), {"a": 1, "b": 1})


def groups(scene: Scene, index: Path | None = None) -> dict[str, dict[str, tuple[int, int]]]:
    with scene.open(folder=index) as ledger:
        return {
            by: {group.key: (group.totals.calls, group.totals.counts.output) for group in ledger.usage(by).groups}
            for by in ("session", "subagent", "day")
        }


@pytest.mark.parametrize("entries_first", [False, True])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("b", "z"),  # its path no longer comes first
        ("z", "a"),
        ("s", "t"),  # its lines are of another session now
        ("../-q/c", "c"),  # the same session in another folder
        ("agent-a1", "agent-a2"),
        ("s/subagents/agent-a1", "t/subagents/agent-a1"),
    ],
)
def test_a_file_that_gets_another_name_counts_as_if_it_always_had_it(
    scene: Scene, tmp_path: Path, before: str, after: str, entries_first: bool
) -> None:
    both = [*call(scene, 1, "s", isSidechain=True), *call(scene, 2, "s")]
    nobody = [{key: value for key, value in row.items() if key != "sessionId"} for row in call(scene, 3, "")]
    scene.write("c" if "-q" not in before else "a", *both, *nobody)
    scene.write(before, *both, *nobody, *call(scene, 4, "s"))
    groups(scene)
    scene.path(after).parent.mkdir(parents=True, exist_ok=True)
    scene.path(before).rename(scene.path(after))
    if entries_first:
        with scene.open() as ledger:
            ledger.entries()
    assert groups(scene) == groups(scene, tmp_path / "fresh")
    with scene.open() as ledger:
        assert ledger.sync().files == 0
