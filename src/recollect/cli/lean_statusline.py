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
from contextlib import suppress
from datetime import date, timedelta
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..analysis.api_calls import ApiCall

#: Seconds of the processor after which no more is taken in, and how many bytes of transcripts one of them is good for.
_ENOUGH_SECONDS = 0.1
_BYTES_A_SECOND = 250 << 20
#: Whatever the time, this much is read, so that every line comes further; and never more than that.
LEAST_BYTES, MOST_BYTES = 1 << 20, 6 << 20
#: The client sends a few kilobytes: what is longer is not from it.
MOST_INPUT = 1 << 20
#: Calls of so many microseconds, as a rule, tell when the running block began.
_DAY = 86_400_000_000


def read_input() -> str:
    """What stands on stdin; nothing where it is closed, a terminal, or no text."""
    try:
        stream = sys.stdin
        if stream is None or stream.isatty():
            return ""
        text = stream.read(MOST_INPUT + 1)
    except (OSError, ValueError):
        return ""
    return (
        text.removeprefix("\ufeff") if len(text) <= MOST_INPUT else ""
    )  # some shells put a mark before what they hand on


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
    except (OSError, ValueError, AttributeError):  # nobody listens, the disk is full, or stdout is closed
        from .streams import discard_output

        with suppress(OSError, ValueError, AttributeError):
            discard_output()


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
    except BaseException as problem:  # an index in use, a damaged home: what the client told is better than nothing
        from ..index.catalogue.healing import is_damage

        if is_damage(problem):
            _forget_index(homes, problem)
        elif not isinstance(problem, Exception):
            raise
        figures = {}
    from .usage_text import cost_in_words

    def money(name: str, cost: int | None = None) -> str:
        """A sum with its marks: what is not taken in yet, then what no count can tell."""
        totals, mark = figures[name], figures[f"{name} mark"]
        words = cost_in_words(totals.cost if cost is None else cost, totals.unpriced, totals.lower_bounds)
        return mark + words.removeprefix("≥") if mark and words != "?" else words

    if "session" in figures and not (figures["session mark"] and session_cost is not None):
        parts.append(f"session {money('session')}")
    elif session_cost is not None:
        parts.append(f"session {cost_in_words(session_cost, 0)}")
    if "today" in figures:
        parts.append(f"today {money('today')}")
    if "block" in figures:
        minutes = figures["left"] // 60_000_000
        hourly = money("block", figures["hour"])
        parts.append(f"block {money('block')} ({minutes // 60}h{minutes % 60:02d} left, {hourly}/h)")
    if _is_number(share) and 0 <= share < 1000:
        parts.append(f"context {share:.0f}%")
    elif "context" in figures:
        parts.append(f"context {figures['context']}%")
    return " | ".join(parts)


def _forget_index(homes: list[str], problem: BaseException) -> None:
    """So that the next line has figures again."""
    from ..library.accounting import open_accounting

    with open_accounting(homes) as accounting:
        accounting.make_anew(problem)


def _figures(given: dict[str, Any], homes: list[str], timezone: str | None) -> dict[str, Any]:
    from ..analysis.api_calls import api_calls, home_numbers, total_of
    from ..analysis.running_block import running_block
    from ..analysis.totals import Totals
    from ..library.accounting import open_accounting

    with open_accounting(homes, timezone=timezone) as accounting:
        session = given.get("session_id")
        if not isinstance(session, str) or not session:
            session = None
        behind = accounting.sync_some(_bytes_to_read, session)
        now = time.time_ns() // 1000
        found: dict[str, Any] = {}
        today = date.fromisoformat(accounting.zone.day(now))
        begin, end = (accounting.zone.start_of(day) for day in (today, today + timedelta(days=1)))
        numbers = home_numbers(accounting.catalogue, accounting.homes)
        block = running_block(accounting.catalogue.connection, numbers, now) if numbers else None
        since = begin if block is None else min(begin, block.start) if len(numbers) > 1 else block.start
        recent: list[ApiCall] = []
        if block is not None or len(numbers) > 1:
            recent = list(api_calls(accounting.catalogue, accounting.homes, since=since))
        if len(numbers) > 1:  # a call may stand in several homes
            found["today"] = total_of((item for item in recent if begin <= (item.time or 0) < end), accounting.book)
        else:
            found["today"] = Totals()
            for totals in accounting.day_totals(numbers[0], begin, end).values() if numbers else ():
                found["today"].join(totals)
        found["today mark"] = behind.mark(begin)
        if session is not None:
            rows = accounting.catalogue.connection.execute("SELECT id FROM files WHERE session_id = ?", (session,))
            files = [row[0] for row in rows]
            calls = api_calls(accounting.catalogue, accounting.homes, files=files) if files else ()
            items = [item for item in calls if item.session_id == session]
            if items:
                from ..analysis.context import context_timelines

                found["session mark"] = behind.mark(0) if behind.of_session else ""
                found["session"] = total_of(items, accounting.book)
                for course in context_timelines(items, accounting.book):
                    if course.window and not behind.of_session:
                        found["context"] = round(course.last * 100 / course.window)
        if block is not None:
            from ..analysis.blocks import find_blocks

            inside = [item for item in recent if block.start <= (item.time or 0) < block.end]
            for item in find_blocks(inside, accounting.book):
                found["block"] = item.totals
                found["block mark"] = behind.mark(now - _DAY)
                found["left"] = item.end - now
                found["hour"] = round(item.burn(now)[1])
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
    from ..export.terminal_text import safe_line

    return safe_line(text, 40)
