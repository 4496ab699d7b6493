"""Budgets: how much may be spent in a day, week, month or year, kept in ``budgets.json`` of the config folder.

library.budgets.set("50/month")
for state in library.budgets.states():
    print(state.budget.period, state.used, state.state)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from ..analysis.budgets import PERIODS, Budget, BudgetState, parse_budget, projection, span
from ..errors import DamagedData, Unavailable
from .own_list import OwnList
from .project_paths import paths_named
from .usage import Ledger, Selection

if TYPE_CHECKING:
    from .library import Library

__all__ = ["PERIODS", "Budget", "BudgetState", "Budgets"]

FILE: Final = "budgets.json"


class Budgets:
    """Sets and removes budgets, and reports how much of each is used."""

    def __init__(self, folder: Path, library: Library | None = None) -> None:
        self._library = library
        """Counts what is used; without a library, `states` needs a ledger."""
        self._list = OwnList(folder / FILE, Budget, _damaged, check=_wrong)

    def all(self, project: str | None = None) -> list[Budget]:
        """Return the budgets that are set, or those of one project. Raises DamagedData if the file cannot be read."""
        wanted = _as_kept(project)
        return [item for item in self._list.read() if wanted in (None, item.project)]

    def set(self, amount: str, project: str | None = None) -> Budget:
        """Set a budget such as ``50/month``, replacing one of the same period and project."""
        made = parse_budget(amount, _as_kept(project))
        self._list.change(lambda found: [item for item in found if item.key != made.key] + [made])
        return made

    def remove(self, period: str | None = None, project: str | None = None) -> list[Budget]:
        """Remove the budget of a period (without `project`, the one for everything) and return what was removed.

        Without a period, all budgets are removed, or all of the project.
        """
        wanted = _as_kept(project)

        def goes(item: Budget) -> bool:
            if period is None:
                return wanted is None or item.project == wanted
            return (item.period, item.project) == (period, wanted)

        before, _ = self._list.change(lambda found: [item for item in found if not goes(item)])
        return [item for item in before if goes(item)]

    def states(
        self, budgets: Sequence[Budget] | None = None, *, ledger: Ledger | None = None, now: int | None = None
    ) -> list[BudgetState]:
        """Return how much of each budget is used at `now` (in microseconds), by the ledger's time zone."""
        if ledger is None:
            if self._library is None:
                raise Unavailable("these budgets were opened without a library", slug="no-library")
            ledger = self._library.ledger()
        zone = ledger.zone
        now = time.time_ns() // 1000 if now is None else now
        today = zone.local(now).date()
        found = []
        for budget in self.all() if budgets is None else budgets:
            first, last = span(budget.period, today)
            chosen = Selection(zone.start_of(first), zone.start_of(last + timedelta(days=1)))
            if budget.project is not None:
                chosen = replace(chosen, project=budget.project)
            totals = ledger.usage("day", chosen).totals
            ahead = projection(totals.cost, first, last, now, zone)
            found.append(BudgetState(budget, totals.cost, first, last, ahead, totals.unpriced, totals.lower_bounds))
        return found


def _as_kept(project: str | None) -> str | None:
    """Return a project as a budget names it. A relative path becomes absolute: later callers may be in another folder."""
    paths = [] if project is None else paths_named(project)
    return paths[-1] if paths and project not in paths else project


def _damaged(path: Path, why: str) -> DamagedData:
    hint = "repair it, or delete it and set budgets again"
    return DamagedData(f"{path} cannot be read: {why}", hint=hint, slug="bad-budgets")


def _wrong(found: list[Budget]) -> str | None:
    """Return why a list of budgets is invalid; None if it is valid."""
    for budget in found:
        if budget.period not in PERIODS or budget.amount < 0 or budget.project == "":
            return f"no budget: {msgspec.json.encode(budget).decode()}"
    if len({budget.key for budget in found}) < len(found):
        return "two budgets of one period and project"
    return None
