"""`recollect usage`: tokens and money, by anything.

JSON: rows of {<by>, calls, input, output, cache_write_5m, cache_write_1h, cache_read, thinking, web_searches, tokens,
cost_micro_usd, unpriced_calls, lower_bound_calls, odd_calls, models}, where `models` has the same fields by model; with by,
totals, timezone, prices, unpriced_models, copies_not_counted, remarks, and client_counts (sessions for which the client left
its own count: {session_id, same, ours, client, difference}). Money is whole micro-dollars.
With --explain: rows of {time, day, session_id, agent_id, model, message_id, request_id, file, line, copies, recorded_in,
lower_bound, odd, cost_micro_usd, rule, price_since, price_source, assumed, prices, parts}, with totals and omitted; `parts` are
{part, amount, usd_per_million, cost_micro_usd} and add up to the cost. With --more: rows by topic, see the guide.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from ..face import Column, Face, command
from ..moments import SINCE, UNTIL

if TYPE_CHECKING:
    from ...analysis.usage import UsageReport
    from ...library.accounting import Accounting, Selection

DIMENSIONS = ("day", "week", "month", "year", "session", "project", "model", "agent", "branch", "tool")
STATUSES = ("live", "abandoned", "agent", "precompact", "unreachable")
TOPICS = ("cache", "speed", "tools", "context", "blocks", "hours", "changes", "commits", "prs")


@command(
    "usage",
    epilog="recollect usage\nrecollect usage --by month --timezone Europe/Berlin\nrecollect usage --by project --since 30d\n"
    "recollect usage --explain 3f2a\nrecollect usage --more cache\nrecollect usage --by model --csv",
)
@click.option("--by", type=click.Choice(DIMENSIONS), default="day", show_default=True, help="What to group by.")
@click.option("--since", type=SINCE, help="Used since: 2026-03-02, 7d, yesterday.")
@click.option("--until", type=UNTIL, help="Used until; a day counts as a whole.")
@click.option("--timezone", metavar="Z", help="Time zone of the days, such as Europe/Berlin. Default: the system's.")
@click.option("--project", metavar="P", help="Only this project: a path, or the last part of one.")
@click.option("--session", metavar="SESSION", help="Only this session, its sub-agents included.")
@click.option("--model", metavar="M", help="Only models with this in their name.")
@click.option("--branch", metavar="B", help="Only work on this git branch.")
@click.option("--agent", metavar="ID", help="Only this sub-agent; `main` for what no sub-agent did.")
@click.option("--status", type=click.Choice(STATUSES), help="Only what became of it: still live, abandoned, ...")
@click.option(
    "--prices", type=click.Choice(["then", "today"]), default="then", show_default=True,
    help="Prices of the day of use, or today's.",
)  # fmt: skip
@click.option(
    "--explain", is_flag=False, flag_value="", metavar="[ID]", help="Every response with rule, price and line."
)
@click.option("--more", type=click.Choice(TOPICS), help="Beyond tokens: one of these topics.")
@click.option("--check", is_flag=True, help="Hold the client's own counts against ours.")
@click.option("--separate", is_flag=True, help="Do not count worktrees to their repository.")
@click.option("--limit", type=click.IntRange(min=0), help="At most so many rows; the totals stay.")
@click.option("--heat", is_flag=True, help="A map of the days instead of a table.")
@click.option("--csv", "as_csv", is_flag=True, help="Rows as CSV.")
@click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help="Draw a chart into an SVG or PNG file.")
def usage(
    face: Face, by: str, since: datetime | None, until: datetime | None, timezone: str | None, project: str | None,
    session: str | None, model: str | None, branch: str | None, agent: str | None, status: str | None, prices: str,
    explain: str | None, more: str | None, check: bool, separate: bool, limit: int | None, heat: bool, as_csv: bool,
    plot: str | None,
) -> None:  # fmt: skip
    """Tokens and cost: every API call once, at the price of its day."""
    from ...library.accounting import Selection, open_accounting

    chosen = Selection(
        micro(since), micro(until), project=project, session=session, model=model, branch=branch, agent=agent,
        status=status,
    )  # fmt: skip
    with open_accounting(face.homes, timezone=timezone, prices=prices) as accounting:
        if accounting.catalogue.problem:
            face.say(accounting.catalogue.problem)
        accounting.sync(face_progress(face))
        if explain is not None:
            from ..usage_explained import show_explained

            found = show_explained(face, accounting, chosen, explain, limit, as_csv=as_csv)
        elif more is not None:
            from ..usage_topics import show_topic

            found = show_topic(face, accounting, chosen, more, limit, as_csv=as_csv)
        elif check:
            found = _show_check(face, accounting, chosen)
        else:
            found = _show(face, accounting, chosen, by, separate, limit, heat, as_csv, plot)
    if not found:
        raise click.exceptions.Exit(1)


def face_progress(face: Face) -> Any:
    """A line on the terminal while a first report reads everything; nothing elsewhere."""
    import sys

    if not sys.stderr.isatty() or not face.is_text:
        return None

    def tell(done: int, total: int) -> None:
        sys.stderr.write("\r\x1b[K" if done >= total else f"\rreading {done:,} of {total:,} files")
        sys.stderr.flush()

    return tell


def micro(moment: datetime | None) -> int | None:
    """Microseconds since 1970."""
    return None if moment is None else round(moment.timestamp() * 1000) * 1000


def _show(
    face: Face, accounting: Accounting, chosen: Selection, by: str, separate: bool, limit: int | None, heat: bool,
    as_csv: bool, plot: str | None,
) -> bool:  # fmt: skip
    from ...analysis.usage import group_data
    from ..usage_text import csv_text

    report = accounting.usage(by, chosen, separate=separate)
    if plot is not None:
        from ..usage_plot import write_plot

        write_plot(report, plot)
        face.say(f"wrote {plot}")
    groups = report.groups
    if limit is not None:
        groups = groups[-limit:] if by in ("day", "week", "month", "year") and limit else groups[:limit]
    if as_csv:
        face.print(csv_text(group_data(group, by) for group in groups).rstrip("\n"))
    elif heat:
        _show_heat(face, accounting, chosen)
    elif face.is_text:
        _show_table(face, report, groups, by, accounting)
    else:
        from ..usage_text import report_totals

        face.rows([group_data(group, by) for group in groups], **report_totals(report, accounting))
    return report.totals.calls > 0


def _show_table(face: Face, report: UsageReport, groups: list[Any], by: str, accounting: Accounting) -> None:
    from ...analysis.usage import models_in_words
    from ..charts import bar, sparkline
    from ..usage_text import money, remarks, tokens
    from ..words import plural

    if not report.groups:
        face.say("no API calls found")
        return
    largest = max(group.totals.cost for group in report.groups)
    shorten = {"session": lambda text: text[:8], "project": _tail}.get(by, str)

    def row(name: str, totals: Any, models: Any, drawn: str) -> dict[str, Any]:
        counts = totals.counts
        return {
            "key": name, "models": ", ".join(models_in_words(models)), "calls": f"{totals.calls:,}",
            "input": tokens(counts.input), "output": ("≥" if totals.lower_bounds else "") + tokens(counts.output),
            "short": tokens(counts.cache_write_5m), "long": tokens(counts.cache_write_1h), "read": tokens(counts.cache_read),
            "searches": counts.web_searches or "", "cost": money(totals), "bar": drawn,
        }  # fmt: skip

    rows = [
        row(shorten(group.key), group.totals, group.models, bar(group.totals.cost, largest, 16)) for group in groups
    ]
    rows.append(row("total", report.totals, (), ""))
    columns = [
        Column("key", by), Column("models"), Column("calls", right=True), Column("input", right=True),
        Column("output", right=True), Column("short", "write 5m", right=True), Column("long", "write 1h", right=True),
        Column("read", "cache read", right=True), Column("searches", right=True), Column("cost", right=True),
        Column("bar", ""),
    ]  # fmt: skip
    hidden = {name for name in ("long", "searches") if all(item[name] in ("", "0") for item in rows)}
    face.table(rows, [column for column in columns if column.key not in hidden])
    if by in ("day", "week", "month") and len(report.groups) > 2:
        values = [group.totals.cost for group in report.groups[-60:]]
        face.print(f"\n{report.groups[-len(values)].key} {sparkline(values)} {report.groups[-1].key}")
    for remark in remarks(report):
        face.say(remark)
    if accounting.has_client_counts:
        differing = [item for item in accounting.comparisons() if not item.same_tokens]
        if differing:
            face.say(f"the client's own count differs for {plural(len(differing), 'session')}: see --check")


def _show_heat(face: Face, accounting: Accounting, chosen: Selection) -> None:
    from ..charts import heat_map

    report = accounting.usage("day", chosen)
    for line in heat_map({group.key: group.totals.cost for group in report.groups}):
        face.print(line)
    face.say("each column a week; darker days cost more (quarters of all days with usage)")


def _show_check(face: Face, accounting: Accounting, chosen: Selection) -> bool:
    found = accounting.comparisons(accounting.session_id(chosen.session) if chosen.session else None)
    if face.is_text:
        from ...analysis.cost import dollars

        face.rows(
            [
                {
                    "session_id": item.session_id[:8],
                    "same": "same" if item.same_tokens else "differs",
                    "ours": dollars(item.our_cost),
                    "client": dollars(item.their_cost),
                    "difference": ", ".join(f"{name} {amount:+,}" for name, amount in item.data()["difference"].items()),
                }
                for item in found
            ],
            (Column("session_id", "session"), Column("same", "tokens"), Column("ours", right=True),
             Column("client", right=True), Column("difference", "ours minus the client's", stretch=True)),
            empty="no client left a count of its own (they do since 2.1.325)",
        )  # fmt: skip
        face.say("the client also counts calls that it does not write down, such as those for titles")
    else:
        face.rows([item.data() for item in found], total=len(found))
    return bool(found)


def _tail(path: str) -> str:
    parts = path.replace("\\", "/").rstrip("/").split("/")
    return "/".join(parts[-2:]) if len(parts) > 2 else path
