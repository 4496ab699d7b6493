"""Parse budgets, and compute how much of each is used and will be used."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

from ..errors import QueryError
from .zones import Zone

WARN_PERCENT: Final = 80
PERIODS: Final = ("day", "week", "month", "year")
_TEXT: Final = re.compile(
    r"\$?(?P<whole>[0-9]{1,9}|[0-9]{1,3}(?:,[0-9]{3}){1,2})(?:\.(?P<rest>[0-9]{1,6})|(?<!,...),(?P<cents>[0-9]{1,2}))?"
    r"\s*/\s*(?P<period>day|week|month|year)"
)


@dataclass(frozen=True, slots=True)
class Budget:
    """An amount of micro-dollars per period, for everything or for one project."""

    amount: int
    period: str
    project: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.period, self.project or ""


@dataclass(frozen=True, slots=True)
class BudgetState:
    budget: Budget
    used: int
    first_day: date
    last_day: date
    projected: int
    """The expected use at the end of the period, at the current rate."""
    unpriced: int = 0
    lower_bounds: int = 0

    @property
    def percent(self) -> float:
        return self.used * 100 / self.budget.amount if self.budget.amount else float("inf") if self.used else 0.0

    @property
    def state(self) -> str:
        """exceeded, warning (from 80 % on), or ok."""
        if self.used > self.budget.amount:
            return "exceeded"
        return "warning" if self.used and self.used * 100 >= self.budget.amount * WARN_PERCENT else "ok"

    def data(self) -> dict[str, Any]:
        percent = self.percent
        return {
            "period": self.budget.period, "project": self.budget.project, "amount_micro_usd": self.budget.amount,
            "used_micro_usd": self.used, "percent": None if percent == float("inf") else round(percent, 1),
            "state": self.state, "projected_micro_usd": self.projected, "first_day": self.first_day.isoformat(),
            "last_day": self.last_day.isoformat(), "unpriced_calls": self.unpriced,
            "lower_bound_calls": self.lower_bounds,
        }  # fmt: skip


def parse_budget(text: str, project: str | None = None) -> Budget:
    """Parse a budget such as ``50/month``, ``$7.50/day`` or ``1,000/month``.

    A comma before three digits separates thousands; before one or two digits it is a decimal point.
    """
    found = _TEXT.fullmatch(text.strip())
    if found is None:
        raise QueryError(
            f"{text!r} is not a budget", hint="write it as 50/month, 7.50/day, 20/week or 500/year", slug="bad-budget"
        )
    micro = int(found["whole"].replace(",", "")) * 1_000_000
    micro += int((found["rest"] or found["cents"] or "").ljust(6, "0"))
    return Budget(micro, found["period"], project)


def span(period: str, today: date) -> tuple[date, date]:
    """Return the first and last day of the period that contains a day."""
    if period == "day":
        return today, today
    if period == "week":
        monday = today - timedelta(days=today.weekday())
        return monday, monday + timedelta(days=6)
    if period == "month":
        return today.replace(day=1), today.replace(day=calendar.monthrange(today.year, today.month)[1])
    return date(today.year, 1, 1), date(today.year, 12, 31)


def projection(used: int, first: date, last: date, now: int, zone: Zone) -> int:
    """Extrapolate the use in proportion to the time that has passed; at least what is used already."""
    begin, end = zone.start_of(first), zone.start_of(last + timedelta(days=1))
    passed = min(max(now - begin, 1), end - begin)
    return max(used, used * (end - begin) // passed)
