"""An answer of several blocks as several lines, as clients since 1.0.30 write it."""

from __future__ import annotations

import uuid as uuids
from typing import Any, Final

from .entries import decode_exactly
from .row_edit import encode_value, set_in_message, set_members

_NAMESPACE: Final = uuids.UUID("0c2a1a39-6f0e-5d35-9a2b-5a4d7c1fd0a7")
#: What a row says of the whole answer: on one of its lines only, or sums over lines would be too high.
_ONCE: Final = ("costUSD", "durationMs")


def split_blocks(data: bytes) -> list[bytes]:
    """A line for each block of an answer's line; the line itself where it has one block, no uuid, or cannot be read."""
    value = decode_exactly(data)
    message = value.get("message") if isinstance(value, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(value, dict) or not isinstance(content, list) or len(content) < 2:
        return [data]
    own = value.get("uuid")
    if not isinstance(own, str):
        return [data]
    lines: list[bytes] = []
    parent: Any = value.get("parentUuid")
    for number, block in enumerate(content):
        is_last = number == len(content) - 1
        uuid = own if is_last else str(uuids.uuid5(_NAMESPACE, f"{own}/{number}"))
        if is_last:
            line = set_members(set_in_message(data, {"content": [block]}), {"parentUuid": parent})
        else:
            said = {name: item for name, item in value.items() if name not in _ONCE}
            said |= {"parentUuid": parent, "uuid": uuid, "message": {**(message or {}), "content": [block]}}
            line = encode_value(said)
        lines.append(line)
        parent = uuid
    return lines
