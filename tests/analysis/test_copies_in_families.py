"""The same answer under another request: within one session's family it counts once, elsewhere it is another answer."""

from __future__ import annotations

from itertools import combinations, permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.scene import Entry, Scene, tokens

FULL = tokens(10, 200, 30, 40, 500)
ONCE = (1, 10, 200, 30, 40, 500)
TWICE = (2, 20, 400, 60, 80, 1000)


def side(entry: Entry, subagent: str = "a1", **more: Any) -> Entry:
    return entry | {"isSidechain": True, "agentId": subagent} | more


def booked(scene: Scene, index: Path | None = None) -> list[tuple[str, str | None, str | None, int, int]]:
    with scene.open(folder=index) as ledger:
        return [
            (item.request_id, item.session_id, item.subagent_id, item.counts.output, item.copies)
            for item in ledger.calls()
        ]


@pytest.mark.parametrize("name", ["s/subagents/agent-a1", "s/subagents/workflows/w1/agent-a1", "agent-a1", "s"])
@pytest.mark.parametrize("side_first", [False, True])
@pytest.mark.parametrize("request_id", ["req_2", None])
def test_the_main_one_is_kept(scene: Scene, name: str, side_first: bool, request_id: str | None) -> None:
    main = scene.answer("msg_1", FULL, time="2025-11-03T10:00:05.000Z")
    copy = side(scene.answer("msg_1", FULL, request=request_id, time="2025-11-03T10:00:00.000Z"))
    for where, entry in [(name, copy), ("s", main)] if side_first else [("s", main), (name, copy)]:
        scene.path(where).parent.mkdir(parents=True, exist_ok=True)
        scene.append(where, entry)
        assert scene.counts() == ONCE
    assert booked(scene) == [("req_1", "s", None, 200, 2)]


def test_the_main_one_is_kept_as_it_stands(scene: Scene) -> None:
    scene.write("s", scene.answer("msg_1", tokens(10, 5)))
    scene.write("s/subagents/agent-a1", side(scene.answer("msg_1", tokens(10, 900), request="req_2")))
    assert booked(scene) == [("req_1", "s", None, 5, 2)]


def test_a_placeholder_is_filled_in_by_the_copy(scene: Scene) -> None:
    scene.write("s", scene.answer("msg_1", tokens(10, 1), stop=None, version="2.0.50"))
    scene.write("s/subagents/agent-a1", side(scene.answer("msg_1", tokens(10, 900), request="req_2")))
    assert booked(scene) == [("req_1", "s", None, 900, 2)]
    with scene.open() as ledger:
        assert ledger.usage("day").totals.lower_bounds == 0


def test_of_subagents_alone_the_first_is_kept(scene: Scene) -> None:
    for number, subagent in enumerate(("a2", "a1")):
        time = f"2025-11-03T10:00:0{number}.000Z"
        row = side(scene.answer("msg_1", tokens(10, 5 + number), request=f"r{number}", time=time), subagent)
        scene.write(f"s/subagents/agent-{subagent}", row)
    assert booked(scene) == [("r0", "s", "a2", 6, 2)]


def test_a_copy_in_a_progress_line(scene: Scene) -> None:
    inner = {"type": "assistant", "message": scene.answer("msg_1", tokens(10, 1))["message"], "requestId": "req_9"}
    scene.write(
        "s",
        {"type": "progress", "sessionId": "s", "timestamp": "2025-11-03T09:00:00.000Z", "data": {"message": inner}},
    )
    scene.write("s/subagents/agent-a1", side(scene.answer("msg_1", FULL)))
    assert scene.counts() == ONCE


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("s", {}),  # both of the main conversation
        ("t/subagents/agent-a1", {"isSidechain": True, "sessionId": "t"}),  # another family
        ("t", {"isSidechain": True, "sessionId": "t"}),
    ],
)
def test_ids_that_repeat_elsewhere_are_different_answers(scene: Scene, name: str, changes: Entry) -> None:
    scene.write("s", scene.answer("msg_1", FULL))
    scene.path(name).parent.mkdir(parents=True, exist_ok=True)
    scene.append(name, scene.answer("msg_1", FULL, request="req_2") | changes)
    assert scene.counts() == TWICE


def test_a_copy_takes_none_of_the_main_ones_with_it(scene: Scene) -> None:
    scene.write("s", *(scene.answer("msg_1", FULL, request=f"r{number}") for number in range(2)))
    scene.write("s/subagents/agent-a1", side(scene.answer("msg_1", FULL, request="r2")))
    assert scene.counts() == TWICE


def test_other_models_and_messages_without_an_id_are_left_alone(scene: Scene) -> None:
    scene.write("s", scene.answer("msg_1", FULL), scene.answer(None, FULL, request="r1"))
    rows = [scene.answer("msg_1", FULL, request="r2", model="claude-opus-4-1"), scene.answer(None, FULL, request="r3")]
    scene.write("s/subagents/agent-a1", *map(side, rows))
    assert scene.counts()[0] == 4


def test_what_an_advisor_used_is_copied_with_its_response(scene: Scene) -> None:
    rounds = [{"type": "message"}, {"type": "advisor_message", "model": "claude-opus-4-5", "output_tokens": 7}]
    row = scene.answer("msg_1", FULL | {"iterations": rounds})
    scene.write("s", row)
    scene.write("s/subagents/agent-a1", side(row | {"requestId": "req_2"}))
    assert scene.counts() == (2, 10, 207, 30, 40, 500)


def test_a_fork_of_a_copy(scene: Scene) -> None:
    """The fork has the main answer from its original, and a subagent that copied it under another request."""
    main = scene.answer("msg_1", FULL)
    scene.write("s", main)
    scene.write("t", main | {"sessionId": "t"})
    scene.write("t/subagents/agent-a1", side(main | {"requestId": "req_2"}, sessionId="t"))
    scene.write("u/subagents/agent-a1", side(main | {"requestId": "req_2"}, sessionId="u"))
    assert booked(scene) == [("req_1", "s", None, 200, 4)]
    scene.path("s").unlink()
    assert booked(scene) == [("req_1", "t", None, 200, 3)]
    scene.path("t").unlink()
    assert scene.counts() == ONCE


def test_many_answers_with_one_id(scene: Scene) -> None:
    """As some gateways write them: it must not take the square of the time."""
    scene.write("s", *(scene.answer("msg", tokens(1, 1), request=f"r{number}") for number in range(3000)))
    rows = (side(scene.answer("msg", tokens(1, 1), request=f"q{number}")) for number in range(3000))
    scene.write("s/subagents/agent-a1", *rows)
    assert scene.counts() == (3000, 3000, 3000, 0, 0, 0)


# -- the session that made a request ----------------------------------------------------------------------------------
@pytest.mark.parametrize("order", list(permutations("stu")))
def test_a_copied_request_is_booked_on_the_session_that_made_it(scene: Scene, order: str) -> None:
    """`t` copied it with a mark, `u` without one, and has it at an earlier time."""
    rows = {
        "s": scene.answer("msg_1", FULL, session="s"),
        "t": scene.answer("msg_1", FULL, session="t", requestSessionId="s"),
        "u": scene.answer("msg_1", FULL, session="u", time="2025-11-03T09:00:00.000Z"),
    }
    for name in order:
        scene.write(name, rows[name])
        scene.counts()
    with scene.open() as ledger:
        (item,) = ledger.calls()
        assert (item.session_id, Path(item.path).stem, item.copies) == ("s", "s", 3)
    scene.path("s").unlink()
    with scene.open() as ledger:
        (item,) = ledger.calls()
        assert (item.session_id, Path(item.path).stem, item.copies) == ("s", "u", 2), "its own file is gone"
        assert [group.key for group in ledger.usage("session").groups] == ["s"]
        assert ledger.session_days() == {"s": {"2025-11-03"}}


def test_a_request_that_names_its_maker_on_a_later_line(scene: Scene, tmp_path: Path) -> None:
    row = scene.answer("msg_1", FULL, session="t")
    scene.write("t", row)
    scene.counts()
    scene.append("t", row | {"requestSessionId": "s"})
    assert booked(scene) == booked(scene, tmp_path / "fresh") == [("req_1", "s", None, 200, 1)]


@pytest.mark.parametrize("value", ["", None, 7, [], {"a": 1}])
def test_a_maker_that_is_none(scene: Scene, value: Any) -> None:
    scene.write("t", scene.answer("msg_1", FULL, session="t", requestSessionId=value))
    assert booked(scene) == [("req_1", "t", None, 200, 1)]


def test_a_copied_row_belongs_to_the_family_of_its_maker_too(scene: Scene) -> None:
    scene.write("t", scene.answer("msg_1", FULL, session="t", requestSessionId="s"))
    scene.write("s/subagents/agent-a1", side(scene.answer("msg_1", FULL, request="req_2")))
    assert booked(scene) == [("req_1", "s", None, 200, 2)]


# -- whatever the order -----------------------------------------------------------------------------------------------
FILES = ("s", "s/subagents/agent-a1", "s/subagents/agent-a2", "t", "t/subagents/agent-a3", "u")


class Line(NamedTuple):
    file: str
    message: int
    request: int
    output: int
    is_side: bool
    maker: str | None

    def entry(self, scene: Scene, number: int) -> Entry:
        session = self.file.split("/")[0]
        more = {} if self.maker is None else {"requestSessionId": self.maker}
        row = scene.answer(
            f"m{self.message}", tokens(1, self.output), request=f"r{self.request}", session=session,
            time=f"2025-11-03T10:00:{number:02}.000Z", **more,
        )  # fmt: skip
        return side(row, self.file.partition("agent-")[2] or "inside") if self.is_side or "/" in self.file else row


LINES = st.lists(
    st.builds(
        Line, st.sampled_from(FILES), st.integers(0, 1), st.integers(0, 2), st.integers(1, 3),
        st.sampled_from([False, False, True]), st.sampled_from([None, None, None, "s", "t", "gone"]),
    ),
    min_size=1, max_size=9,
)  # fmt: skip


def by_hand(lines: list[Line]) -> dict[str, tuple[int, int]]:
    """Calls and output by session, as the rule says it, without any of the code that is tried."""
    rows: dict[tuple[int, int, str], dict[str, Any]] = {}
    for number, line in enumerate(lines):
        row = rows.setdefault(
            (line.message, line.request, line.file),
            {"first": number, "main": "/" not in line.file and not line.is_side, "output": 0, "maker": None},
        )
        row["output"] = max(row["output"], line.output)
        row["maker"] = row["maker"] or line.maker
        row["session"] = line.file.split("/")[0]
    found: dict[str, tuple[int, int]] = {}
    for message in {key[0] for key in rows}:
        calls: dict[int, list[dict[str, Any]]] = {}
        for (own, request, _), row in rows.items():
            if own == message:
                calls.setdefault(request, []).append(row)

        def place(request: int, calls: dict[int, list[dict[str, Any]]] = calls) -> tuple[bool, int]:
            return not any(row["main"] for row in calls[request]), min(row["first"] for row in calls[request])

        def are_one(one: int, other: int, calls: dict[int, list[dict[str, Any]]] = calls) -> bool:
            for family in ("s", "t", "u", "gone"):
                here = [
                    [row for row in calls[call] if family in (row["session"], row["maker"])] for call in (one, other)
                ]
                if all(here) and not all(any(row["main"] for row in part) for part in here):
                    return True
            return False

        kept: dict[int, list[dict[str, Any]]] = {}
        for request in sorted(calls, key=place):
            original = [other for other in sorted(kept, key=place) if are_one(request, other)]
            if original:
                if not any(row["main"] for row in calls[original[0]]):
                    kept[original[0]] += calls[request]
            else:
                kept[request] = list(calls[request])
        for request, told in kept.items():
            makers = [row for row in calls[request] if row["maker"]]
            first = min(makers or calls[request], key=lambda row: row["first"])
            session = first["maker"] or first["session"]
            number, output = found.get(session, (0, 0))
            found[session] = number + 1, output + max(row["output"] for row in told)
    return found


def by_session(scene: Scene, index: Path) -> dict[str, tuple[int, int]]:
    with scene.open(folder=index) as ledger:
        report = ledger.usage("session")
        assert report.totals == ledger.usage("day").totals
        return {group.key: (group.totals.calls, group.totals.counts.output) for group in report.groups}


@settings(max_examples=80, deadline=None)
@given(LINES, st.data())
def test_any_order_of_files_and_any_split_of_what_came_gives_the_same(lines: list[Line], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        scene = Scene(Path(folder))
        waiting: dict[str, list[Entry]] = {}
        for number, line in enumerate(lines):
            waiting.setdefault(line.file, []).append(line.entry(scene, number))
        while waiting:
            name = data.draw(st.sampled_from(sorted(waiting)))
            count = data.draw(st.integers(1, len(waiting[name])))
            scene.path(name).parent.mkdir(parents=True, exist_ok=True)
            scene.append(name, *waiting[name][:count])
            waiting[name] = waiting[name][count:]
            if not waiting[name]:
                del waiting[name]
            if data.draw(st.booleans()):
                by_session(scene, scene.folder)
        assert by_session(scene, scene.folder) == by_session(scene, Path(folder) / "fresh") == by_hand(lines)


def test_the_hand_made_rule_sees_something() -> None:
    main, copy = Line("s", 0, 0, 1, False, None), Line("s/subagents/agent-a1", 0, 1, 1, False, None)
    assert by_hand([main, copy]) == {"s": (1, 1)}
    assert by_hand([main, copy._replace(file="t")]) == {"s": (1, 1), "t": (1, 1)}
    assert [len(by_hand(list(pair))) for pair in combinations([main, copy, main._replace(file="u")], 2)] == [1, 1, 2]
