"""Random sessions, most of them impossible: a fork of one sends what its source sends, is plain, and changes no other byte."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.test_thread_properties import FILES, encoded
from tests.reading import transcript_of

from recollect.edit import fork_lines
from recollect.edit.fork_lines import ForkLines, Titles, _new_times, entry_bytes, plan_rows
from recollect.errors import DamagedData
from recollect.format.names import Names
from recollect.graph.fork_point import ForkPoint, fork_point_at, fork_point_at_end
from recollect.graph.rows import Row, Transcript
from recollect.graph.thread import find_thread
from recollect.store.read import EntryBytes
from recollect.testing import uuid_from

SOURCE, NEW = uuid_from("source"), uuid_from("fork")


def forked(data: bytes, transcript: Transcript, ending: ForkPoint, *, keep: bool) -> tuple[bytes, Names]:
    names = Names(SOURCE, NEW, keep)
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(data)
        file.flush()
        with EntryBytes(Path(file.name)) as source:
            plan = plan_rows(transcript, ending, names, [], lambda row: entry_bytes(source, row))
            return b"".join(ForkLines(source, transcript, plan, names, Titles("T")).chunks()), names


def forked_or_refused(
    data: bytes, transcript: Transcript, ending: ForkPoint, *, keep: bool
) -> tuple[bytes, Names] | None:
    """None where nothing of the conversation would be sent, and a fork would be none."""
    try:
        return forked(data, transcript, ending, keep=keep)
    except DamagedData:
        assert ending.sent == []
        return None


def forks(entries: list[dict[str, Any]], *, keep: bool) -> Iterator[tuple[ForkPoint, bytes, Names]]:
    """The fork at every end of a session."""
    data = encoded(entries)
    transcript = transcript_of(data)
    for ending in endings(transcript):
        fork = forked_or_refused(data, transcript, ending, keep=keep)
        if fork is not None:
            yield ending, *fork


def endings(transcript: Transcript) -> list[ForkPoint]:
    """The conversation as it stands, and as it is up to each of the rows."""
    thread = find_thread(transcript)
    uuids = dict.fromkeys(row.uuid for row in transcript.rows if row.uuid and not row.sidechain)
    found = [fork_point_at_end(transcript, thread), *(fork_point_at(transcript, thread, uuid) for uuid in uuids)]
    return [ending for ending in found if ending is not None and ending.leaf is not None]


def named(ending: ForkPoint, names: Names) -> list[str | None]:
    """The uuids that the rows sent have in a fork; None for rows that had none and got one."""
    return [names.row(row.uuid) if row.uuid else None for row in ending.sent]


def same(found: list[str | None], wanted: list[str | None]) -> bool:
    return len(found) == len(wanted) and all(
        want is None or want == got for want, got in zip(wanted, found, strict=True)
    )


@given(FILES, st.booleans())
def test_a_fork_sends_what_was_meant(entries: list[dict[str, Any]], keep: bool) -> None:
    for ending, copy, names in forks(entries, keep=keep):
        thread = find_thread(transcript_of(copy))
        assert same([row.uuid for row in thread.sent], named(ending, names))


@given(FILES, st.booleans())
def test_a_fork_is_one_chain_in_file_order_with_the_newest_row_last(entries: list[dict[str, Any]], keep: bool) -> None:
    for _, copy, _ in forks(entries, keep=keep):
        made = transcript_of(copy)
        above: str | None = None
        for row in made.rows:
            assert row.parent == (None if row.is_boundary else above)
            assert row.time is not None
            above = row.uuid
        assert len({row.uuid for row in made.rows}) == len(made.rows)
        last = max(index for index, row in enumerate(made.rows) if row.is_message)
        newest = max(row.time or 0.0 for row in made.rows)
        first_newest = next(index for index, row in enumerate(made.rows) if row.time == newest)
        assert first_newest >= last, "2.0.77 ends the conversation on the first of the newest rows"
        assert all(place.status in ("live", "precompact") for place in find_thread(made).placements)


@given(FILES)
def test_a_fork_of_a_fork_is_the_same_conversation(entries: list[dict[str, Any]]) -> None:
    data = encoded(entries)
    transcript = transcript_of(data)
    ending = fork_point_at_end(transcript, find_thread(transcript))
    if ending.leaf is None:
        return
    fork = forked_or_refused(data, transcript, ending, keep=True)
    if fork is None:
        return
    once, _ = fork
    first = transcript_of(once)
    again, _ = forked(once, first, fork_point_at_end(first, find_thread(first)), keep=True)
    assert [json.loads(line) for line in again.splitlines()] == [json.loads(line) for line in once.splitlines()]


_MOMENTS = st.sampled_from(
    [
        None, "", "no time", "2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.6789Z", "2026-01-02T03:04:06Z",
        "2026-01-02T04:04:06+01:00", "2026-01-02T03:04:07", "9999-12-31T23:59:59Z", "9999-12-30T23:59:59Z",
        "Fri, 02 Jan 2026 03:04:08 GMT",
    ]
)  # fmt: skip


@given(st.lists(st.tuples(_MOMENTS, st.booleans()), min_size=1, max_size=6), st.integers(0, 3))
def test_new_times_are_the_same_whether_looked_at_one_by_one_or_not(
    drawn: list[tuple[str | None, bool]], behind: int
) -> None:
    chain = [
        Row(index, index + 1, 0, 10, "user", f"u{index}", None, moment, side)
        for index, (moment, side) in enumerate(drawn)
    ]
    leaf = chain[max(len(chain) - 1 - behind, 0)]
    quick = _new_times(chain, leaf, 5.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fork_lines, "newest_of", lambda _: None)
        assert _new_times(chain, leaf, 5.0) == quick
