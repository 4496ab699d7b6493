"""Fix what messages hold: their shape, calls and results, thinking, pictures, unknown blocks, long outputs."""

from __future__ import annotations

import json
import uuid as uuids
from pathlib import Path
from typing import Any, Final

from ....format.blocks import KNOWN_BLOCKS
from ....format.encode import DEFAULT_MODEL, WRITTEN_AS, RowContext, encode_line, user_message
from ....format.encode import row as encode_row
from ....format.entries import decode_exactly
from ....format.row_edit import (
    as_words,
    change_blocks,
    content_blocks,
    is_unsigned_thought,
    missing_result,
    persisted_preview,
    refused_image,
    refused_images,
    set_in_message,
    set_members,
    text_block,
    unsigned_thoughts,
)
from ....graph.messages import pair_tools
from ....graph.rows import Row
from ....graph.thread import LIVE
from ....store.layout import tool_results_folder
from ..draft import Draft


def fix_shape(draft: Draft) -> int:
    """Bring messages into the shape that all versions know: with role and model, an answer as a list of blocks."""
    fixed = 0
    model: str | None = None
    for place, piece in enumerate(draft.pieces):
        entry = piece.entry
        if entry is None or entry.type not in ("user", "assistant") or entry.message is None:
            continue
        head = entry.message
        if entry.type == "assistant" and head.model:
            model = head.model
        values: dict[str, Any] = {}
        if entry.type == "assistant":
            if not head.model:
                values["model"] = model or DEFAULT_MODEL
            if isinstance(head.content, str) and head.content.strip():
                values["content"] = [text_block(head.content)]
        data = draft.bytes_of(piece)
        if f'"role":"{entry.type}"'.encode() not in data:
            whole = decode_exactly(data)
            message = whole.get("message") if isinstance(whole, dict) else None
            if isinstance(message, dict) and message.get("role") != entry.type:
                values["role"] = entry.type
        keep = None
        if isinstance(head.content, list) and any(block.type is None for block in head.content):
            plain = _only_objects(data)
            if plain is not None:
                values["content"], keep = plain, "original"
        if values:
            draft.rewrite(place, set_in_message(data, values), keep=keep)
            fixed += 1
    return fixed


def _only_objects(data: bytes) -> list[Any] | None:
    """Return the blocks of a message that are objects; None if all are. 2.0.77 crashes on any other."""
    value = decode_exactly(data)
    blocks = content_blocks(value) if isinstance(value, dict) else []
    kept = [block for block in blocks if isinstance(block, dict)]
    if len(kept) == len(blocks):
        return None
    return kept or [text_block("(no content)")]


_NAMESPACE: Final = uuids.UUID("d7d1b3f4-0a4b-5f1d-8d45-0c8f4a5cf5b2")


def fix_results(draft: Draft) -> int:
    """Give each tool call of the conversation one result and each result a call: else every turn fails at the API.

    A call that was never answered gets a result that says so; a result without a call, or a second one, becomes plain words.
    A turn that was broken off at its end is left to Claude Code, which makes up the results itself.
    """
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
    return encode_row(context, "user", uuid, call.uuid, call.time or 0.0, message, sourceToolAssistantUUID=call.uuid)


#: What Claude Code itself says where nothing is left of a message.
NOTHING: Final = "(no content)"


def fix_thinking(draft: Draft) -> int:
    """Remove thoughts without a signature: the API refuses them, on this turn and on every later one."""
    placements = draft.thread().placements
    fixed = 0
    for row, place in draft.rows():
        if "thinking" not in row.block_types or placements[row.index].status != LIVE:
            continue
        data = draft.bytes_of(draft.pieces[place])
        value = decode_exactly(data)
        if not isinstance(value, dict) or not unsigned_thoughts(value):
            continue
        left = len(row.block_types) - len(unsigned_thoughts(value))

        def without(block: Any, left: int = left) -> list[Any]:
            if not is_unsigned_thought(block):
                return [block]
            return [] if left else [text_block(NOTHING)]

        draft.rewrite(place, change_blocks(data, without), keep="original")
        fixed += 1
    return fixed


_MARK: Final = b'"image/'


def fix_images(draft: Draft) -> int:
    """Replace each picture that the API refuses by a line of text."""
    fixed = 0
    for row, place in draft.rows():
        if not row.is_message or row.length < 1000:
            continue
        data = draft.bytes_of(draft.pieces[place])
        if _MARK not in data:
            continue
        value = decode_exactly(data)
        if isinstance(value, dict) and refused_images(value):
            draft.rewrite(place, change_blocks(data, _picture_in_words), keep="original")
            fixed += 1
    return fixed


def _picture_in_words(block: Any) -> list[Any]:
    if not isinstance(block, dict):
        return [block]
    words = refused_image(block)
    if words is not None:
        return [text_block(f"[Picture taken out, too large to be sent: {words}]")]
    inner = block.get("content") if block.get("type") == "tool_result" else None
    if isinstance(inner, list):
        return [block | {"content": [new for item in inner for new in _picture_in_words(item)]}]
    return [block]


def fix_blocks(draft: Draft) -> int:
    """Turn blocks of unknown types into plain text. Only on request: a newer version may know them."""
    fixed = 0
    for row, place in draft.rows():
        if any(kind is not None and kind not in KNOWN_BLOCKS for kind in row.block_types):
            data = draft.bytes_of(draft.pieces[place])
            draft.rewrite(place, change_blocks(data, _block_in_words), keep="original")
            fixed += 1
    return fixed


def _block_in_words(block: Any) -> list[Any]:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or kind in KNOWN_BLOCKS:
        return [block]
    return [text_block(f"[Block of type {kind}] {json.dumps(block, ensure_ascii=True)}")]


LONG_LINE: Final = 8 << 20
LONG_RESULT: Final = 30_000


def fix_outputs(draft: Draft) -> int:
    """Move very long results into files of their own, as versions since 2.1.9 write them; the line keeps a preview.

    Only on request: the result is whole again in the file, but the model gets the preview.
    """
    fixed = 0
    folder = tool_results_folder(draft.path)
    for row, place in draft.rows():
        if row.length <= LONG_LINE or not row.tool_results:
            continue
        data = draft.bytes_of(draft.pieces[place])
        moved: dict[Path, list[bytes]] = {}

        def with_preview(block: Any, moved: dict[Path, list[bytes]] = moved) -> list[Any]:
            content = block.get("content") if isinstance(block, dict) and block.get("type") == "tool_result" else None
            ident = str(block.get("tool_use_id")) if isinstance(block, dict) else ""
            if not isinstance(content, str) or len(content) <= LONG_RESULT or not ident.replace("_", "").isalnum():
                return [block]
            path = folder / f"{ident}.txt"
            moved[path] = [content.encode("utf-8", "replace")]
            return [block | {"content": persisted_preview(content, str(path))}]

        new = change_blocks(data, with_preview)
        if not moved:
            continue
        entry = decode_exactly(data)
        if isinstance(entry, dict) and "toolUseResult" in entry:
            path = next(iter(moved))
            new = set_members(new, {"toolUseResult": {"persistedOutputPath": str(path)}})
        draft.beside |= moved
        draft.rewrite(place, new)
        fixed += 1
    return fixed
