"""Split a conversation into turns, each from a prompt to the end of its answer, with its duration."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from .rows import Row


class Turn(Struct, gc=False):
    prompt: Row | None
    """None in the turn that holds the rows before the first prompt."""
    rows: list[Row]

    @property
    def duration(self) -> float | None:
        """Seconds as Claude Code measured them (`turn_duration`), else by the timestamps; never negative."""
        for row in reversed(self.rows):
            if row.subtype == "turn_duration" and row.duration_ms is not None:
                return max(row.duration_ms / 1000, 0.0)
        times = [row.time for row in self.rows if row.time is not None and row.is_message and row is not self.prompt]
        if self.prompt is None or self.prompt.time is None or not times:
            return None  # no answer, or no timestamps
        return max(max(times) - self.prompt.time, 0.0)

    @property
    def tool_calls(self) -> int:
        return sum(len(row.tool_uses) for row in self.rows)


def split_turns(rows: Iterable[Row]) -> list[Turn]:
    turns: list[Turn] = []
    here: list[Row] | None = None
    for row in rows:
        if row.type == "user" and row.is_prompt:
            here = [row]
            turns.append(Turn(row, here))
        elif here is not None:
            here.append(row)
        else:
            here = [row]
            turns.append(Turn(None, here))
    return turns
