"""What every face has to say about a report of usage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..export.formatting import plural

if TYPE_CHECKING:
    from ..analysis.usage import UsageReport


def lower_bound_remark(calls: int) -> str:
    return (
        f"≥ output of {plural(calls, 'call')} is a lower bound: only a placeholder was written, as clients "
        "1.0.30 to 2.1.96 did, and later ones where an answer was cut off"
    )


def remarks(report: UsageReport, *, more: str = "see --explain") -> list[str]:
    """What has to be said about a report, one sentence each. `more` tells where each call is to be seen."""
    when = "today's for everything" if report.today else "each as on the day of use"
    told = [f"days in {report.zone}; prices of {report.prices}, {when}"]
    totals = report.totals
    if report.copies:
        told.append(
            f"{plural(report.copies, 'copy', 'copies')} of calls in other files {are(report.copies)} not counted again"
        )
    if totals.lower_bounds:
        told.append(lower_bound_remark(totals.lower_bounds))
    for model, calls in sorted(report.unpriced.items()):
        told.append(
            f"+? no price known for {model or '(no model)'}: {plural(calls, 'call')} {are(calls)} counted, but not in the cost"
        )
    if totals.odd:
        told.append(
            f"{plural(totals.odd, 'call')} {have(totals.odd)} counts that are missing or none (negative, text or too large); "
            f"those are taken as nought, {more}"
        )
    if report.timeless:
        told.append(f"{plural(report.timeless, 'call')} {have(report.timeless)} no time: see (no time)")
    if totals.zoneless:
        told.append(
            f"{plural(totals.zoneless, 'call')} {have(totals.zoneless)} a time without a zone: it is taken as UTC"
        )
    rows = sum(group.totals.calls for group in report.groups)
    if rows > totals.calls:
        told.append(
            f"calls of several tools stand in the row of each ({rows:,} in all rows); tokens and cost are shared out"
        )
    return told


def are(count: int) -> str:
    return "is" if count == 1 else "are"


def have(count: int) -> str:
    return "has" if count == 1 else "have"
