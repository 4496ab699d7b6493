"""The conversation as older versions of Claude Code resume it, for those whose rules were measured.

2.0.77 reads line by line, ends on the row with the latest time, knows no checkpoints, mends no link and puts no parallel result
back; it hangs on a circle of parents and fails on messages of odd shapes. 2.1.197 has the rules of today but for a few.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cmp_to_key
from typing import Final

from .client_state import ClientState, Parents, load_as_client
from .gc_pause import gc_paused
from .request import is_dropped_error, rows_sent
from .rows import SPOKEN, Row, Transcript
from .thread import Thread, after_last_boundary, before_compaction, find_thread, resume

MEASURED: Final = ("2.1.326", "2.1.325", "2.1.197", "2.0.77")
"""Versions whose conversation can be asked for, newest first."""
#: Damage for which a reader of whole lines skips the line: the objects on it are lost.
_UNREADABLE_LINE: Final = frozenset({"torn", "glued", "nul", "not-json", "control-character", "nonstandard-number"})
_SEVERAL_LINES: Final = frozenset({"several-lines", "several-lines-unread"})


def find_thread_of(transcript: Transcript, version: str) -> Thread:
    """The active conversation by the rules of one of the `MEASURED` versions."""
    if version == "2.0.77":
        with gc_paused():
            return _find_by_latest_time(transcript)
    if version == "2.1.197":
        with gc_paused():
            return _find_by_file_order(transcript)
    return find_thread(transcript)


def sent_as_user(thread: Thread, version: str) -> list[Row]:
    """System rows of the conversation whose words are sent as the user's: what a local command answered (not by 2.0.77)."""
    if version == "2.0.77":
        return []
    return [row for row in thread.chain if row.type == "system" and row.subtype == "local_command"]


def _find_by_file_order(transcript: Transcript) -> Thread:
    """2.1.197: as today, but without a checkpoint the last row in the file is the end, whatever hangs on it."""
    state = load_as_client(transcript)
    state.newest_row = None
    thread = resume(transcript, state)
    thread.sent = rows_sent(thread.chain, as_197=True)
    empty = next((row for row in transcript.rows if row.client_reads and _has_no_content(row)), None)
    if empty is not None:
        return _nothing(transcript, state, f"2.1.197 fails on line {empty.line}: the message has no content")
    for row in thread.chain:
        if row.type == "assistant" and row.model is None:
            return _nothing(transcript, state, f"2.1.197 hangs: the answer on line {row.line} does not name its model")
        if _is_too_odd(row):
            return _nothing(transcript, state, f"2.1.197 fails on line {row.line}: it has no content that it could use")
    return thread


def _find_by_latest_time(transcript: Transcript) -> Thread:
    """2.0.77: the row with the latest time, and what it hangs on, link by link."""
    lost = {item.line for item in transcript.damage if item.kind in _UNREADABLE_LINE}
    spread = [item for item in transcript.damage if item.kind in _SEVERAL_LINES]
    spread_from = [item.offset for item in spread]
    rows: dict[str, Row] = {}
    superseded: set[int] = set()
    for row in transcript.rows:
        before = bisect_right(spread_from, row.offset)
        is_spread = before > 0 and row.offset < spread[before - 1].offset + spread[before - 1].length
        if row.line not in lost and not is_spread and row.type != "progress":
            known = rows.get(row.uuid or "")
            if known is not None:
                superseded.add(known.index)
            rows[row.uuid or ""] = row
    links = Parents(rows, {})
    state = ClientState(rows, links, links, superseded)
    end = _latest([row for row in rows.values() if not row.sidechain])
    if end is None:
        return _nothing(transcript, state, "no row of the main conversation")
    chain: list[Row] = []
    seen: set[str] = set()
    step: Row | None = end
    while step is not None:
        if (step.uuid or "") in seen:
            return _nothing(transcript, state, "2.0.77 hangs: the parents of some rows form a circle")
        seen.add(step.uuid or "")
        chain.append(step)
        step = rows.get(step.parent) if step.parent else None
    chain.reverse()
    odd = next((row for row in chain if _is_too_odd(row)), None)
    if odd is not None:
        return _nothing(transcript, state, f"2.0.77 fails on line {odd.line}: it has no content that it could use")
    if next(iter(rows.values())).time is None:
        return _nothing(transcript, state, "2.0.77 fails: the first row of the file has no readable time")
    cut = after_last_boundary(chain)
    live = chain[cut:]
    leaf = end.uuid or ""
    return Thread(
        leaf, "row with the latest time", False, live, _sent(live), {}, frozenset(),
        before_compaction(chain, cut, transcript), transcript.rows, state,
    )  # fmt: skip


def _is_too_odd(row: Row) -> bool:
    """An answer that is a text, a message without content, an attachment without anything attached."""
    if row.type == "attachment":
        return row.detail is None
    return row.is_message and (row.answer_is_text or _has_no_content(row))


def _has_no_content(row: Row) -> bool:
    return row.is_message and not row.usable and not row.block_types


def _nothing(transcript: Transcript, state: ClientState, why: str) -> Thread:
    return Thread(None, why, False, [], [], {}, frozenset(), [], transcript.rows, state)


def _latest(rows: list[Row]) -> Row | None:
    """The first of the rows with the latest time. A time that cannot be read counts as equal to any other, as when they are
    sorted by a comparison that knows no answer."""
    times = {row.index: row.time for row in rows}
    if None not in times.values():
        return max(rows, key=lambda row: times[row.index] or 0.0, default=None)

    def compared(one: Row, other: Row) -> int:
        first, second = times[one.index], times[other.index]
        return 0 if first is None or second is None else (second > first) - (second < first)

    return sorted(rows, key=cmp_to_key(compared))[0]


def _sent(chain: list[Row]) -> list[Row]:
    """Rows of the request of 2.0.77: calls without a result left out, lines of one response joined over results alone."""
    answered = {ident for row in chain if row.type == "user" for ident in row.tool_results}
    messages: list[list[Row]] = []
    for row in chain:
        if row.type not in SPOKEN or is_dropped_error(row):
            continue
        if row.type == "user":
            if messages and messages[-1][0].type == "user":
                messages[-1].append(row)
            else:
                messages.append([row])
            continue
        is_call_alone = row.tool_uses and len(row.tool_uses) == len(row.block_types)
        if is_call_alone and not any(ident in answered for ident, _ in row.tool_uses):
            continue
        behind = len(messages) - 1
        while (
            behind >= 0 and messages[behind][0].type == "user" and any(item.tool_results for item in messages[behind])
        ):
            behind -= 1
        if behind >= 0 and messages[behind][0].type == "assistant" and messages[behind][0].message_id == row.message_id:
            messages[behind].append(row)
        else:
            messages.append([row])
    return [row for message in messages for row in sorted(message, key=lambda item: not item.tool_results)]
