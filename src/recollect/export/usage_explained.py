"""Explain the cost of API calls: each with the rule, the price and the line that the cost comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..analysis.prices.book import short_name
from .formatting import plural
from .money import exact_dollars
from .usage_remarks import unpriced_remark

if TYPE_CHECKING:
    from ..analysis.cost import Totals

SHOWN: Final = 20
"""How many calls are shown if no limit is given."""


def heading(row: Mapping[str, Any]) -> str:
    """Return the first line of an explained call: its time, its model and its cost."""
    price = row["cost_micro_usd"]
    return f"{row['time'] or 'no time'}  {short_name(row['model'])}  {'?' if price is None else exact_dollars(price)}"


def explained_lines(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines below the heading: the call's file and line, its price and why, and each part of the cost."""
    yield (
        f"  {row['file']}:{row['line']}"
        + (f", output on line {row['output_line']}" if row["output_line"] != row["line"] else "")
        + (f"  ({row['copies']} copies, counted once)" if row["copies"] > 1 else "")
    )
    marks = [row["rule"]]
    if row["price_since"]:
        marks.append(f"price since {row['price_since']} ({row['price_source']})")
    if row["assumed"]:
        marks.append(row["assumed"])
    if row["lower_bound"]:
        marks.append("output is a placeholder: a lower bound")
    if row["odd"]:
        marks.append("a count is missing or none: it is taken as nought")
    if row["zoneless"]:
        marks.append("its time has no zone: it is taken as UTC")
    if row["recorded_in"] != "assistant":
        marks.append(f"recorded in {row['recorded_in']}")
    yield f"  {'; '.join(marks)}"
    for part in row["parts"]:
        rate = part.get("usd_per_million")
        words = f"× ${rate} / million" if rate else "× $0.01" if part["part"] == "web_searches" else ""
        value = part["cost_micro_usd"]
        cost = "?" if value is None else exact_dollars(value)
        yield f"    {part['part']:<15}{part['amount']:>12,} {words:<22}= {cost:>12}"


def explained_end(rows: Sequence[Mapping[str, Any]], shown: int, totals: Totals) -> Iterator[str]:
    """Yield the lines below the last call that is shown: how many more there are, and what all of them cost."""
    if shown < len(rows):
        yield f"... and {len(rows) - shown:,} more (--limit N, or --json for all)"
    known = "?" if totals.unpriced == len(rows) else ("≥" if totals.lower_bounds else "") + exact_dollars(totals.cost)
    yield f"total of {plural(len(rows), 'call')}: {known}"
    if totals.unpriced:
        yield unpriced_remark(totals.unpriced)
