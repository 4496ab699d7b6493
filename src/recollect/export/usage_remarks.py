"""Say what a reader of a usage report must know: what is counted once, what is a lower bound, what has no price."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .formatting import plural

if TYPE_CHECKING:
    from ..analysis.usage import UsageReport


def unpriced_remark(calls: int) -> str:
    """Say that the price of some calls is not known."""
    return f"+? {plural(calls, 'call')} without a known price {_are(calls)} not in the cost: see recollect usage"


def lower_bound_remark(calls: int) -> str:
    """Say that the output of some calls is only a lower bound."""
    return (
        f"≥ output of {plural(calls, 'call')} is a lower bound: only a placeholder was written, as Claude Code "
        "1.0.30 to 2.1.96 did, and later versions where an answer was cut off"
    )


def remarks(report: UsageReport, *, more: str = "see --explain") -> list[str]:
    """Return the remarks on a report, one sentence each. `more` says how to see each call."""
    when = "today's for everything" if report.today else "each as on the day of use"
    sentences = [f"days in {report.zone}; prices of {report.prices}, {when}"]
    totals = report.totals
    if report.copies:
        sentences.append(
            f"{plural(report.copies, 'copy', 'copies')} of calls in other files {_are(report.copies)} not counted again"
        )
    if totals.lower_bounds:
        sentences.append(lower_bound_remark(totals.lower_bounds))
    for model, calls in sorted(report.unpriced.items()):
        sentences.append(
            f"+? no price known for {model or '(no model)'}: {plural(calls, 'call')} {_are(calls)} counted, but not in the cost"
        )
    if totals.odd:
        sentences.append(
            f"{plural(totals.odd, 'call')} {_have(totals.odd)} counts that are missing or none (negative, text or too large); "
            f"those are taken as nought, {more}"
        )
    if report.timeless:
        sentences.append(f"{plural(report.timeless, 'call')} {_have(report.timeless)} no time: see (no time)")
    if totals.zoneless:
        sentences.append(
            f"{plural(totals.zoneless, 'call')} {_have(totals.zoneless)} a time without a zone: it is taken as UTC"
        )
    rows = sum(group.totals.calls for group in report.groups)
    if rows > totals.calls:
        sentences.append(
            f"calls of several tools stand in the row of each ({rows:,} in all rows); tokens and cost are shared out"
        )
    return sentences


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
