"""The status line's work, on as few imports as can be: it runs again and again while somebody types.

What the client sends on stdin (session, model, cost, folder) is joined with what the transcripts say. Whatever goes wrong, a line
is printed and the exit code is 0: a status line must never be in the way.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

#: More than this is not read for a status line: the next report does it.
MOST_BYTES = 16 << 20
_HOUR = 3_600_000_000


def print_statusline(text: str, homes: list[str], timezone: str | None = None) -> None:
    """One line on stdout."""
    line = ""
    try:
        given = json.loads(text) if text.strip() else {}
        line = statusline(given if isinstance(given, dict) else {}, homes, timezone)
    except Exception:  # whatever it is: the client shows this line to somebody who works
        line = ""
    try:
        sys.stdout.write((line or "recollect: no figures") + "\n")
        sys.stdout.flush()
    except (OSError, ValueError):
        pass


def statusline(given: dict[str, Any], homes: list[str], timezone: str | None = None) -> str:
    parts = []
    name = _at(given, "model", "display_name") or _at(given, "model", "id")
    if isinstance(name, str) and name:
        parts.append(_plain(name))
    told = _at(given, "cost", "total_cost_usd")
    session_cost = round(told * 1_000_000) if isinstance(told, int | float) and 0 <= told < 1e9 else None
    share = _at(given, "context_window", "used_percentage")
    try:
        figures = _figures(given, homes, timezone)
    except Exception:  # an index in use, a damaged home: what the client told is better than nothing
        figures = {}
    from ..analysis.cost import dollars

    cost = figures.get("session", session_cost)
    if cost is None:
        cost = session_cost
    if cost is not None:
        parts.append(f"session {dollars(cost)}")
    if "today" in figures:
        parts.append(f"today {dollars(figures['today'])}")
    if "block" in figures:
        minutes = figures["left"] // 60_000_000
        parts.append(
            f"block {dollars(figures['block'])} ({minutes // 60}h{minutes % 60:02d} left, {dollars(figures['hour'])}/h)"
        )
    if isinstance(share, int | float):
        parts.append(f"context {share:.0f}%")
    elif "context" in figures:
        parts.append(f"context {figures['context']}%")
    return " | ".join(parts)


def _figures(given: dict[str, Any], homes: list[str], timezone: str | None) -> dict[str, int]:
    from ..analysis.responses import home_numbers, responses
    from ..library.accounting import open_accounting

    with open_accounting(homes, timezone=timezone) as accounting:
        session = given.get("session_id")
        if not isinstance(session, str) or not session:
            session = None
        accounting.sync_if_small(MOST_BYTES, session)
        now = time.time_ns() // 1000
        found: dict[str, int] = {}
        day = accounting.zone.day(now)
        numbers = home_numbers(accounting.catalogue, accounting.homes)
        found["today"] = sum(totals.cost for totals in accounting.sums.totals(numbers, day, day).values())
        if session is not None:
            rows = accounting.catalogue.connection.execute("SELECT id FROM files WHERE session_id = ?", (session,))
            files = [row[0] for row in rows]
            items = list(responses(accounting.catalogue, accounting.homes, files=files)) if files else []
            if items:
                from ..analysis.context import courses
                from ..analysis.cost import cost_of

                found["session"] = sum(
                    cost_of(
                        accounting.book, item.model, item.time, item.counts, item.speed, item.service_tier, item.geo
                    )[0]
                    or 0
                    for item in items
                )
                for course in courses(items, accounting.book):
                    if course.window:
                        found["context"] = round(course.last * 100 / course.window)
        from ..analysis.blocks import find_blocks

        recent = responses(accounting.catalogue, accounting.homes, since=now - 24 * _HOUR)
        blocks = find_blocks(recent, accounting.book)
        if blocks and blocks[-1].is_active(now):
            found["block"] = blocks[-1].totals.cost
            found["left"] = blocks[-1].end - now
            found["hour"] = round(blocks[-1].burn(now)[1])
        return found


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _plain(text: str) -> str:
    from .terminal import safe_line

    return safe_line(text, 40)
