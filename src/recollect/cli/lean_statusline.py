"""The status line's work, on as few imports as can be: it runs again and again while somebody types.

What the client sends on stdin (session, model, cost, folder) is joined with what the transcripts say. Whatever goes wrong, a line
is printed and the exit code is 0: a status line must never be in the way.

Each call takes in a part of what is new, the newest files first, so that the line stays within its time on a store that was never
counted. A sum that may lack something is marked until all is taken in: `≥` (at least), `~` (about).
"""

from __future__ import annotations

import json
import sys
import time
from datetime import date
from math import isfinite
from typing import Any

#: Seconds of the processor after which no more is taken in, and how many bytes of transcripts one of them is good for.
_ENOUGH_SECONDS = 0.1
_BYTES_A_SECOND = 250 << 20
#: Whatever the time, this much is read, so that every line comes further; and never more than that.
LEAST_BYTES, MOST_BYTES = 1 << 20, 6 << 20
#: The client sends a few kilobytes: what is longer is not from it.
MOST_INPUT = 1 << 20
_HOUR = 3_600_000_000


def read_input() -> str:
    """What stands on stdin; nothing where it is closed, a terminal, or no text."""
    try:
        stream = sys.stdin
        if stream is None or stream.isatty():
            return ""
        text = stream.read(MOST_INPUT + 1)
    except (OSError, ValueError):
        return ""
    return text if len(text) <= MOST_INPUT else ""


def print_statusline(text: str, homes: list[str], timezone: str | None = None) -> None:
    """One line on stdout."""
    line = ""
    try:
        line = statusline(_given(text), homes, timezone)
    except Exception:  # whatever it is: the client shows this line to somebody who works
        line = ""
    line = line or "recollect: no figures"
    try:
        try:
            sys.stdout.write(line + "\n")
        except UnicodeEncodeError:
            plain = line.replace("≥", ">=").encode("ascii", "replace").decode()
            sys.stdout.write(plain + "\n")
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):  # nobody listens, or stdout was closed before the start
        pass


def _given(text: str) -> dict[str, Any]:
    """What the client said; nothing where it is no object."""
    try:
        value = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        value = {}
    return value if isinstance(value, dict) else {}


def statusline(given: dict[str, Any], homes: list[str], timezone: str | None = None) -> str:
    parts = []
    name = _at(given, "model", "display_name") or _at(given, "model", "id")
    if isinstance(name, str) and name:
        parts.append(_plain(name))
    told = _at(given, "cost", "total_cost_usd")
    session_cost = round(told * 1_000_000) if _is_number(told) and 0 <= told < 1e9 else None
    share = _at(given, "context_window", "used_percentage")
    try:
        figures = _figures(given, homes, timezone)
    except Exception:  # an index in use, a damaged home: what the client told is better than nothing
        figures = {}
    from ..analysis.cost import dollars

    if "session" in figures and not (figures["session mark"] and session_cost is not None):
        parts.append(f"session {figures['session mark']}{dollars(figures['session'])}")
    elif session_cost is not None:
        parts.append(f"session {dollars(session_cost)}")
    if "today" in figures:
        parts.append(f"today {figures['today mark']}{dollars(figures['today'])}")
    if "block" in figures:
        minutes = figures["left"] // 60_000_000
        mark = figures["block mark"]
        parts.append(
            f"block {mark}{dollars(figures['block'])} "
            f"({minutes // 60}h{minutes % 60:02d} left, {mark}{dollars(figures['hour'])}/h)"
        )
    if _is_number(share) and 0 <= share < 1000:
        parts.append(f"context {share:.0f}%")
    elif "context" in figures:
        parts.append(f"context {figures['context']}%")
    return " | ".join(parts)


def _figures(given: dict[str, Any], homes: list[str], timezone: str | None) -> dict[str, Any]:
    from ..analysis.responses import home_numbers, responses
    from ..library.accounting import open_accounting

    with open_accounting(homes, timezone=timezone) as accounting:
        session = given.get("session_id")
        if not isinstance(session, str) or not session:
            session = None
        behind = accounting.sync_some(_bytes_to_read, session)
        now = time.time_ns() // 1000
        found: dict[str, Any] = {}
        day = accounting.zone.day(now)
        numbers = home_numbers(accounting.catalogue, accounting.homes)
        found["today"] = sum(totals.cost for totals in accounting.sums.totals(numbers, day, day).values())
        found["today mark"] = behind.mark(accounting.zone.start_of(date.fromisoformat(day)))
        if session is not None:
            rows = accounting.catalogue.connection.execute("SELECT id FROM files WHERE session_id = ?", (session,))
            files = [row[0] for row in rows]
            items = list(responses(accounting.catalogue, accounting.homes, files=files)) if files else []
            if items:
                from ..analysis.context import courses

                found["session mark"] = behind.mark(0) if behind.of_session else ""
                found["session"] = sum(item.cost(accounting.book) or 0 for item in items)
                for course in courses(items, accounting.book):
                    if course.window and not behind.of_session:
                        found["context"] = round(course.last * 100 / course.window)
        from ..analysis.blocks import find_blocks

        since = now - 24 * _HOUR
        recent = responses(accounting.catalogue, accounting.homes, since=since)
        blocks = find_blocks(recent, accounting.book)
        if blocks and blocks[-1].is_active(now):
            found["block"] = blocks[-1].totals.cost
            found["block mark"] = behind.mark(since)
            found["left"] = blocks[-1].end - now
            found["hour"] = round(blocks[-1].burn(now)[1])
        return found


def _bytes_to_read() -> int:
    """How much may be read in what is left of the time, the start of the interpreter counted."""
    left = int((_ENOUGH_SECONDS - time.process_time()) * _BYTES_A_SECOND)
    return min(max(left, LEAST_BYTES), MOST_BYTES)


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _plain(text: str) -> str:
    from .terminal import safe_line

    return safe_line(text, 40)
