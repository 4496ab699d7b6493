"""Numbers, sizes and times in words."""

from __future__ import annotations

from ..format.times import local_minute


def size(count: int) -> str:
    """``1.2 MB``"""
    value = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


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


def plural(count: int, word: str, words: str | None = None) -> str:
    return f"{count:,} {word if count == 1 else (words or word + 's')}"


def day(moment: float | None) -> str:
    return local_minute(moment)[:10]


def ago(moment: float, now: float) -> str:
    passed = max(now - moment, 0)
    for limit, unit, name in ((3600, 60, "min"), (86400, 3600, "h"), (86400 * 60, 86400, "d")):
        if passed < limit:
            return f"{int(passed // unit)} {name} ago"
    return day(moment)
