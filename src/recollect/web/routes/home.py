"""The first page: what happened lately."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...store.summary import SessionSummary
from ..money import spent_lately
from ..pages import desk_of, is_fragment, page
from ..session_choice import SOON_DAYS, Chooser, active_days

WEEKS = 40
RECENT = 8


@dataclass
class Cell:
    day: str
    row: int
    count: int
    level: int
    unit: str


def home(request: Request) -> Response:
    desk = desk_of(request)
    sessions = desk.sessions()
    chooser = Chooser(desk)
    weeks, months = heat_map(sessions, date.today())
    return page(
        request, "home_parts.html" if is_fragment(request) else "home.html", count=len(sessions),
        homes=[str(item.root) for item in desk.library.homes],
        projects=len({item.worktree_of or item.project or item.file.folder for item in sessions}),
        bytes=sum(item.file.size + sum(agent.size for agent in item.file.agents) for item in sessions),
        expiring=sum("expiring" in chooser.statuses(item) for item in sessions),
        damaged=sum("damaged" in chooser.statuses(item) for item in sessions),
        running=[item for item in sessions if item.session_id in chooser.running], running_ids=chooser.running,
        recent=[item for item in sessions if item.session_id not in chooser.running][:RECENT],
        weeks=weeks, month_names=months, spent=spent_lately(desk), costs=chooser.accounts.costs, soon_days=SOON_DAYS,
    )  # fmt: skip


def heat_map(sessions: list[SessionSummary], today: date) -> tuple[list[list[Cell]], list[tuple[str, int]]]:
    """Weeks of days with how many sessions began or ended on them; and where the names of months stand."""
    counts = Counter(day for item in sessions for day in active_days(item))
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
            cells.append(Cell(day.isoformat(), row, count, level, "session"))
        weeks.append(cells)
    return weeks, months


routes = [Route("/", home)]
