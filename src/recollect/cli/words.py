"""Numbers, sizes and times in words."""

from __future__ import annotations

from ..format.times import local_minute
from ..library.wording import plural as plural
from ..library.wording import size as size


def number(count: int | float) -> str:
    return f"{count:,}"


def seconds(value: float | None) -> str:
    """``0.4s``, ``12s``, ``3m 05s``, ``2h 10m``"""
    if value is None:
        return ""
    if value < 10:
        return f"{value:.1f}s"
    if value < 60:
        return f"{value:.0f}s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes}m {rest:02d}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02d}m"


def day(moment: float | None) -> str:
    return local_minute(moment)[:10]


def ago(moment: float, now: float) -> str:
    passed = max(now - moment, 0)
    for limit, unit, name in ((3600, 60, "min"), (86400, 3600, "h"), (86400 * 60, 86400, "d")):
        if passed < limit:
            return f"{int(passed // unit)} {name} ago"
    return day(moment)
