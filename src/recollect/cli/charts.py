"""Small drawings in text: bars, a line of blocks, and a year of days."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Final

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_HEIGHTS: Final = "▁▂▃▄▅▆▇█"
_SHADES: Final = "·░▒▓█"
_WEEKDAYS: Final = ("Mon", "", "Wed", "", "Fri", "", "Sun")


def bar(value: float, largest: float, width: int = 20) -> str:
    """A bar as long as the value's share of the largest; at least a sliver for what is not nought."""
    if value <= 0 or largest <= 0:
        return ""
    eighths = max(round(value / largest * width * 8), 1)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def sparkline(values: Sequence[float]) -> str:
    """One block per value, the largest being the highest; a space for nought."""
    largest = max(values, default=0)
    if largest <= 0:
        return ""
    top = len(_HEIGHTS) - 1
    return "".join(_HEIGHTS[min(int(value / largest * top + 0.5), top)] if value > 0 else " " for value in values)


def heat_map(values: Mapping[str, float], last: date | None = None, weeks: int = 52) -> list[str]:
    """Days as shades, a column per week, Monday on top. `values` are by day (``2026-03-02``)."""
    days = [date.fromisoformat(day) for day in values if day[:1].isdigit()]
    if not days:
        return []
    end = last or max(days)
    shown = min(weeks, (end - min(days)).days // 7 + 2)
    monday = end - timedelta(days=end.weekday(), weeks=shown - 1)
    steps = sorted(value for value in values.values() if value > 0)
    lines = [_month_names(monday, shown)]
    for weekday, name in enumerate(_WEEKDAYS):
        shades = ""
        for week in range(shown):
            day = monday + timedelta(weeks=week, days=weekday)
            shades += " " if day > end else _shade(values.get(day.isoformat(), 0), steps)
        lines.append(f"{name:<4}{shades}".rstrip())
    return [line.rstrip() for line in lines]


def _shade(value: float, steps: Sequence[float]) -> str:
    """By rank among the days that have something, so that one dear day does not make all others pale."""
    if value <= 0:
        return _SHADES[0]
    below = sum(1 for step in steps if step < value)
    return _SHADES[min(-(-(below + 1) * 4 // max(len(steps), 1)), 4)]


def _month_names(monday: date, weeks: int) -> str:
    line = [" "] * (weeks + 8)
    month = None
    free = 0
    for week in range(weeks):
        day = monday + timedelta(weeks=week)
        if day.month != month and week >= free:
            line[4 + week : 7 + week] = day.strftime("%b")
            free = week + 4
        month = day.month
    return "".join(line)
