"""The conversation up to a row: on the active branch, on an abandoned one, and on both sides of a compaction."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.reading import SMALL_DAMAGES, transcript_of

from recollect.graph.fork_point import (
    ForkPoint,
    ends_on,
    fork_point_at,
    fork_point_at_end,
    rewound,
    sent_on_resume,
)
from recollect.graph.rows import Row
from recollect.graph.thread import find_thread
from recollect.testing import ALL_AGES, DamageRecipe, TranscriptBuilder, build_age, uuid_from
from recollect.testing.toolcalls import bash, read

LISTED, SEGMENT = "2.1.326", "2.1.207"
"""A compaction names the messages that it preserved one by one, or by the first and the last of them."""


@pytest.fixture
def t() -> TranscriptBuilder:
    return TranscriptBuilder(uuid_from("fork point"))


def at(t: TranscriptBuilder, uuid: str, until: int | None = None) -> ForkPoint | None:
    transcript = transcript_of(t)
    return fork_point_at(transcript, find_thread(transcript), uuid, until)


def there(t: TranscriptBuilder, uuid: str) -> ForkPoint:
    found = at(t, uuid)
    assert found is not None
    return found


def at_end(t: TranscriptBuilder) -> ForkPoint:
    transcript = transcript_of(t)
    return fork_point_at_end(transcript, find_thread(transcript))


def names(rows: Iterable[Row]) -> list[str | None]:
    return [row.uuid for row in rows]


def test_the_end_of_a_plain_conversation(t: TranscriptBuilder) -> None:
    rows = [t.user("one"), t.assistant("two"), t.attachment("date", date="x")]
    found = at_end(t)
    assert names(found.live) == rows
    assert names(found.sent) == rows[:2]
    assert (found.before, found.boundary, found.until, found.preserved) == ([], None, 2, [])
    assert found.leaf is not None and found.leaf.uuid == rows[1]


def test_nothing_ends_nowhere(t: TranscriptBuilder) -> None:
    t.user("one")
    assert at(t, "no such row") is None
    assert at_end(TranscriptBuilder(uuid_from("empty"))).leaf is None


def test_a_row_of_the_active_conversation_ends_it_there(t: TranscriptBuilder) -> None:
    rows = [t.user("one"), t.assistant("two"), t.user("three"), t.assistant("four")]
    found = there(t, rows[1])
    assert names(found.live) == names(found.sent) == rows[:2]
    assert found.until == 1


def test_a_row_of_an_abandoned_branch_ends_it_as_it_was_then(t: TranscriptBuilder) -> None:
    one, two = t.user("one"), t.assistant("two")
    left = [t.user("three"), t.assistant("four")]
    t.rewind(two)
    t.user("five")
    assert names(there(t, left[1]).sent) == [one, two, *left]
    assert names(there(t, left[0]).sent) == [one, two, left[0]]


def test_progress_is_no_end_but_what_it_hangs_on_is() -> None:
    t = TranscriptBuilder(uuid_from("progress"), version="2.1.9")
    rows = [t.user("one"), t.assistant(tools=[bash("ls", "a\n")])]
    progress = t.progress("bash_progress", tool_use_id=next(iter(t.calls)), output="a")
    t.results()
    assert names(there(t, progress).live) == rows


class TestCompaction:
    def test_rows_on_both_sides_of_it(self, t: TranscriptBuilder) -> None:
        before = [t.user("one"), t.assistant("two")]
        summary = t.compact()
        after = [t.user("three"), t.assistant("four")]
        end = at_end(t)
        assert end.boundary is not None and end.boundary.is_boundary
        assert names(end.before) == [*before, end.boundary.uuid]
        assert names(end.sent) == [summary, *after]
        assert names(there(t, after[0]).sent) == [summary, after[0]]
        assert there(t, after[0]).boundary == end.boundary
        assert names(there(t, before[0]).sent) == before[:1]
        assert there(t, before[0]).boundary is None

    def test_its_boundary_means_what_it_summarised(self, t: TranscriptBuilder) -> None:
        before = [t.user("one"), t.assistant("two")]
        t.compact()
        t.user("three")
        boundary = at_end(t).boundary
        assert boundary is not None and boundary.uuid is not None
        assert names(there(t, boundary.uuid).sent) == before

    def test_one_of_another_branch_takes_nothing_away(self, t: TranscriptBuilder) -> None:
        one, two, three = t.user("one"), t.assistant("two"), t.user("three")
        t.rewind(two)
        t.compact()
        t.user("after it")
        assert names(there(t, three).sent) == [one, two, three]
        transcript = transcript_of(t)
        late = fork_point_at(transcript, find_thread(transcript), three, len(transcript.rows) - 1)
        assert late is not None
        assert names(late.sent) == [one, two, three]
        assert late.until == len(transcript.rows) - 1

    @pytest.mark.parametrize("version", [LISTED, SEGMENT])
    def test_messages_that_it_preserved_are_named(self, version: str) -> None:
        t = TranscriptBuilder(uuid_from("preserved"), version=version)
        one = t.user("one")
        kept = [t.assistant("two"), t.user("three"), t.assistant("four")]
        summary = t.compact(preserved=kept)
        last = t.user("five")
        end = at_end(t)
        assert end.boundary is not None
        assert end.preserved == kept
        assert names(end.sent) == [summary, *kept, last]
        assert names(end.before) == [one, end.boundary.uuid]

    @pytest.mark.parametrize("version", [LISTED, SEGMENT])
    def test_preserved_messages_behind_the_end_were_said_before(self, version: str) -> None:
        t = TranscriptBuilder(uuid_from("preserved"), version=version)
        one = t.user("one")
        kept = [t.assistant("two"), t.user("three"), t.assistant("four")]
        summary = t.compact(preserved=kept)
        t.user("five")
        found = there(t, kept[0])
        assert found.boundary is not None
        assert found.preserved == kept[:1]
        assert names(found.sent) == [summary, kept[0]]
        assert names(found.before) == [one, *kept[1:], found.boundary.uuid]

    def test_preserved_messages_that_are_not_there_are_none(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.compact(preserved=["no such row"])
        t.user("two")
        assert at_end(t).preserved == []


def test_a_checkpoint_at_the_end_goes_back_to_a_row(t: TranscriptBuilder) -> None:
    rows = [t.user("one"), t.assistant("two"), t.user("three")]
    transcript = transcript_of(t)
    thread = rewound(transcript, rows[1], transcript.size + 100)
    assert names(thread.sent) == rows[:2]
    assert thread.leaf == rows[1]


def test_which_rows_a_conversation_ends_on(t: TranscriptBuilder) -> None:
    rows = [t.user("one"), t.attachment("date", date="x"), t.assistant("two"), t.attachment("date", date="y")]
    transcript = transcript_of(t)
    thread = find_thread(transcript)
    assert [ends_on(thread, row) for row in transcript.rows] == [False, False, True, True]
    assert rows


# --- what a resume sends, found without a place for every row ---------------------------------------------------------


@pytest.mark.parametrize("recipe", SMALL_DAMAGES.values(), ids=SMALL_DAMAGES)
def test_a_resume_of_a_damaged_file_sends_the_thread(recipe: DamageRecipe) -> None:
    transcript = transcript_of(recipe.make(2))
    assert sent_on_resume(transcript) == find_thread(transcript).sent


@pytest.mark.parametrize("version", ALL_AGES)
def test_a_resume_of_every_age_sends_the_thread(version: str, tmp_path: Path) -> None:
    for session in build_age(tmp_path / "claude", version).sessions:
        assert names(sent_on_resume(transcript_of(session.path.read_bytes()))) == list(session.thread)


def test_a_resume_after_compactions_parallel_calls_and_rewinds(t: TranscriptBuilder) -> None:
    assert sent_on_resume(transcript_of(t)) == []
    t.user("one")
    t.parallel([bash("ls", "a\n"), read("/a", "x")], "both")
    assert names(sent_on_resume(transcript_of(t))) == t.thread
    t.compact()
    back = t.user("two")
    t.assistant("three")
    t.rewind(back)
    kept = [back, t.assistant("four")]
    assert names(sent_on_resume(transcript_of(t))) == t.thread
    t.compact(preserved=kept)
    t.user("five")
    assert names(sent_on_resume(transcript_of(t))) == t.thread
