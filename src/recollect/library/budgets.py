"""Where budgets are kept (``budgets.json`` in the config folder), and how they stand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import msgspec

from ..analysis.budgets import PERIODS, Budget, BudgetState, projection, span
from ..errors import DamagedData
from ..store import disk
from .accounting import Accounting, Selection

FILE: Final = "budgets.json"


def read_budgets(folder: Path) -> list[Budget]:
    """The budgets that are set; none where the file is not there."""
    try:
        data = (folder / FILE).read_bytes()
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise DamagedData(f"cannot read {folder / FILE}: {problem.strerror}", slug="bad-budgets") from problem
    try:
        found = msgspec.json.decode(data, type=list[Budget])
    except msgspec.MsgspecError as problem:
        raise _damaged(folder, str(problem)) from problem
    for budget in found:
        if budget.period not in PERIODS or budget.amount < 0 or budget.project == "":
            raise _damaged(folder, f"no budget: {msgspec.json.encode(budget).decode()}")
    if len({budget.key for budget in found}) < len(found):
        raise _damaged(folder, "two budgets of one period and project")
    return found


def _damaged(folder: Path, why: str) -> DamagedData:
    hint = "mend it, or delete it and set budgets again"
    return DamagedData(f"{folder / FILE} cannot be read: {why}", hint=hint, slug="bad-budgets")


def write_budgets(folder: Path, budgets: Sequence[Budget]) -> None:
    if not os.path.isdir(folder):
        disk.make_folders(folder)
    staged = folder / f"{FILE}.{os.getpid()}"
    disk.remove_if_there(staged)
    disk.write_new(staged, (msgspec.json.format(msgspec.json.encode(budgets), indent=1), b"\n"))
    disk.replace(staged, folder / FILE)


def set_budget(folder: Path, budget: Budget) -> None:
    """One budget for each period and project."""
    write_budgets(folder, [item for item in read_budgets(folder) if item.key != budget.key] + [budget])


def remove_budgets(folder: Path, period: str | None, project: str | None) -> list[Budget]:
    """Take away the budget of a period, for everything or for one project; without a period all of them, or all of the project.

    Returns what was removed.
    """
    budgets = read_budgets(folder)
    if period is None:
        gone = [item for item in budgets if project is None or item.project == project]
    else:
        gone = [item for item in budgets if (item.period, item.project) == (period, project)]
    if gone:
        write_budgets(folder, [item for item in budgets if item not in gone])
    return gone


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
