"""Of an entry's JSON only what may hold words: structured copies of results, snapshots and the like are passed over."""

from __future__ import annotations

from typing import Any, TypedDict

import msgspec


class _Said(TypedDict, total=False):
    type: Any
    message: Any
    content: Any
    attachment: Any
    isMeta: Any
    isCompactSummary: Any
    customTitle: Any
    aiTitle: Any
    summary: Any
    tag: Any
    agentName: Any


decode_said = msgspec.json.Decoder(_Said).decode
"""Bytes of an entry to plain data with these fields alone. Raises ValueError for what is no JSON object."""
