"""Find the conversation as older versions of Claude Code resume it, for the versions whose rules were measured.

2.0.77 reads line by line and ends on the row with the latest time. It has no checkpoints, repairs no links and does not put
parallel results back; it hangs on a circle of parents and fails on messages of odd shapes. 2.1.197 differs from 2.1.326 in a
few rules only.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cmp_to_key
from typing import Final

from .client_state import ClientState, Parents, load_as_client
from .request import is_dropped_error, rows_sent
from .rows import SPOKEN, Row, Transcript, gc_paused
from .thread import Thread, after_last_boundary, before_compaction, find_thread, resume

MEASURED: Final = ("2.1.326", "2.1.325", "2.1.197", "2.0.77")
"""Versions for which `find_thread_of` has rules, newest first."""
#: Kinds of damage for which a version that parses whole lines skips the line with every object on it.
_UNREADABLE_LINE: Final = frozenset({"torn", "glued", "nul", "not-json", "control-character", "nonstandard-number"})
_SEVERAL_LINES: Final = frozenset({"several-lines", "several-lines-unread"})


def find_thread_of(transcript: Transcript, version: str) -> Thread:
    """Return the thread by the rules of one of the `MEASURED` versions of Claude Code."""
    if version == "2.0.77":
        with gc_paused():
            return _find_by_latest_time(transcript)
    if version == "2.1.197":
        with gc_paused():
            return _find_by_file_order(transcript)
    return find_thread(transcript)


def sent_as_user(thread: Thread, version: str) -> list[Row]:
    """Return the system rows whose text is sent as the user's: output of local commands (2.0.77 does not send it)."""
    if version == "2.0.77":
        return []
    return [row for row in thread.chain if row.type == "system" and row.subtype == "local_command"]


def _find_by_file_order(transcript: Transcript) -> Thread:
    """Find the thread by the rules of 2.1.197: without a checkpoint the last row in the file is the end.

    2.1.326 may end on a newer descendant of that row instead.
    """
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
    """Find the thread by the rules of 2.0.77: the row with the latest time and its ancestors."""
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
    """Return whether old versions fail on the row.

    They fail on an assistant's message that is a plain string, a message without content, an attachment without a type.
    """
    if row.type == "attachment":
        return row.detail is None
    return row.is_message and (row.answer_is_text or _has_no_content(row))


def _has_no_content(row: Row) -> bool:
    return row.is_message and not row.usable and not row.block_types


def _nothing(transcript: Transcript, state: ClientState, why: str) -> Thread:
    return Thread(None, why, False, [], [], {}, frozenset(), [], transcript.rows, state)


def _latest(rows: list[Row]) -> Row | None:
    """Return the first of the rows with the latest time.

    An unreadable time compares as equal to every other time, so the result then depends on the order of the sort.
    """
    times = {row.index: row.time for row in rows}
    if None not in times.values():
        return max(rows, key=lambda row: times[row.index] or 0.0, default=None)

    def compared(one: Row, other: Row) -> int:
        first, second = times[one.index], times[other.index]
        return 0 if first is None or second is None else (second > first) - (second < first)

    return sorted(rows, key=cmp_to_key(compared))[0]


def _sent(chain: list[Row]) -> list[Row]:
    """Return the rows that 2.0.77 sends, in the order of the request.

    Calls without a result are left out. Lines of one response are joined where only results stand between them.
    """
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
