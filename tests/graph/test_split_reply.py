"""A reply whose lines were split by attachments: talk that went on from those counts, though the checkpoint says otherwise."""

from __future__ import annotations

import pytest
from tests.reading import transcript_of

from recollect.graph.client_state import load_as_client
from recollect.graph.leaf import Leaf, choose_leaf
from recollect.testing import TranscriptBuilder, uuid_from
from recollect.testing.toolcalls import bash

AFTER = "last row, after the checkpoint"


class SplitReply:
    """Two lines of one reply, an attachment between them, and a checkpoint on the second line."""

    def __init__(self, *, between: str = "attachment", rewound: bool = False) -> None:
        self.t = t = TranscriptBuilder(uuid_from("split reply"))
        self.prompt = t.user("one")
        self.first = t.assistant("the first line")
        if between == "attachment":
            self.between = t.attachment("date", date="x")
        elif between == "system":
            self.between = t.system("informational", "x")
        else:
            self.between = t.user("a caveat", meta=True)
        self.end = t.assistant("the second line")
        t.entry(self.end)["message"]["id"] = t.entry(self.first)["message"]["id"]
        t.last_prompt(leaf=self.end, rewound=rewound)

    @property
    def leaf(self) -> Leaf:
        return choose_leaf(load_as_client(transcript_of(self.t)))


@pytest.mark.parametrize("between", ["attachment", "system"])
def test_talk_that_went_on_from_between_the_lines_is_the_end(between: str) -> None:
    reply = SplitReply(between=between)
    last = reply.t.user("two", parent=reply.between)
    assert reply.leaf == Leaf(last, AFTER)
    last = reply.t.assistant("three")
    assert reply.leaf == Leaf(last, AFTER)


def test_nothing_said_is_no_end() -> None:
    reply = SplitReply()
    reply.t.attachment("date", date="y", parent=reply.between)
    assert reply.leaf == Leaf(reply.end, "checkpoint")


def test_lines_that_a_message_split_were_not_split_by_accident() -> None:
    reply = SplitReply(between="meta")
    reply.t.user("two", parent=reply.between)
    assert reply.leaf == Leaf(reply.end, "checkpoint")


def test_talk_from_elsewhere_is_another_branch() -> None:
    reply = SplitReply()
    reply.t.user("two", parent=reply.prompt)
    assert reply.leaf == Leaf(reply.end, "checkpoint")


def test_talk_that_is_older_than_the_reply_is_another_branch() -> None:
    reply = SplitReply()
    reply.t.wait(-1000)
    reply.t.user("two", parent=reply.between)
    assert reply.leaf == Leaf(reply.end, "checkpoint")


def test_a_row_below_the_checkpoint_keeps_it() -> None:
    reply = SplitReply()
    reply.t.attachment("date", date="y", parent=reply.end)
    reply.t.user("two", parent=reply.between)
    assert reply.leaf == Leaf(reply.end, "checkpoint")


def test_a_circle_of_rows_leads_nowhere() -> None:
    reply = SplitReply()
    two = reply.t.user("two", parent=reply.between)
    reply.t.entry(two)["parentUuid"] = reply.t.assistant("three")
    assert reply.leaf == Leaf(reply.end, "checkpoint")


def test_a_reply_with_calls_is_told_by_its_results() -> None:
    reply = SplitReply()
    called = reply.t.assistant(tools=[bash("ls", "a\n")], parent=reply.first)
    reply.t.entry(called)["message"]["id"] = reply.t.entry(reply.first)["message"]["id"]
    reply.t.entry(reply.between)["parentUuid"] = called
    reply.t.user("two", parent=reply.between)
    assert reply.leaf == Leaf(reply.end, "checkpoint")


@pytest.mark.parametrize("is_after", [True, False], ids=["said after it", "said before it"])
def test_after_a_rewind_only_what_was_said_since_counts(is_after: bool) -> None:
    reply = SplitReply(rewound=is_after)
    reply.t.wait(60)
    last = reply.t.user("two", parent=reply.between)
    if not is_after:  # the same row, but the rewind came later, and then a row below it
        reply.t.last_prompt(leaf=reply.end, rewound=True)
        last = reply.t.user("three", parent=last)
    assert reply.leaf == (Leaf(last, AFTER) if is_after else Leaf(reply.end, "checkpoint"))
