"""Measure how fast answers came, from the row before an answer to its last row; and when work was done, without pauses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

from ..format.entries import decode_loosely
from ..index.api_calls.rows import PROGRESS
from .api_calls import ApiCall
from .zones import Zone

if TYPE_CHECKING:
    from ..index.catalogue.catalogue import Catalogue
    from ..index.catalogue.reading_back import EntryReader

PAUSE: Final = 5 * 60_000_000
"""Five minutes without a call end a stretch of work. A stretch lasts from its first call to its last, plus one minute.

A stretch over midnight is divided between both days.
"""
_MINUTE: Final = 60_000_000


def active_seconds(found: Iterable[ApiCall], zone: Zone) -> dict[str, float]:
    """Return the seconds of work by day. Subagents that work at the same time do not count twice."""
    moments = sorted({item.time for item in found if item.time is not None and zone.day(item.time)})
    days: dict[str, float] = {}
    start = before = None
    for moment in [*moments, None]:
        if before is not None and start is not None and (moment is None or moment - before > PAUSE):
            for day, length in _by_day(start, before + _MINUTE, zone):
                days[day] = days.get(day, 0.0) + length / 1e6
            start = moment
        if start is None:
            start = moment
        before = moment
    return days


def _by_day(start: int, end: int, zone: Zone) -> Iterator[tuple[str, int]]:
    """Split a stretch at the midnights of the zone: yield each day with its microseconds."""
    while start < end:
        day = zone.day(start)
        try:
            stop = min(zone.start_of(date.fromisoformat(day) + timedelta(days=1)), end)
        except (OverflowError, ValueError, OSError):  # the end of the calendar
            stop = end
        if stop <= start:
            stop = end
        yield day, stop - start
        start = stop


def hours_of_week(found: Iterable[ApiCall], zone: Zone) -> list[list[int]]:
    """Count the calls by weekday (Monday first) and hour of the day. Calls without a valid time are left out."""
    table = [[0] * 24 for _ in range(7)]
    for item in found:
        if item.time is not None and zone.day(item.time):
            local = zone.local(item.time)
            table[local.weekday()][local.hour] += 1
    return table


LONGEST: Final = 3_600_000_000


@dataclass(slots=True)
class Speed:
    """The speed of one model."""

    waits: list[float] = field(default_factory=list)
    """Seconds until the first row of an answer."""
    whole: list[float] = field(default_factory=list)
    """Seconds until the last row of an answer."""
    rates: list[float] = field(default_factory=list)
    """Output tokens per second, for answers whose output is known."""
    left_out: int = 0

    def data(self) -> dict[str, Any]:
        return {
            "answers": len(self.whole), "left_out": self.left_out,
            "seconds_to_first_row": _quantiles(self.waits), "seconds_to_answer": _quantiles(self.whole),
            "output_tokens_per_second": _quantiles(self.rates),
        }  # fmt: skip


def _quantiles(values: Sequence[float]) -> dict[str, float] | None:
    if not values:
        return None
    ordered = sorted(values)
    return {
        name: round(ordered[min(int(len(ordered) * share), len(ordered) - 1)], 2)
        for name, share in (("p50", 0.5), ("p95", 0.95))
    }


def quantile(values: Sequence[float], share: float) -> float | None:
    found = _quantiles(values)
    return None if found is None else found["p50" if share <= 0.5 else "p95"]


def speeds(catalogue: Catalogue, found: Iterable[ApiCall]) -> dict[str, Speed]:
    """Return the speed of each model. The catalogue must hold the entries."""
    times = _times(catalogue)
    result: dict[str, Speed] = {}
    for item in found:
        if item.flags & PROGRESS:
            continue
        known = times.get((item.file_id, item.message_id))
        if known is None:
            continue
        speed = result.setdefault(item.model, Speed())
        moments = _in_order(known)
        if moments is None or not 0 < moments[-1] - moments[0] <= LONGEST:
            speed.left_out += 1
            continue
        asked, first, last = moments[0], moments[1], moments[-1]
        seconds = (last - asked) / 1e6
        speed.waits.append((first - asked) / 1e6)
        speed.whole.append(seconds)
        if not item.lower_bound and item.counts.output:
            speed.rates.append(item.counts.output / seconds)
    return result


def _in_order(known: Sequence[int | None]) -> list[int] | None:
    """Return the moments; None if one is missing or earlier than the one before."""
    moments = [moment for moment in known if moment is not None]
    return moments if len(moments) == len(known) and moments == sorted(moments) else None


def _times(catalogue: Catalogue) -> dict[tuple[int, str], list[int | None]]:
    """Return for each response in a file when it was requested, and the times of its rows, in their order."""
    rows: Any = catalogue.connection.execute(
        "SELECT e.file_id, e.message_id, e.time, CASE WHEN row_number() OVER (PARTITION BY e.file_id, e.message_id "
        "ORDER BY e.line) = 1 THEN (SELECT p.time FROM entries p WHERE p.uuid = e.parent AND p.file_id = e.file_id LIMIT 1) "
        "END FROM entries e WHERE e.type = 'assistant' AND e.message_id IS NOT NULL ORDER BY e.file_id, e.line"
    )
    times: dict[tuple[int, str], list[int | None]] = {}
    for file_id, message, moment, asked in rows:
        known = times.get((file_id, message))
        if known is None:
            times[file_id, message] = [asked, moment]
        else:
            known.append(moment)
    return times


def turn_seconds(catalogue: Catalogue, reader: EntryReader, responses: Iterable[ApiCall]) -> list[float]:
    """Return how long whole turns took that ended with one of these responses.

    Claude Code records this since 2.0.77 (`turn_duration`).
    """
    rows = catalogue.connection.execute(
        "SELECT e.file_id, e.offset, e.length, (SELECT a.message_id FROM entries a WHERE a.file_id = e.file_id "
        "AND a.line < e.line AND a.type = 'assistant' AND a.subagent_id IS NULL ORDER BY a.line DESC LIMIT 1) "
        "FROM entries e WHERE e.subtype = 'turn_duration' ORDER BY e.file_id, e.offset"
    )
    ended = {(item.file_id, item.message_id) for item in responses}
    found: list[float] = []
    for file_id, offset, length, message in rows:
        if (file_id, message) not in ended:
            continue
        value = decode_loosely(reader.bytes_at(file_id, offset, length))
        duration = value.get("durationMs") if isinstance(value, dict) else None
        if isinstance(duration, int | float) and 0 < duration < 86_400_000:
            found.append(duration / 1000)
    return found
