"""Compute what each prompt cost: everything from it up to the next one, including the subagents it started."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ..format.blocks import text_of
from ..format.entries import decode_loosely
from ..format.times import to_iso
from .api_calls import ApiCall
from .cost import Totals
from .prices.book import PriceBook

if TYPE_CHECKING:
    from ..index.catalogue.catalogue import Catalogue
    from ..index.catalogue.reading_back import EntryReader

BEFORE: Final = "(before the first prompt)"


@dataclass(slots=True)
class PromptCost:
    session_id: str
    file_id: int
    line: int
    offset: int
    length: int
    time: int | None
    totals: Totals = field(default_factory=Totals)
    models: set[str] = field(default_factory=set)
    project: str | None = None

    def text(self, reader: EntryReader) -> str:
        if not self.length:
            return BEFORE
        value = decode_loosely(reader.bytes_at(self.file_id, self.offset, self.length))
        message = value.get("message") if isinstance(value, dict) else None
        return text_of(message.get("content")) if isinstance(message, dict) else ""

    def data(self, text: str) -> dict[str, Any]:
        """Return the prompt and its sums as a row of JSON."""
        return {
            "session_id": self.session_id, "line": self.line, "time": to_iso(None if self.time is None else self.time / 1e6),
            "project": self.project, "prompt": text, "models": sorted(self.models), **self.totals.data(),
        }  # fmt: skip


def prompt_costs(catalogue: Catalogue, found: Iterable[ApiCall], book: PriceBook, prompt_flag: int) -> list[PromptCost]:
    """Return all prompts that led to calls, the most expensive first."""
    rows = catalogue.connection.execute(
        "SELECT h.path, f.session_id, e.file_id, e.line, e.offset, e.length, e.time FROM entries e "
        "JOIN files f ON f.id = e.file_id JOIN homes h ON h.id = f.home_id "
        "WHERE f.kind = 'session' AND e.flags & ? AND e.subagent_id IS NULL ORDER BY e.file_id, e.line",
        (prompt_flag,),
    )
    # By home, too: the catalogue holds homes that were not asked for, and a copy of a session may have continued there.
    sessions: dict[tuple[str, str], list[PromptCost]] = {}
    for home, *row in rows:
        sessions.setdefault((home, row[0]), []).append(PromptCost(*row))
    first: dict[tuple[str, str], PromptCost] = {}
    for item in found:
        session = (item.home, item.session_id or "")
        prompts = sessions.get(session, [])
        owner = _owner(item, prompts)
        if owner is None:
            owner = first.setdefault(session, PromptCost(session[1], item.file_id, item.line, 0, 0, item.time))
        cost = item.cost(book)
        owner.totals.add(item.counts, cost, *item.marks)
        owner.models.add(item.model)
        owner.project = owner.project or item.cwd
    used = [prompt for prompts in sessions.values() for prompt in prompts if prompt.totals.calls] + list(first.values())
    return sorted(
        used, key=lambda prompt: (-prompt.totals.cost, -prompt.totals.counts.tokens, prompt.session_id, prompt.line)
    )


def _owner(item: ApiCall, prompts: list[PromptCost]) -> PromptCost | None:
    """Return the last prompt before a call: by line in its own file, by time for a subagent's file."""
    if not prompts:
        return None
    if item.file_id == prompts[0].file_id:
        place = bisect_right([prompt.line for prompt in prompts], item.line)
    else:
        place = 0
        for number, prompt in enumerate(prompts, 1):
            if prompt.time is not None and item.time is not None and prompt.time <= item.time:
                place = number
    return prompts[place - 1] if place else None
