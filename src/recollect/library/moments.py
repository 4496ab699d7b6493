"""Parse a moment as people type it: `2026-03-02`, `2026-03-02T14:30`, `7d`, `12h`, `today`, `yesterday`."""

from __future__ import annotations

from datetime import datetime, tzinfo

from ..errors import QueryError
from ..format.times import parse_moment


def read_moment(text: str, *, end: bool = False, zone: tzinfo | None = None) -> datetime:
    """Return the moment with its time zone. Raises QueryError if the text is not a moment.

    A day means its beginning, with `end` its end. A text without a zone is in `zone`, else in the system's zone.
    """
    moment = parse_moment(text, end=end, zone=zone)
    if moment is None:
        raise QueryError(
            f"{text!r} is not a time: use 2026-03-02, 2026-03-02T14:30, today, yesterday, 7d or 12h", slug="bad-time"
        )
    return moment
