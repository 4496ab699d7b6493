"""Show the first page: what happened lately."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..pages import is_fragment, page, service_of
from ..session_choice import SOON_DAYS, Chooser
from ..usage_views import spent_lately

WEEKS = 53
RECENT = 8
CELL = 13
LEFT = 30
"""Room for the names of weekdays beside the heat map."""


@dataclass
class Cell:
    day: str
    row: int
    count: int
    level: int


@dataclass
class HeatMap:
    """Weeks of days, each with the number of sessions that were active, and the positions of the names of months."""

    weeks: list[list[Cell]]
    months: list[tuple[str, int]]

    @property
    def width(self) -> int:
        return LEFT + len(self.weeks) * CELL

    @property
    def days(self) -> int:
        """Return the number of days with activity."""
        return sum(cell.count > 0 for week in self.weeks for cell in week)


def home(request: Request) -> Response:
    service = service_of(request)
    sessions = service.sessions()
    chooser = Chooser(service)
    spent = spent_lately(service)
    if sessions and spent is not None:  # counting first: it is faster, and reads the same files
        service.index.begin()
    counts = Counter(day for item in sessions for day in chooser.days_of(item))
    return page(
        request, "home_parts.html" if is_fragment(request) else "home.html", count=len(sessions),
        homes=[str(item.root) for item in service.library.homes],
        projects=len({item.worktree_of or item.project or item.file.folder for item in sessions}),
        bytes=sum(item.file.size + sum(subagent.size for subagent in item.file.subagents) for item in sessions),
        expiring=sum("expiring" in chooser.statuses(item) for item in sessions),
        not_kept=sum(len(item.expiring_not_kept) for item in service.guards()),
        damaged=sum("damaged" in chooser.statuses(item) for item in sessions), index=service.index,
        read_through=chooser.accounts.read_through,
        running=[item for item in sessions if item.session_id in chooser.running], running_ids=chooser.running,
        recent=[item for item in sessions if item.session_id not in chooser.running][:RECENT],
        heat=heat_map(counts, date.today()), spent=spent, costs=chooser.accounts.costs, soon_days=SOON_DAYS,
        cell=CELL, left=LEFT,
    )  # fmt: skip


def heat_map(counts: Counter[str], today: date) -> HeatMap:
    """Draw the last year; `counts` are sessions by day. Days with more sessions are darker, compared to the busiest."""
    first = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    largest = max((counts[(first + timedelta(days=n)).isoformat()] for n in range(WEEKS * 7)), default=0)
    weeks: list[list[Cell]] = []
    months: list[tuple[str, int]] = []
    for week in range(WEEKS):
        start = first + timedelta(weeks=week)
        if start.day <= 7 and (not months or week - months[-1][1] > 2):
            months.append((start.strftime("%b"), week))
        cells = []
        for row in range(7):
            day = start + timedelta(days=row)
            if day > today:
                break
            count = counts[day.isoformat()]
            level = 0 if not count else min(1 + (count * 4 - 1) // max(largest, 1), 4)
            cells.append(Cell(day.isoformat(), row, count, level))
        weeks.append(cells)
    return HeatMap(weeks, months)


routes = [Route("/", home)]
