"""`usage --explain`: responses with the rule, the price and the line that their cost comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .command_run import CommandRun

if TYPE_CHECKING:
    from ..analysis.totals import Totals
    from ..library.accounting import Accounting, Selection

SHOWN = 20


def show_explained(
    run: CommandRun, accounting: Accounting, chosen: Selection, ident: str, limit: int | None, *, as_csv: bool
) -> bool:
    from ..analysis.explain import OMITTED, explain
    from ..analysis.explain import chosen as matching
    from ..analysis.totals import Totals
    from .usage_text import csv_names, csv_text

    found = matching(accounting.responses(chosen), ident, accounting.zone)
    found.sort(key=lambda item: (item.time or 0, *item[:3]))
    rows = [explain(item, accounting.book, accounting.zone) for item in found]
    totals = Totals()
    for item, row in zip(found, rows, strict=True):
        totals.add(item.counts, row["cost_micro_usd"], *item.marks)
    if as_csv:
        if not rows:
            run.say("no API call fits")
            return False
        names = [*csv_names(rows), "timezone"]
        told = (row | {"timezone": accounting.zone.name} for row in rows[:limit])
        run.print(csv_text(told, names).rstrip("\n"))
    elif run.is_text:
        _print(run, rows, limit, totals)
    else:
        run.rows(
            rows[:limit], total=len(rows), totals=totals.data(), timezone=accounting.zone.name, prices=accounting.book.version,
            price_source=accounting.book.source, omitted=list(OMITTED),
        )  # fmt: skip
    return bool(rows)


def _print(run: CommandRun, rows: list[dict[str, Any]], limit: int | None, totals: Totals) -> None:
    from ..analysis.cost import exact_dollars
    from ..analysis.explain import OMITTED
    from ..analysis.prices.names import short_name
    from ..export.formatting import plural
    from .usage_text import unpriced_remark

    if not rows:
        run.say("no API call fits")
        return
    shown = rows[: SHOWN if limit is None else limit]
    for row in shown:
        price = row["cost_micro_usd"]
        head = (
            f"{row['time'] or 'no time'}  {short_name(row['model'])}  {'?' if price is None else exact_dollars(price)}"
        )
        run.print_styled(run.style(head, bold=True))
        run.print(
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
        run.print(f"  {'; '.join(marks)}")
        for part in row["parts"]:
            rate = part.get("usd_per_million")
            words = f"× ${rate} / million" if rate else "× $0.01" if part["part"] == "web_searches" else ""
            value = part["cost_micro_usd"]
            run.print(
                f"    {part['part']:<15}{part['amount']:>12,} {words:<22}= {'?' if value is None else exact_dollars(value):>12}"
            )
    if len(shown) < len(rows):
        run.print(f"... and {len(rows) - len(shown):,} more (--limit N, or --json for all)")
    known = "?" if totals.unpriced == len(rows) else ("≥" if totals.lower_bounds else "") + exact_dollars(totals.cost)
    run.print(f"total of {plural(len(rows), 'call')}: {known}")
    if totals.unpriced:
        run.print(unpriced_remark(totals.unpriced))
    run.say("no transcript tells of: " + "; ".join(OMITTED))
