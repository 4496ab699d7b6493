"""Choose the row on which the conversation ends (the leaf) as Claude Code 2.1.326 does, with the reason for the choice.

The last checkpoint (`last-prompt.leafUuid`) is the leaf, unless later rows in the file descend from it: then the last row of
the file is. An explicit checkpoint without rows after it always counts. Without a checkpoint the leaf is the last row of the
main conversation in file order or, if the file is out of order, that row's newest descendant.
"""

from __future__ import annotations

from typing import NamedTuple

from .client_state import ClientState
from .rows import Row


class Leaf(NamedTuple):
    uuid: str | None
    why: str
    cleared: bool = False


def choose_leaf(state: ClientState) -> Leaf:
    """Return the user or assistant row on which the resumed conversation ends; `uuid` is None where there is none."""
    if state.cleared:
        return Leaf(None, "rewound to before the first prompt", cleared=True)
    candidates, why = _candidates(state)
    best: Row | None = None
    for uuid in candidates:
        row = state.rows[uuid]
        if row.is_message and row.time is not None and (best is None or row.time > (best.time or 0.0)):
            best = row
    if best is None:
        if state.rows and not any(row.is_message for row in state.rows.values()):
            return Leaf(None, "nothing but attachments and system rows", cleared=True)
        return Leaf(None, "no user or assistant row with a readable time" if state.rows else "no rows")
    if best.sidechain:
        return Leaf(None, "the conversation would end on a subagent's row")
    return Leaf(best.uuid or "", why)


def _candidates(state: ClientState) -> tuple[list[str], str]:
    rows, last = state.rows, state.last_row
    checkpoint = state.checkpoint if state.checkpoint in rows else None
    stands = state.checkpoint_explicit and checkpoint is not None and rows[checkpoint].side is not True
    inferred = last
    if not state.any_checkpoint and last and state.newest_row and state.newest_row != last:
        inferred = _newest_descendant(state, last)
    if state.preserved_tail is None or stands:
        chosen, why = checkpoint, "checkpoint"
        if (
            chosen
            and not state.checkpoint_explicit
            and last in rows
            and last != chosen
            and (
                continues(state, last, chosen, direct=True, through_batch=not state.ever_explicit)
                or beside_split_reply(state, last, chosen)
            )
        ):
            chosen, why = last, "last row, after the checkpoint"
        if chosen is None and state.preserved_tail is None and state.trailing_snapshots == 0:
            chosen = inferred
            why = "last row in the file" if inferred == last else "newest row below the last one in the file"
        message = _nearest_message(state, chosen)
        if message is not None:
            return [message], why
    found = _open_ends(state)
    if len(found) <= 1:
        return found, "the only open end"
    return _one_of_several(state, found)


def _one_of_several(state: ClientState, found: list[str]) -> tuple[list[str], str]:
    """Choose among several open ends, after a compaction with preserved messages.

    The checkpoint is chosen if it is one of the open ends, else the last row of the file.
    """
    checkpoint, last = state.checkpoint, state.last_row
    wanted: str | None
    if (
        checkpoint
        and checkpoint in found
        and (
            state.checkpoint_explicit
            or last is None
            or not (
                continues(state, last, checkpoint, direct=False, through_batch=not state.ever_explicit)
                or beside_split_reply(state, last, checkpoint)
            )
        )
    ):
        wanted, why = checkpoint, "checkpoint"
    else:
        wanted, why = (None if state.trailing_snapshots else last), "last row in the file"
    message = _nearest_message(state, wanted)
    if wanted is None or message is None:
        return found, "newest open end"
    return [message], why


def _nearest_message(state: ClientState, start: str | None) -> str | None:
    """Return the uuid of the row itself or of its closest ancestor that is a user or assistant row."""
    seen: set[str] = set()
    step = start
    while step is not None and step in state.rows and step not in seen:
        seen.add(step)
        if state.rows[step].is_message:
            return step
        step = state.parents[step]
    return None


def _open_ends(state: ClientState) -> list[str]:
    """Return the user and assistant rows that have no user or assistant row as a child."""
    parents = {state.parents[uuid] for uuid in state.rows}
    with_child = {state.parents[uuid] for uuid, row in state.rows.items() if row.is_message}
    ends: dict[str, None] = {}
    known: dict[str, str | None] = {}
    for uuid in state.rows:
        if uuid in parents:
            continue
        path: list[str] = []
        step: str | None = uuid
        message: str | None = None
        while step is not None and step in state.rows:
            if state.rows[step].is_message:
                message = step
                break
            if step in known:
                message = known[step]
                break
            known[step] = None
            path.append(step)
            step = state.parents[step]
        for item in path:
            known[item] = message
        if message is not None and message not in with_child:
            ends[message] = None
    return list(ends)


def _newest_descendant(state: ClientState, top: str) -> str:
    below: dict[str, bool] = {top: True}
    best, best_time = top, ""
    for uuid, row in state.rows.items():
        if row.side is True or uuid == top or row.timestamp is None or row.timestamp < best_time:
            continue
        path: list[str] = []
        step: str | None = uuid
        inside = False
        while step is not None:
            if step in below:
                inside = below[step]
                break
            below[step] = False
            path.append(step)
            step = state.parents.get(step)
        for item in path:
            below[item] = inside
        if inside:
            best, best_time = uuid, row.timestamp
    return best


def is_trailer(row: Row) -> bool:
    """Return whether a row only accompanies others: an attachment, a system row, a meta row without a tool result."""
    if row.type == "attachment":
        return True
    if row.type == "system":
        return not row.is_boundary
    return row.type == "user" and row.is_meta and "tool_result" not in row.block_types


def belongs_to_response(row: Row, message_id: str | None) -> bool:
    """Return whether a row may stand between the lines of a response.

    Allowed are the lines of the response itself, tool results, meta rows, attachments and system rows but boundaries.
    """
    if row.type == "assistant":
        return message_id is not None and row.message_id == message_id
    if row.type == "user":
        return row.is_meta or "tool_result" in row.block_types
    if row.type == "attachment":
        return True
    return row.type == "system" and not row.is_boundary


def _response_above(state: ClientState, row: Row, message_id: str) -> list[Row]:
    """Return the ancestors of `row`, closest first, up to the first one that cannot stand inside its response."""
    found: list[Row] = []
    seen = {row.uuid}
    step = state.rows.get(state.parents[row.uuid or ""] or "")
    while step is not None and step.uuid not in seen and belongs_to_response(step, message_id):
        seen.add(step.uuid)
        found.append(step)
        step = state.rows.get(state.parents[step.uuid or ""] or "")
    return found


def continues(state: ClientState, last: str, checkpoint: str, *, direct: bool, through_batch: bool) -> bool:
    """Return whether the last row continues from the checkpoint.

    It does where it descends from the checkpoint (checked with `direct`) or from a parallel call of the checkpoint's response
    (checked with `through_batch`).
    """
    rows, parents = state.rows, state.parents
    call: Row | None = None
    answered: tuple[str, ...] = ()
    if through_batch:
        seen: set[str] = set()
        step = rows.get(checkpoint)
        trailer = False
        while step is not None and is_trailer(step) and step.uuid not in seen:
            seen.add(step.uuid or "")
            trailer = True
            step = rows.get(parents[step.uuid or ""] or "")
        if step is not None and step.type == "user" and "tool_result" in step.block_types:
            answered = step.tool_results
            call = rows.get(parents[step.uuid or ""] or "")
        elif not trailer:
            call = step
    calls = {ident for ident, _ in call.tool_uses} if call is not None else set()
    message_id = call.message_id if call is not None and call.type == "assistant" and calls else None
    siblings = (
        {row.uuid for row in _response_above(state, call, message_id)} if call is not None and message_id else set()
    )
    walked: set[str] = set()
    below: Row | None = None
    beside = False
    uuid: str | None = last
    while uuid and uuid not in walked:
        if direct and uuid == checkpoint:
            return True
        walked.add(uuid)
        row = rows.get(uuid)
        if call is not None and message_id and row is not None:
            if beside and row.uuid == call.uuid:
                return True
            if row.type == "assistant" and row.uuid != call.uuid and row.message_id == message_id and row.tool_uses:
                if row.uuid in siblings:
                    return True
                beside = True
            elif not belongs_to_response(row, message_id):
                beside = False
        if (
            call is not None
            and row is not None
            and row.uuid == call.uuid
            and below is not None
            and any(ident in calls for ident in answered)
            and any(ident in calls and ident not in answered for ident in below.tool_results)
        ):
            return True
        below = row
        uuid = parents.get(uuid) if row is not None else None
    return False


def beside_split_reply(state: ClientState, last: str, checkpoint: str) -> bool:
    """Return whether talk went on from an attachment or a system row in the middle of the checkpoint's response.

    The checkpoint must be the end of a response without calls whose lines are separated by attachments or system rows.
    """
    rows, parents = state.rows, state.parents
    end = rows.get(checkpoint)
    if end is None or end.type != "assistant" or end.message_id is None or last == checkpoint:
        return False
    above = _response_above(state, end, end.message_id)
    lines = [end, *(row for row in above if row.type == "assistant")]
    highest = max((place for place, row in enumerate(above) if row.type == "assistant"), default=-1)
    between = [row for row in above[: max(highest, 0)] if row.type != "assistant"]
    if not between or any(row.tool_uses for row in lines):
        return False
    if not all(row.type in ("attachment", "system") for row in between):
        return False
    fork = between[0].uuid
    walked: set[str] = set()
    talk = False
    top: Row | None = None
    uuid: str | None = last
    while uuid and uuid != fork:
        if uuid in walked:
            return False
        walked.add(uuid)
        top = rows.get(uuid)
        if top is not None:
            talk = (
                talk
                or top.type == "assistant"
                or (top.type == "user" and not top.is_meta and "tool_result" not in top.block_types)
            )
        uuid = parents.get(uuid)
    if not uuid or not talk or top is None or not (top.timestamp or "") > (end.timestamp or ""):
        return False
    if state.checkpoint_rewound and (state.since_rewind is None or top.uuid not in state.since_rewind):
        return False
    return not any(
        parents[item] == checkpoint or (parents[item] == last and row.side is not True and not is_trailer(row))
        for item, row in rows.items()
    )
