"""`recollect usage --json` without click: what is asked most often by programs, and what must answer before it is noticed.

Only the plainest form is understood here; anything else, and every problem, is left to the command itself.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

_TAKES_VALUE = ("--home", "--timezone", "--by")
_GROUPINGS = frozenset(("day", "week", "month", "year", "model"))


def try_usage(arguments: Sequence[str]) -> int | None:
    """The exit code, or None where the command has to do it."""
    homes: list[str] = []
    timezone = None
    by: list[str] = []
    seen: list[str] = []
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if name in _TAKES_VALUE:
            value = value if equals else next(words, "")
            if not value:
                return None
            if name == "--home":
                homes.append(value)
            elif name == "--by":
                by += value.split(",")
            else:
                timezone = value
        elif word in ("usage", "--json"):
            seen.append(word)
        else:
            return None
    if sorted(seen) != ["--json", "usage"] or not _GROUPINGS.issuperset(by):
        return None
    from ..graph.collector import collector_waits

    try:
        with collector_waits():  # the process ends with the answer
            told = _answer(homes, by or ["day"], timezone)
    except Exception:  # the command finds it, too, and says what it is
        return None
    if told is None:
        return None
    try:
        sys.stdout.write(_indented(told) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away: nothing is wrong
        return 0
    return 0 if told["totals"]["calls"] else 1


def _answer(homes: list[str], by: list[str], timezone: str | None) -> dict[str, Any] | None:
    from ..analysis.usage import group_data
    from ..library.accounting import open_accounting
    from .usage_text import report_totals

    with open_accounting(homes, timezone=timezone) as accounting:
        if accounting.catalogue.problem:
            return None
        report = accounting.usage(by)
        return {"rows": [group_data(group, report.by) for group in report.groups], **report_totals(report, accounting)}


def _indented(told: dict[str, Any]) -> str:
    """What ``json.dumps(told, indent=2)`` gives, in C where that costs no import: it is there if files had to be read."""
    formatter = sys.modules.get("msgspec.json")
    return json.dumps(told, indent=2) if formatter is None else formatter.format(json.dumps(told), indent=2)
