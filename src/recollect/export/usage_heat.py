"""Draw a usage report by day as a map: one column for each week, expensive days darker."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..analysis.cost import Totals
from ..analysis.usage import NO_TIME
from .charts import days_before_the_map, heat_map, not_in_future
from .money import money

if TYPE_CHECKING:
    from ..analysis.usage import UsageReport


class HeatMap(NamedTuple):
    """The lines of the map, and remarks on what it leaves out and how to read it."""

    lines: list[str]
    remarks: list[str]


def usage_heat(report: UsageReport) -> HeatMap:
    """Draw the map of a report by day."""
    # A day of calls without a known price was a day of work, too.
    drawn, later = not_in_future({group.key: max(group.totals.cost, 1) for group in report.groups})
    remarks = [later] if later else []
    older = days_before_the_map(drawn)
    for keys, words in (({*older}, f"up to {older[-1]}" if older else ""), ({NO_TIME}, "without a time")):
        rest = Totals()
        for group in report.groups:
            if group.key in keys:
                rest.join(group.totals)
        if rest.calls:
            remarks.append(f"not drawn: {money(rest)} {words}")
    remarks.append("each column a week; darker days cost more (quarters of all days with usage)")
    return HeatMap([*heat_map(drawn), f"days in {report.zone}"], remarks)
