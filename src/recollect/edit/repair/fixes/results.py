"""Give each tool call of the conversation one result and each result a call: else every turn fails at the API.

A call that was never answered gets a result that says so; a result without a call, or a second one, becomes plain words.
A turn that was broken off at its end is left to the client, which makes up the results itself.
"""

from __future__ import annotations

import uuid as uuids
from typing import Any, Final

from ....format.encode import WRITTEN_AS, RowContext, encode_line, row, user_message
from ....format.row_edit import as_words, change_blocks, missing_result, set_members
from ....graph.messages import pair_tools
from ....graph.rows import Row
from ....graph.thread import LIVE
from ..draft import Draft

NAME: Final = "results"
WORDS: Final = "pair tool calls and results"
_NAMESPACE: Final = uuids.UUID("d7d1b3f4-0a4b-5f1d-8d45-0c8f4a5cf5b2")


def fix(draft: Draft) -> int:
    return _lonely_results(draft) + _open_calls(draft)


def _live_rows(draft: Draft) -> list[tuple[Row, int]]:
    placements = draft.thread().placements
    return [(item, place) for item, place in draft.rows() if placements[item.index].status == LIVE]


def _lonely_results(draft: Draft) -> int:
    live = _live_rows(draft)
    places = {item.index: place for item, place in live}
    pairs = pair_tools([item for item, _ in live])
    wrong: dict[int, set[str]] = {}
    for ident, item in pairs.orphan_results:
        wrong.setdefault(item.index, set()).add(ident)
    parents = {item.parent for item, _ in live}
    for call in pairs.calls:
        for item in call.extra_results:
            if item.uuid not in parents:
                continue  # a dead end beside the conversation, which is not sent
            wrong.setdefault(item.index, set()).add(call.id)
    for index, idents in wrong.items():
        place = places[index]

        def plain(block: Any, idents: set[str] = idents) -> list[Any]:
            is_one = isinstance(block, dict) and block.get("type") == "tool_result"
            return as_words(block) if is_one and block.get("tool_use_id") in idents else [block]

        draft.rewrite(place, change_blocks(draft.bytes_of(draft.pieces[place]), plain), keep="original")
    return len(wrong)


def _open_calls(draft: Draft) -> int:
    rows = draft.rows()
    live = {item.index for item, _ in _live_rows(draft)}
    answered = {ident for item, _ in rows for ident in item.tool_results}  # beside the conversation, too
    last = next((item for item, _ in reversed(rows) if item.is_message and item.index in live), None)
    below: dict[str, list[tuple[Row, int]]] = {}
    for item, place in rows:
        if item.parent is not None and item.parent != item.uuid:
            below.setdefault(item.parent, []).append((item, place))
    added: list[tuple[int, bytes]] = []
    for item, place in rows:
        missing = [ident for ident, _ in item.tool_uses if ident not in answered]
        if not missing or not item.uuid or item.index not in live or item is last:
            continue
        if last is not None and item.message_id and item.message_id == last.message_id:
            continue
        answered.update(missing)
        answer = _answer(draft, item, place, missing)
        added.append((place + 1, encode_line(answer).rstrip(b"\n")))
        for child, at in below.get(item.uuid, ()):
            # What followed the call follows its result now; other lines of the same response stay where they are.
            same = child.type == "assistant" and bool(item.message_id) and child.message_id == item.message_id
            if not same and not child.tool_results and not child.sidechain:
                data = draft.bytes_of(draft.pieces[at])
                draft.rewrite(at, set_members(data, {"parentUuid": answer["uuid"]}))
    for place, data in reversed(added):
        draft.insert(place, data)
    return len(added)


def _answer(draft: Draft, call: Row, place: int, missing: list[str]) -> dict[str, Any]:
    entry = draft.pieces[place].entry
    session_id = (entry.sessionId if entry is not None else None) or draft.path.stem
    context = RowContext(session_id, "/")
    if entry is not None:
        context = RowContext(session_id, entry.cwd or "/", entry.version or WRITTEN_AS, entry.gitBranch)
    uuid = str(uuids.uuid5(_NAMESPACE, f"{call.uuid}/{'/'.join(missing)}"))
    message = user_message([missing_result(ident) for ident in missing])
    return row(context, "user", uuid, call.uuid, call.time or 0.0, message, sourceToolAssistantUUID=call.uuid)
