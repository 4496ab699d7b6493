"""Draw charts in text: bars, a line of blocks, and a year of days."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_HEIGHTS: Final = "▁▂▃▄▅▆▇█"
_SHADES: Final = "·░▒▓█"
_MOST_PERIODS: Final = 400
_WEEKDAYS: Final = ("Mon", "", "Wed", "", "Fri", "", "Sun")


def bar(value: float, largest: float, width: int = 20) -> str:
    """Draw a bar as long as the value's share of the largest; any value above 0 gets at least a sliver."""
    if value <= 0 or largest <= 0:
        return ""
    eighths = max(round(value / largest * width * 8), 1)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def sparkline(values: Sequence[float]) -> str:
    """Draw one block per value, the largest being the highest; a space for 0."""
    largest = max(values, default=0)
    if largest <= 0:
        return ""
    top = len(_HEIGHTS) - 1
    return "".join(_HEIGHTS[min(int(value / largest * top + 0.5), top)] if value > 0 else " " for value in values)


def not_in_future(values: dict[str, int]) -> tuple[dict[str, int], str]:
    """Return the periods that have begun, and a remark on the others, which a wrong clock made: they would hide the rest."""
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()  # it is tomorrow somewhere already
    begun = {key: amount for key, amount in values.items() if key <= tomorrow or not key[:1].isdigit()}
    if not begun or len(begun) == len(values):
        return values, ""
    return begun, f"not drawn, since they are in the future: {', '.join(sorted(values.keys() - begun.keys())[:3])}"


def over_time(values: Mapping[str, float], period: str) -> list[tuple[str, float]]:
    """Return days, weeks, months or years in order, with 0 for those in between. At most the last few hundred."""
    if not values:
        return []
    found: list[tuple[str, float]] = []
    key, first = max(values), min(values)
    while key >= first and len(found) < _MOST_PERIODS:
        found.append((key, values.get(key, 0)))
        try:
            key = _before(key, period)
        except (OverflowError, ValueError):  # there is no date before the year 1
            break
    return found[::-1]


def _before(key: str, period: str) -> str:
    if period == "year":
        return f"{int(key) - 1:04d}"
    if period == "month":
        return (date.fromisoformat(f"{key}-01") - timedelta(days=1)).isoformat()[:7]
    return (date.fromisoformat(key) - timedelta(days=7 if period == "week" else 1)).isoformat()


def heat_map(values: Mapping[str, float], last: date | None = None, weeks: int = 52) -> list[str]:
    """Draw days as shades, a column per week, Monday on top. `values` are by day (``2026-03-02``)."""
    days = _days(values)
    if not days:
        return []
    end = last or max(days)
    shown = _weeks_shown(days, end, weeks)
    monday = _first_monday(end, shown)
    steps = sorted(value for value in values.values() if value > 0)
    lines = [_month_names(monday, shown)]
    for weekday, name in enumerate(_WEEKDAYS):
        shades = ""
        for week in range(shown):
            day = monday + 7 * week + weekday
            if not 0 < day <= end.toordinal():
                shades += " "
            else:
                shades += _shade(values.get(date.fromordinal(day).isoformat(), 0), steps)
        lines.append(f"{name:<4}{shades}".rstrip())
    return [line.rstrip() for line in lines]


def days_before_the_map(values: Mapping[str, float], weeks: int = 52) -> list[str]:
    """Return the days that such a map has no room for, in order."""
    days = _days(values)
    begin = _first_monday(max(days), _weeks_shown(days, max(days), weeks)) if days else 0
    return [day.isoformat() for day in sorted(days) if day.toordinal() < begin]


def _days(values: Mapping[str, float]) -> list[date]:
    return [date.fromisoformat(day) for day in values if day[:1].isdigit()]


def _weeks_shown(days: Sequence[date], end: date, weeks: int) -> int:
    return min(weeks, (end - min(days)).days // 7 + 2)


def _first_monday(end: date, shown: int) -> int:
    """Return the Monday of the first week as a day number, since the map may reach beyond the calendar."""
    return end.toordinal() - end.weekday() - 7 * (shown - 1)


def _shade(value: float, steps: Sequence[float]) -> str:
    """Choose a shade by rank among the days with use, so that one expensive day does not make all others pale."""
    if value <= 0:
        return _SHADES[0]
    below = sum(1 for step in steps if step < value)
    return _SHADES[min(-(-(below + 1) * 4 // max(len(steps), 1)), 4)]


def _month_names(monday: int, weeks: int) -> str:
    """Write each month's name above its first week, or after the previous name if that is in the way."""
    line = [" "] * (weeks + 12)
    named = None
    free = 0
    for week in range(weeks + 4):  # the last month's name may be wider than its weeks
        day = date.fromordinal(max(monday + 7 * min(week, weeks - 1), 1))
        if (day.year, day.month) != named and week >= free:
            line[4 + week : 7 + week] = day.strftime("%b")
            named, free = (day.year, day.month), week + 4
    return "".join(line)
