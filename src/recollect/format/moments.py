"""Moments as people type them: `2026-03-02`, `2026-03-02T14:30`, `7d`, `12h`, `today`, `yesterday`.

What is typed without a zone is local time.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_AGO = re.compile(r"(?P<count>[0-9]{1,6})\s*(?P<unit>[hdw])")
_DATE_ONLY = re.compile(r"\d{4}-\d\d-\d\d")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def parse_moment(text: str, *, end: bool = False, now: datetime | None = None) -> datetime | None:
    """The moment in UTC; None for what is no moment. With `end`, a day means its end."""
    now = now or datetime.now().astimezone()
    text = text.strip()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if text in ("today", "yesterday"):
            day = midnight if text == "today" else midnight - timedelta(days=1)
            return (day + timedelta(days=1) if end else day).astimezone(UTC)
        if ago := _AGO.fullmatch(text):
            return (now - int(ago["count"]) * _UNITS[ago["unit"]]).astimezone(UTC)
        moment = datetime.fromisoformat(text)
        if end and _DATE_ONLY.fullmatch(text):
            moment += timedelta(days=1)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
