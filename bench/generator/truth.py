"""The oracle: what a right reader must find in the generated store."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Final

# name, weight
MODELS: Final = (
    ("claude-opus-4-5-20251101", 40),
    ("claude-sonnet-4-5-20250929", 35),
    ("claude-haiku-4-5-20251001", 15),
    ("claude-opus-4-1-20250805", 5),
    ("claude-sonnet-4-20250514", 5),
)
SUBAGENT_MODEL: Final = "claude-haiku-4-5-20251001"
ADVISOR_MODEL: Final = "claude-opus-4-1-20250805"

# Dollars per million tokens: input, output, five-minute and one-hour cache write, cache read.
# Only an oracle for arithmetic, no claim about any day's prices.
PRICES: Final = {
    "claude-opus-4-5-20251101": (5.0, 25.0, 6.25, 10.0, 0.5),
    "claude-sonnet-4-5-20250929": (3.0, 15.0, 3.75, 6.0, 0.3),
    "claude-haiku-4-5-20251001": (1.0, 5.0, 1.25, 2.0, 0.1),
    "claude-opus-4-1-20250805": (15.0, 75.0, 18.75, 30.0, 1.5),
    "claude-sonnet-4-20250514": (3.0, 15.0, 3.75, 6.0, 0.3),
}
BOOKED: Final = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read", "messages")


@dataclass
class Truth:
    """Counts of one session, or of the whole store after `add`. The field order is that of truth.json."""

    text_lines: int = 0
    assistant_lines: int = 0
    messages: int = 0
    tool_results: int = 0
    branches: int = 0
    compactions: int = 0
    lone_surrogates: int = 0
    needles: int = 0
    corrupt_lines: int = 0
    lines: int = 0
    bytes: int = 0
    files: int = 0
    sessions: int = 0
    subagents: int = 0
    forked_lines: int = 0
    advisor_calls: int = 0
    progress_lines: int = 0
    subagents_without_file: int = 0
    daily: dict[str, list[int]] = field(default_factory=dict)
    naive_lines: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    history: list[tuple[int, str, str, str]] = field(default_factory=list)
    needle_p: float = 0.0

    def book(self, day: str, model: str, amounts: tuple[int, ...]) -> None:
        """Add token counts to a day and model, in the order of BOOKED."""
        key = f"{day}|{model}"
        booked = self.daily.setdefault(key, [0] * len(BOOKED))
        for position, amount in enumerate(amounts):
            booked[position] += amount

    def add(self, other: Truth) -> None:
        for each in fields(self):
            mine = getattr(self, each.name)
            if isinstance(mine, int):
                setattr(self, each.name, mine + getattr(other, each.name))
        for key, amounts in other.daily.items():
            day, model = key.split("|")
            self.book(day, model, tuple(amounts))
        self.naive_lines = [mine + theirs for mine, theirs in zip(self.naive_lines, other.naive_lines, strict=True)]
        self.history += other.history

    def brief(self) -> dict[str, object]:
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("daily", "history")}

    def write(self, path: Path, seed: int) -> None:
        cost = 0.0
        daily: dict[str, dict[str, float]] = {}
        for key in sorted(self.daily):
            amounts = self.daily[key]
            price = PRICES[key.split("|")[1]]
            day_cost = sum(amount * per_million for amount, per_million in zip(amounts[:5], price, strict=True)) / 1e6
            cost += day_cost
            daily[key] = {**dict(zip(BOOKED, amounts, strict=True)), "cost": round(day_cost, 6)}
        document: dict[str, object] = {}
        for each in fields(self):
            if each.name == "daily":
                document["daily"] = daily
            elif each.name != "history":
                document[each.name] = getattr(self, each.name)
        document |= {"cost_usd": round(cost, 4), "seed": seed}
        path.write_text(json.dumps(document, indent=1))
