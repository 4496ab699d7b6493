"""Test sinks of API calls (`recollect.index.api_calls.store.CallSink`) for what indexing relies on, however they store calls.

    from recollect.testing.call_sink_contract import CONTRACTS

    @pytest.mark.parametrize("check", CONTRACTS)
    def test_my_sink(check):
        check(MyTrial())             # an empty sink, each time another one

A trial is the sink with a way to add files to it and to read what it counts.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any, Final, NamedTuple, Protocol

from ..index.api_calls.rows import CallRow
from ..index.api_calls.store import CallSink, add_calls


class CountedCall(NamedTuple):
    """A call as a sink counts it."""

    message_id: str
    request_id: str
    session_id: str | None
    file_id: int
    output: int
    copies: int


class CallSinkTrial(Protocol):
    """A sink under test."""

    @property
    def sink(self) -> CallSink: ...

    def add_file(self, path: str, session_id: str, subagent_id: str | None = None, begun: int | None = None) -> int:
        """Add a file; all are of one home. Returns the file's number. A subagent's file has a `subagent_id`."""

    def rename_file(self, file_id: int, path: str) -> None:
        """Rename a file; `revisit` follows."""

    def counted(self) -> list[CountedCall]:
        """Return all calls that count, in any order."""


def call(message: str = "m", request: str = "r", *, line: int = 1, output: int = 5, **more: Any) -> CallRow:
    """Make a row as indexing makes it."""
    values: dict[str, Any] = dict.fromkeys(CallRow.__struct_fields__)
    values |= dict.fromkeys(("part", "input", "cache_write_5m", "cache_write_1h", "cache_read", "thinking"), 0)
    values |= {"model": "claude-x", "time": 1_000_000, "web_searches": 0, "flags": 0, "output_line": line}
    return CallRow(**values | {"message_id": message, "request_id": request, "line": line, "output": output} | more)


def a_call_counts_as_it_was_put(trial: CallSinkTrial) -> None:
    file = trial.add_file("projects/p/s.jsonl", "s")
    trial.sink.put(file, [call(output=7), call("n", line=2, output=3)])
    trial.sink.settle()
    found = [CountedCall("m", "r", "s", file, 7, 1), CountedCall("n", "r", "s", file, 3, 1)]
    assert sorted(trial.counted()) == found


def what_is_taken_out_comes_back_as_it_was(trial: CallSinkTrial) -> None:
    file = trial.add_file("projects/p/s.jsonl", "s")
    names = ("service_tier", "speed", "geo", "stop_reason", "subagent_id", "git_branch", "cwd")
    texts: dict[str, Any] = dict.fromkeys(names, "x\u00e9")
    rows = [
        call(line=2, session_id="t", time=None, flags=5, **texts),
        call(line=2, part=1, model=""),
        call("n", line=3),
    ]
    trial.sink.put(file, rows)
    trial.sink.settle()
    assert trial.sink.take(file, {"m", "none"}) == rows[:2]
    assert trial.sink.take(file, {"m"}) == []
    trial.sink.settle()
    assert [item.message_id for item in trial.counted()] == ["n"]


def more_lines_of_a_call_are_joined_with_it(trial: CallSinkTrial) -> None:
    file = trial.add_file("projects/p/s.jsonl", "s")
    add_calls(trial.sink, file, [call(output=1)], grown=False)
    trial.sink.settle()
    add_calls(trial.sink, file, [call(line=2, output=9), call("n", line=3)], grown=True)
    trial.sink.settle()
    assert sorted((item.message_id, item.output) for item in trial.counted()) == [("m", 9), ("n", 5)]


def copies_count_once_in_whatever_order_they_come(trial: CallSinkTrial) -> None:
    files = {name: trial.add_file(f"projects/p/{name}.jsonl", name, begun=ord(name)) for name in "abc"}
    for order in permutations("abc"):
        for name in order:
            trial.sink.put(files[name], [call(output=ord(name))])
            trial.sink.settle()
        assert trial.counted() == [CountedCall("m", "r", "a", files["a"], ord("c"), 3)], order
        for name in order:
            trial.sink.forget(files[name])
        trial.sink.settle()
        assert trial.counted() == []


def a_copy_whose_original_is_gone_counts(trial: CallSinkTrial) -> None:
    first, second = (trial.add_file(f"projects/p/{name}.jsonl", name) for name in "ab")
    trial.sink.put(first, [call(output=9)])
    trial.sink.put(second, [call(output=4)])
    trial.sink.settle()
    trial.sink.forget(first)
    trial.sink.settle()
    assert trial.counted() == [CountedCall("m", "r", "b", second, 4, 1)]


def a_subagent_s_copy_under_another_request_gives_way(trial: CallSinkTrial) -> None:
    main = trial.add_file("projects/p/s.jsonl", "s")
    subagent = trial.add_file("projects/p/s/subagents/agent-a.jsonl", "s", "a")
    other = trial.add_file("projects/p/t/subagents/agent-b.jsonl", "t", "b")
    trial.sink.put(subagent, [call(request="q")])
    trial.sink.put(other, [call(request="p")])
    trial.sink.settle()
    trial.sink.put(main, [call()])
    trial.sink.settle()
    assert sorted(trial.counted()) == [CountedCall("m", "p", "t", other, 5, 1), CountedCall("m", "r", "s", main, 5, 2)]


def a_call_is_booked_on_the_session_that_made_it(trial: CallSinkTrial) -> None:
    fork = trial.add_file("projects/p/b.jsonl", "b")
    trial.sink.put(fork, [call(session_id="a")])
    trial.sink.settle()
    assert trial.counted() == [CountedCall("m", "r", "a", fork, 5, 1)]


def another_name_is_looked_at_again(trial: CallSinkTrial) -> None:
    first, second = (trial.add_file(f"projects/p/{name}.jsonl", "s") for name in "ab")
    for file in (first, second):
        trial.sink.put(file, [call()])
    trial.sink.settle()
    assert [item.file_id for item in trial.counted()] == [first]
    trial.rename_file(first, "projects/p/z.jsonl")
    trial.sink.revisit(first)
    trial.sink.settle()
    assert [item.file_id for item in trial.counted()] == [second]


CONTRACTS: Final[tuple[Callable[[CallSinkTrial], None], ...]] = (
    a_call_counts_as_it_was_put,
    what_is_taken_out_comes_back_as_it_was,
    more_lines_of_a_call_are_joined_with_it,
    copies_count_once_in_whatever_order_they_come,
    a_copy_whose_original_is_gone_counts,
    a_subagent_s_copy_under_another_request_gives_way,
    a_call_is_booked_on_the_session_that_made_it,
    another_name_is_looked_at_again,
)
