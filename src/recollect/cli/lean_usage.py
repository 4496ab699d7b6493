"""`recollect usage --json` without click: what is asked most often by programs, and what must answer before it is noticed.

Only the plainest form is understood here; anything else, and every problem, is left to the command itself.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

_TAKES_VALUE = ("--home", "--timezone", "--by")
_PERIODS = ("day", "week", "month", "year")


def try_usage(arguments: Sequence[str]) -> int | None:
    """The exit code, or None where the command has to do it."""
    homes: list[str] = []
    given = {"--timezone": None, "--by": "day"}
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
            else:
                given[name] = value
        elif word in ("usage", "--json"):
            seen.append(word)
        else:
            return None
    if sorted(seen) != ["--json", "usage"] or given["--by"] not in _PERIODS:
        return None
    from ..errors import RecollectError
    from ..graph.collector import collector_waits

    try:
        with collector_waits():  # the process ends with the answer
            return _answer(homes, str(given["--by"]), given["--timezone"])
    except RecollectError:
        return None


def _answer(homes: list[str], by: str, timezone: str | None) -> int | None:
    from ..analysis.usage import group_data
    from ..library.accounting import open_accounting
    from .usage_text import report_totals

    with open_accounting(homes, timezone=timezone) as accounting:
        if accounting.catalogue.problem:
            return None
        report = accounting.usage(by)
        told = {"rows": [group_data(group, by) for group in report.groups], **report_totals(report, accounting)}
    try:
        sys.stdout.write(_indented(told) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away: nothing is wrong
        return 0
    return 0 if report.totals.calls else 1


def _indented(told: dict[str, Any]) -> str:
    """What ``json.dumps(told, indent=2)`` gives, in C where that costs no import: it is there if files had to be read."""
    formatter = sys.modules.get("msgspec.json")
    return json.dumps(told, indent=2) if formatter is None else formatter.format(json.dumps(told), indent=2)
