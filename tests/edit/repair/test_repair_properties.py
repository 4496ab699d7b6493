"""Whatever stands in a file: a repair loses no valid line, gives the same when it is run again, and no history is lost by it."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.edit.repair.repairing import Repaired, repair, valid_lines
from tests.properties.test_thread_properties import FILES, encoded

from recollect.testing import DAMAGES, TranscriptBuilder, uuid_from
from recollect.testing.damage.recipe import sample_session
from recollect.testing.toolcalls import bash, read

#: Kinds whose files take long to go through are tried one by one, not in combinations.
SMALL = sorted(set(DAMAGES) - {"huge-line", "deep-arrays", "deep-objects", "nul-line-long", "many-digits"})


def rich_session() -> bytes:
    """Parallel calls, a compaction, a rewind, a subagent inside."""
    t = TranscriptBuilder(uuid_from("rich"), "/home/dev/orchard", step=30.0)
    t.user("Look at both.")
    t.parallel([bash("ls", "a\n"), read("/home/dev/orchard/a", "x")], "two at once")
    first = t.assistant("Seen.", thinking="hm")
    t.user("Never mind.")
    t.assistant("Fine.")
    t.rewind(first)
    t.user("Another way.")
    t.call(bash("make", "done\n"))
    kept = t.assistant("Done.")
    t.compact("auto", "We looked at both.", preserved=[kept])
    t.user("Go on.")
    t.assistant("Going on.")
    return t.to_bytes()


SAMPLES = (sample_session().to_bytes(), rich_session())


def holds(repaired: Repaired) -> None:
    lost = valid_lines(repaired.before) - valid_lines(repaired.after) - _kept(repaired)
    assert not lost, "a valid line is gone"
    assert repaired.was.reached <= repaired.now.reached
    assert repaired.now.share >= repaired.was.share or not repaired.was.found
    assert repaired.now.found or not repaired.was.found
    again = repair(repaired.after)
    assert again.after == repaired.after, (repaired.fixes, again.fixes)
    assert not again.fragments


def _kept(repaired: Repaired) -> Counter[str]:
    return sum((valid_lines(item.data) for item in repaired.fragments if item.why == "copy"), Counter())


@settings(max_examples=60)
@given(FILES)
def test_random_sessions(entries: list[dict[str, Any]]) -> None:
    holds(repair(encoded(entries)))


@settings(max_examples=60)
@given(
    st.sampled_from(SAMPLES), st.lists(st.tuples(st.sampled_from(SMALL), st.integers(0, 50)), min_size=1, max_size=4)
)
def test_several_kinds_of_damage_at_once(data: bytes, kinds: list[tuple[str, int]]) -> None:
    for name, seed in kinds:
        data = DAMAGES[name].apply(data, seed)
    holds(repair(data))


@settings(max_examples=60)
@given(st.sampled_from(SAMPLES), st.integers(0, 20_000), st.integers(1, 400), st.binary(max_size=12))
def test_bytes_overwritten_anywhere(data: bytes, place: int, length: int, new: bytes) -> None:
    place %= len(data)
    holds(repair(data[:place] + new + data[place + length :]))


@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_each_kind_of_damage(name: str) -> None:
    holds(repair(DAMAGES[name].make(3)))


def breaches(repaired: Repaired) -> list[str]:
    """What the API would refuse in a resume: calls without a result in the next message, results without a call in the last."""
    found: list[str] = []
    open_calls: set[str] = set()
    messages = [list(rows) for _, rows in groupby(repaired.thread.sent, key=lambda row: row.type)]
    for number, rows in enumerate(messages):
        if rows[0].type == "assistant":
            open_calls = {ident for row in rows for ident, _ in row.tool_uses}
            if number == len(messages) - 1:
                open_calls = set()  # broken off: the client makes up the results
        else:
            answered = [ident for row in rows for ident in row.tool_results]
            found += [f"unasked {ident}" for ident in set(answered) - open_calls]
            found += [f"unanswered {ident}" for ident in open_calls - set(answered)]
            found += [f"twice {ident}" for ident in answered if answered.count(ident) > 1]
            open_calls = set()
    return found


@pytest.mark.parametrize("name", sorted(set(DAMAGES) - {"deep-arrays", "deep-objects", "huge-line"}))
@pytest.mark.parametrize("data", SAMPLES)
def test_the_api_accepts_what_a_repaired_session_sends(name: str, data: bytes) -> None:
    assert breaches(repair(DAMAGES[name].apply(data, 1))) == []


@pytest.mark.parametrize("data", SAMPLES)
def test_a_healthy_session_is_left_alone(data: bytes) -> None:
    repaired = repair(data)
    assert repaired.after == data
    assert repaired.fixes == []
