"""Reports about tokens and money in words: shared by `usage`, `expensive`, `budget` and `statusline`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..analysis.cost import dollars
from ..export.formatting import plural
from ..export.terminal_text import harmless_cell
from ..library.usage_words import are, remarks

if TYPE_CHECKING:
    from ..analysis.totals import Totals
    from ..analysis.usage import UsageReport
    from ..format.usage import Usage
    from ..library.accounting import Accounting, Selection


def tokens(count: int) -> str:
    """``1.2k``, ``3.45M``: three digits that say something."""
    for unit, name in ((10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= unit:
            value = count / unit
            return (
                f"{value:.2f}{name}" if value < 10 else f"{value:.1f}{name}" if value < 100 else f"{value:,.0f}{name}"
            )
    return str(count)


def money(totals: Totals) -> str:
    """The cost with its marks: `+` where the price of something is not known, `≥` where the output is a lower bound."""
    return cost_in_words(totals.cost, totals.unpriced, totals.lower_bounds)


def cost_in_words(cost: int | None, unpriced: int, lower_bounds: int = 0) -> str:
    if cost is None or (unpriced and not cost):
        return "?" if unpriced else ""
    return f"{'≥' if lower_bounds else ''}{dollars(cost)}{'+?' if unpriced else ''}"


def unpriced_remark(calls: int) -> str:
    return f"+? {plural(calls, 'call')} without a known price {are(calls)} not in the cost: see recollect usage"


def report_totals(report: UsageReport, accounting: Accounting, chosen: Selection | None = None) -> dict[str, Any]:
    """What stands beside the rows in JSON."""
    return {
        "by": report.by,
        "totals": report.totals.data(),
        "timezone": report.zone,
        "prices": report.prices,
        "unpriced_models": report.unpriced,
        "copies_not_counted": report.copies,
        "remarks": remarks(report),
        "client_counts": [item.data() for item in accounting.comparisons(chosen)]
        if accounting.has_client_counts
        else [],
    }


def csv_text(rows: Iterable[dict[str, Any]], names: Iterable[str] = ()) -> str:
    """Rows as CSV; what is nested is left out. A cell that a spreadsheet would take for a formula is quoted.

    `names` are those of the columns (see `csv_names`); without them, and without rows, there is nothing.
    """
    import csv
    import io

    rows = list(rows)
    fields = list(names) or csv_names(rows)
    if not fields:
        return ""
    out = io.StringIO()
    writer = csv.DictWriter(out, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(row.get(key)) for key in fields} for row in rows)
    return out.getvalue()


def csv_names(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The columns that rows have in CSV: those that are nested in none of them."""
    return [
        key for row in rows[:1] for key in row if not any(isinstance(other.get(key), list | dict) for other in rows)
    ]


def _cell(value: Any) -> Any:
    return harmless_cell(value) if isinstance(value, str) else value


def message_tokens(model: str | None, seconds: float | None, usage: Usage, *, lower_bound: bool = False) -> str:
    """``10 in, 200 out (80 thinking), 30 written (5 min), 500 read, $0.0123``; `≥` where the output is a placeholder.

    A count that is missing or none is nought, as everywhere; then that is said.
    """
    from ..analysis.cost import message_cost
    from ..analysis.prices.book import price_book

    least = "≥" if lower_bound else ""
    thought = f" ({tokens(usage.thinking)} thinking)" if usage.thinking else ""
    parts = [f"{tokens(usage.input_tokens)} in", f"{least}{tokens(usage.output_tokens)} out{thought}"]
    parts += [f"{tokens(usage.cache_write_5m)} written (5 min)"] if usage.cache_write_5m else []
    parts += [f"{tokens(usage.cache_write_1h)} written (1 h)"] if usage.cache_write_1h else []
    parts += [f"{tokens(usage.cache_read)} read"] if usage.cache_read else []
    searches = usage.web_searches
    parts += [f"{searches:,} web search{'es' if searches != 1 else ''}"] if searches else []
    parts.append(least + dollars(message_cost(price_book(), model, seconds, usage)))
    return ", ".join(parts) + (" (a count is missing or none)" if usage.is_odd else "")
