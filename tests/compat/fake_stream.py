"""The events of a streamed answer, as the Messages API sends them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]


def pieces(text: str, count: int = 4) -> list[str]:
    size = max(1, -(-len(text) // count))
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]


def block_start(block: Json) -> tuple[Json, list[Json]]:
    """How a block begins, and the deltas that fill it."""
    kind = block["type"]
    if kind == "text":
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in pieces(block["text"])]
    if kind == "thinking":
        signature = {"type": "signature_delta", "signature": block.get("signature", "ZmFrZS1zaWduYXR1cmU=")}
        thoughts: list[Json] = [{"type": "thinking_delta", "thinking": part} for part in pieces(block["thinking"])]
        return {"type": "thinking", "thinking": "", "signature": ""}, [*thoughts, signature]
    if kind in ("tool_use", "server_tool_use"):
        parts = pieces(json.dumps(block["input"]))
        first = {"type": kind, "id": block["id"], "name": block["name"], "input": {}}
        return first, [{"type": "input_json_delta", "partial_json": part} for part in parts]
    return block, []  # redacted_thinking, web_search_tool_result, ...: sent whole


def stream_events(message: Json, blocks: list[Json], usage: Json, stop_reason: str) -> Iterator[tuple[str, Json]]:
    begun = {**usage, "output_tokens": 1}
    if "output_tokens_details" in usage:
        begun["output_tokens_details"] = {"thinking_tokens": 0}
    opening: Json = {"content": [], "stop_reason": None, "stop_sequence": None, "usage": begun}
    yield "message_start", {"type": "message_start", "message": {**message, **opening}}
    for index, block in enumerate(blocks):
        first, deltas = block_start(block)
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": first}
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    end = {"stop_reason": stop_reason, "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": end, "usage": usage}
    yield "message_stop", {"type": "message_stop"}
