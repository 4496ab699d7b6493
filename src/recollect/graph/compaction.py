"""Compactions: where the client replaced the talk so far by a summary, and what was before."""

from __future__ import annotations

from msgspec import Struct

from .rows import Row


class Compaction(Struct):
    boundary: Row
    summary: Row | None
    trigger: str | None
    pre_tokens: int | None
    post_tokens: int | None
    preserved: list[str]
    """Uuids of the messages that were carried over as they were."""
    rows_before: int
    """User and assistant rows of the main conversation between the compaction before (or the start) and this one."""


def find_compactions(rows: list[Row]) -> list[Compaction]:
    """All compactions of the main conversation, in file order."""
    if not any(row.compact is not None or row.is_boundary for row in rows if row.type == "system"):
        return []
    found: list[Compaction] = []
    before = 0
    waiting: Compaction | None = None
    for row in rows:
        if row.is_boundary and not row.sidechain:
            data = row.compact if isinstance(row.compact, dict) else {}
            kept = data.get("preservedMessages")
            uuids = kept.get("uuids") if isinstance(kept, dict) else None
            waiting = Compaction(
                row, None, _text(data.get("trigger")), _number(data.get("preTokens")), _number(data.get("postTokens")),
                [item for item in uuids if isinstance(item, str)] if isinstance(uuids, list) else [], before,
            )  # fmt: skip
            found.append(waiting)
            before = 0
        elif row.is_message and not row.sidechain:
            if waiting is not None and waiting.summary is None and row.is_compact_summary:
                waiting.summary = row
            else:
                before += 1
    return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
