"""Reports about tokens and money in words: shared by `usage`, `expensive`, `budget` and `statusline`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..analysis.cost import dollars

if TYPE_CHECKING:
    from ..analysis.totals import Totals
    from ..analysis.usage import UsageReport
    from ..format.usage import Usage
    from ..library.accounting import Accounting


def tokens(count: int) -> str:
    """``1.2k``, ``3.45M``: three digits that say something."""
    for unit, name in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if count >= unit:
            value = count / unit
            return f"{value:.2f}{name}" if value < 10 else f"{value:.1f}{name}" if value < 100 else f"{value:.0f}{name}"
    return str(count)


def money(totals: Totals) -> str:
    """The cost with its marks: `+` where the price of something is not known, `≥` where the output is a lower bound."""
    if totals.unpriced and not totals.cost:
        return "?"
    return f"{'≥' if totals.lower_bounds else ''}{dollars(totals.cost)}{'+?' if totals.unpriced else ''}"


def remarks(report: UsageReport) -> list[str]:
    """What has to be said about a report, one sentence each."""
    when = "today's for everything" if report.today else "each as on the day of use"
    told = [f"days in {report.zone}; prices of {report.prices}, {when}"]
    totals = report.totals
    if report.copies:
        told.append(f"{report.copies:,} copies of calls in other files are not counted again")
    if totals.lower_bounds:
        told.append(
            f"≥ output of {totals.lower_bounds:,} calls is a lower bound: their client (1.0.30 to 2.1.96) wrote a placeholder"
        )
    for model, calls in sorted(report.unpriced.items()):
        told.append(f"+? no price known for {model or '(no model)'}: {calls:,} calls are counted, but not in the cost")
    if totals.odd:
        told.append(
            f"{totals.odd:,} calls have counts that are none (negative, text or too large); those are taken as nought"
        )
    if report.timeless:
        told.append(f"{report.timeless:,} calls have no time: they stand under (no time)")
    return told


def report_totals(report: UsageReport, accounting: Accounting) -> dict[str, Any]:
    """What stands beside the rows in JSON."""
    return {
        "by": report.by,
        "totals": report.totals.data(),
        "timezone": report.zone,
        "prices": report.prices,
        "unpriced_models": report.unpriced,
        "copies_not_counted": report.copies,
        "remarks": remarks(report),
        "client_counts": [item.data() for item in accounting.comparisons()] if accounting.has_client_counts else [],
    }


def csv_text(rows: Iterable[dict[str, Any]]) -> str:
    """Rows as CSV; what is nested is left out. A cell that a spreadsheet would take for a formula is quoted."""
    import csv
    import io

    out = io.StringIO()
    writer: csv.DictWriter[str] | None = None
    for row in rows:
        flat = {key: _cell(value) for key, value in row.items() if not isinstance(value, list | dict)}
        if writer is None:
            writer = csv.DictWriter(out, list(flat), lineterminator="\n", extrasaction="ignore")
            writer.writeheader()
        writer.writerow(flat)
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return value


def message_cost(model: str | None, seconds: float | None, usage: Usage) -> int | None:
    """What one message cost, in micro-dollars; None where its model has no price."""
    from ..analysis.cost import Counts, cost_of
    from ..analysis.prices.book import price_book

    counts = Counts(
        usage.input_tokens, usage.output_tokens, usage.cache_write_5m, usage.cache_write_1h, usage.cache_read, 0,
        usage.web_searches,
    )  # fmt: skip
    when = None if seconds is None else round(seconds * 1_000_000)
    return cost_of(price_book(), model or "", when, counts, None, None, None)[0]


def message_tokens(model: str | None, seconds: float | None, usage: Usage) -> str:
    """``10 in, 200 out, 30 written, 500 read, $0.0123``"""
    written = usage.cache_write_5m + usage.cache_write_1h
    parts = [f"{tokens(usage.input_tokens)} in", f"{tokens(usage.output_tokens)} out"]
    parts += [f"{tokens(written)} written"] if written else []
    parts += [f"{tokens(usage.cache_read)} read"] if usage.cache_read else []
    return ", ".join([*parts, dollars(message_cost(model, seconds, usage))])
