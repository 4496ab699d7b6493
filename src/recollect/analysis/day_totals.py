"""Sum totals by day and model in the database: the source of `usage` by day, week or month."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..index.api_calls.rows import COUNTS, LOWER_BOUND, ODD, PARTIAL, ZONELESS
from .cost import Counts
from .totals import Totals

if TYPE_CHECKING:
    import apsw

    from .zones import Zone

_EVER: Final = 1 << 62
_EARLIER: Final = 10**17
"""About how many microseconds are added before a time is divided, more than since the year 1.

SQLite's division rounds towards zero, so times must be positive.
"""
_SUMS: Final = (
    f"count(*), {', '.join(f'sum({name})' for name in COUNTS)}, coalesce(sum(cost), 0), sum(cost IS NULL), "
    f"sum(flags & {LOWER_BOUND}), sum(flags & {ODD | PARTIAL} <> 0), sum(flags & {ZONELESS} <> 0), sum(copies - 1)"
)

#: The rows of the view `counted_calls`, in two parts: that takes half the time.
_ALONE: Final = (
    "SELECT *, 1 AS copies FROM api_calls a WHERE NOT EXISTS "
    "(SELECT 1 FROM shared_calls s WHERE s.file_id = a.file_id AND s.line = a.line AND s.part = a.part)"
)
_SHARED: Final = (
    f"SELECT a.file_id, a.time, a.model_id, {', '.join(f's.{name}' for name in COUNTS)}, s.flags, s.cost, s.copies "
    "FROM shared_calls s CROSS JOIN api_calls a USING (file_id, line, part) WHERE s.counted"
)


def day_totals(
    db: apsw.Connection, home: int, zone: Zone, since: int | None = None, until: int | None = None
) -> dict[tuple[str, str], Totals]:
    """Return the totals by (day, model) of one home. `since` and `until` are microseconds, [since, until).

    Raises apsw.SQLError if the sums exceed the range of the database's integers.
    """
    times = ""
    if since is not None or until is not None:
        times = f" AND time >= {-_EVER if since is None else since} AND time < {_EVER if until is None else until}"
    names: dict[int, str] = dict(iter(db.execute("SELECT id, text FROM strings")))
    found: dict[tuple[str, str], Totals] = {}
    where = f"WHERE {_of_home(db, home)}{times}"
    for source in (_ALONE, _SHARED):
        for step, model, calls, *sums in db.execute(
            f"SELECT {_step(zone)}, model_id, {_SUMS} FROM ({source}) {where} GROUP BY 1, 2"
        ):
            totals = Totals(calls, Counts(*sums[:7]), *sums[7:])
            found.setdefault((_day(zone, step), names[model]), Totals()).join(totals)
    return dict(sorted(found.items()))


def days_of_sessions(db: apsw.Connection, home: int, zone: Zone) -> dict[str, set[str]]:
    """Return the days on which each session of a home, including its subagents, made calls."""
    found: dict[str, set[str]] = {}
    for session, step in db.execute(
        f"SELECT DISTINCT coalesce(c.session_id, f.session_id), {_step(zone)} FROM counted_calls c "
        "JOIN files f ON f.id = c.file_id WHERE f.home_id = ?",
        (home,),
    ):
        if session is not None and (day := _day(zone, step)):
            found.setdefault(session, set()).add(day)
    return found


def _of_home(db: apsw.Connection, home: int) -> str:
    """Return the SQL condition for calls of a home.

    Looking up the home of each call costs as much as summing, and most catalogues have only one home.
    """
    if db.execute("SELECT count(*) FROM homes").get == 1:
        return "TRUE"
    return f"+file_id IN (SELECT id FROM files WHERE home_id = {int(home)})"


def _step(zone: Zone) -> str:
    """Return SQL that numbers the step (`Zone.step`) of a call's time; all moments of a step are of one day."""
    return f"(time + {_EARLIER // zone.step * zone.step}) / {zone.step}"


def _day(zone: Zone, step: int | None) -> str:
    return zone.day(None if step is None else step * zone.step - _EARLIER // zone.step * zone.step)
