"""Where budgets are kept (``budgets.json`` in the config folder), and how they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import msgspec

from ..analysis.budgets import PERIODS, Budget, BudgetState, projection, span
from ..errors import DamagedData
from .accounting import Accounting, Selection
from .own_list import OwnList

FILE: Final = "budgets.json"


def _budgets(folder: Path) -> OwnList[Budget]:
    return OwnList(folder / FILE, Budget, _damaged, check=_wrong)


def _damaged(path: Path, why: str) -> DamagedData:
    hint = "repair it, or delete it and set budgets again"
    return DamagedData(f"{path} cannot be read: {why}", hint=hint, slug="bad-budgets")


def _wrong(found: list[Budget]) -> str | None:
    for budget in found:
        if budget.period not in PERIODS or budget.amount < 0 or budget.project == "":
            return f"no budget: {msgspec.json.encode(budget).decode()}"
    if len({budget.key for budget in found}) < len(found):
        return "two budgets of one period and project"
    return None


def read_budgets(folder: Path) -> list[Budget]:
    """The budgets that are set; none where the file is not there."""
    return _budgets(folder).read()


def set_budget(folder: Path, budget: Budget) -> None:
    """Set the one budget of its period and project."""
    _budgets(folder).change(lambda found: [item for item in found if item.key != budget.key] + [budget])


def remove_budgets(folder: Path, period: str | None, project: str | None) -> list[Budget]:
    """Take away the budget of a period, for everything or for one project; without a period all of them, or all of the project.

    Returns what was removed.
    """

    def goes(item: Budget) -> bool:
        if period is None:
            return project is None or item.project == project
        return (item.period, item.project) == (period, project)

    before, _ = _budgets(folder).change(lambda found: [item for item in found if not goes(item)])
    return [item for item in before if goes(item)]


def budget_states(accounting: Accounting, budgets: Sequence[Budget], now: int) -> list[BudgetState]:
    """How each budget stands at a moment (microseconds)."""
    zone = accounting.zone
    today = zone.local(now).date()
    found = []
    for budget in budgets:
        first, last = span(budget.period, today)
        chosen = Selection(zone.start_of(first), zone.start_of(last + timedelta(days=1)))
        if budget.project is not None:
            chosen = replace(chosen, project=budget.project)
        totals = accounting.usage("day", chosen).totals
        ahead = projection(totals.cost, first, last, now, zone)
        found.append(BudgetState(budget, totals.cost, first, last, ahead, totals.unpriced, totals.lower_bounds))
    return found
