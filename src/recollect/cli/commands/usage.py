"""`recollect usage`: tokens and money, by anything.

JSON: rows of {<by>, calls, input, output, cache_write_5m, cache_write_1h, cache_read, thinking, web_searches, tokens,
cost_micro_usd, unpriced_calls, lower_bound_calls, odd_calls, zoneless_calls, models}, where <by> is a field for each
grouping and `models` has the same fields by model; with by (several groupings have a comma between them), totals, timezone,
prices, unpriced_models, copies_not_counted, remarks, and client_counts (sessions for which the client left its own count:
{session_id, same, ours, client, difference}). Money is whole micro-dollars.
With --explain: rows of {time, day, session_id, subagent_id, model, message_id, request_id, file, line, copies, recorded_in,
lower_bound, odd, zoneless, cost_micro_usd, rule, price_since, price_source, assumed, prices, parts}, with totals and omitted;
`parts` are {part, amount, usd_per_million, cost_micro_usd} and add up to the cost. With --more: rows by topic, see the guide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ..command_run import Column, CommandRun, command
from ..filter_values import FILTER_VALUE
from ..moments import SINCE_IN_ZONE, UNTIL_IN_ZONE, TypedMoment, micro

if TYPE_CHECKING:
    from ...library.accounting import Accounting, Selection

    _ParamType = click.ParamType[tuple[str, ...]]
else:  # generic only in the newest click
    _ParamType = click.ParamType

DIMENSIONS = ("day", "week", "month", "year", "session", "project", "model", "subagent", "branch", "tool")
STATUSES = ("live", "abandoned", "subagent", "precompact", "bridged", "unreachable")
_NOT_FOLLOWED = {
    # The client counts whole sessions: no part of one can be held against its count.
    "--check": ("--plot", "--csv", "--by", "--since", "--until", "--model", "--branch", "--subagent", "--status"),
    "--heat": ("--csv", "--json", "--by", "--limit"),
}
"""Options that a report cannot follow."""
TOPICS = ("cache", "speed", "tools", "context", "blocks", "hours", "changes", "commits", "prs")


class Groupings(_ParamType):
    """One of the groupings, or several with commas between them."""

    name = "grouping"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        names = tuple(value.split(",")) if isinstance(value, str) else tuple(value)
        for name in names:
            if name not in DIMENSIONS:
                self.fail(f"{name!r} is no grouping: use {', '.join(DIMENSIONS)}", param, ctx)
        return names

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        return [CompletionItem(before + comma + name) for name in DIMENSIONS if name.startswith(last)]


@command(
    "usage",
    epilog="recollect usage\nrecollect usage --by month --timezone Europe/Berlin\nrecollect usage --by project --since 30d\n"
    "recollect usage --by day --by model\nrecollect usage --explain 3f2a\nrecollect usage --more cache\n"
    "recollect usage --by model --csv",
)
@click.option(
    "--by", type=Groupings(), multiple=True, metavar="WHAT",
    help=f"What to group by: {', '.join(DIMENSIONS)}. Several: day,model, or --by twice. Default: day.",
)  # fmt: skip
@click.option("--since", type=SINCE_IN_ZONE, help="Used since: 2026-03-02, 7d, yesterday.")
@click.option("--until", type=UNTIL_IN_ZONE, help="Used until; a day counts as a whole.")
@click.option("--timezone", metavar="Z", help="Time zone of the days, such as Europe/Berlin. Default: the system's.")
@click.option(
    "--project", type=FILTER_VALUE, metavar="P",
    help="Only this project: its path, the end of it, or a folder above; any case.",
)  # fmt: skip
@click.option("--session", type=FILTER_VALUE, metavar="SESSION", help="Only this session, its subagents included.")
@click.option("--model", type=FILTER_VALUE, metavar="M", help="Only models with this in their name.")
@click.option("--branch", type=FILTER_VALUE, metavar="B", help="Only work on this git branch.")
@click.option(
    "--subagent", type=FILTER_VALUE, metavar="ID", help="Only this subagent; `main` for what no subagent did."
)
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
    run: CommandRun, by: tuple[tuple[str, ...], ...], since: TypedMoment | None, until: TypedMoment | None,
    timezone: str | None, project: str | None, session: str | None, model: str | None, branch: str | None,
    subagent: str | None, status: str | None, prices: str, explain: str | None, more: str | None, check: bool, separate: bool,
    limit: int | None, heat: bool, as_csv: bool, plot: str | None,
) -> None:  # fmt: skip
    """Tokens and cost: every API call once, at the price of its day."""
    _refuse_what_excludes(
        {"--explain": explain is not None, "--more": more is not None, "--check": check, "--heat": heat},
        {
            "--plot": plot is not None, "--csv": as_csv, "--json": not run.is_text, "--by": bool(by),
            "--limit": limit is not None, "--since": since is not None, "--until": until is not None,
            "--model": model is not None, "--branch": branch is not None, "--subagent": subagent is not None,
            "--status": status is not None,
        },
    )  # fmt: skip
    from ...library.accounting import Selection, open_accounting

    with open_accounting(run.homes, timezone=timezone, prices=prices, tell=run.say) as accounting:
        chosen = Selection(
            micro(since, accounting.zone), micro(until, accounting.zone), project=project, session=session, model=model,
            branch=branch, subagent=subagent, status=status,
        )  # fmt: skip
        if accounting.catalogue.problem:
            run.say(accounting.catalogue.problem)
        accounting.sync(face_progress(run))
        if explain is not None:
            from ..usage_explained import show_explained

            found = show_explained(run, accounting, chosen, explain, limit, as_csv=as_csv)
        elif more is not None:
            from ..usage_topics import show_topic

            found = show_topic(run, accounting, chosen, more, limit, as_csv=as_csv)
        elif check:
            found = _show_check(run, accounting, chosen, limit)
        else:
            names = tuple(dict.fromkeys(name for given in by for name in given)) or ("day",)
            found = _show(run, accounting, chosen, names, separate, limit, heat, as_csv, plot)
    if not found:
        run.advise_on_project(project)
        raise click.exceptions.Exit(1)


def face_progress(run: CommandRun) -> Any:
    """A line on the terminal while a first report reads everything; nothing elsewhere."""
    import sys

    if not sys.stderr.isatty() or not run.is_text:
        return None

    def tell(done: int, total: int) -> None:
        sys.stderr.write("\r\x1b[K" if done >= total else f"\rreading {done:,} of {total:,} files")
        sys.stderr.flush()

    return tell


def _refuse_what_excludes(kinds: dict[str, bool], ways: dict[str, bool]) -> None:
    """Of what excludes each other, nothing is left out without a word."""
    asked = [name for name, given in kinds.items() if given]
    if len(asked) > 1:
        raise click.UsageError(f"{asked[0]} and {asked[1]} are two reports: ask for one of them")
    told = [name for name, given in ways.items() if given]
    if {"--csv", "--json"} <= set(told):
        raise click.UsageError("--csv and --json are two forms: ask for one of them")
    for name in told:
        if asked and name in _NOT_FOLLOWED.get(asked[0], ("--plot", "--by")):
            raise click.UsageError(f"{asked[0]} has no {name}")


def _show(
    run: CommandRun, accounting: Accounting, chosen: Selection, by: tuple[str, ...], separate: bool, limit: int | None,
    heat: bool, as_csv: bool, plot: str | None,
) -> bool:  # fmt: skip
    from ...analysis.usage import PERIODS, group_data
    from ..usage_text import csv_text, report_totals

    report = accounting.usage(by, chosen, separate=separate)
    found = report.totals.calls > 0
    if plot is not None and found:
        from ..usage_plot import write_plot

        bars = tuple(name for name in by if name != "model") or by  # each bar shows its models anyway
        write_plot(report if bars == by else accounting.usage(bars, chosen, separate=separate), plot)
        run.say(f"wrote {plot}")
    groups = report.groups
    if limit is not None:
        groups = groups[-limit:] if by[0] in PERIODS and limit else groups[:limit]
    if run.is_text and not found:
        run.say("no API calls found" + (": no chart is written" if plot is not None else ""))
    if as_csv:
        rows = [group_data(group, report.by) | {"timezone": report.zone} for group in groups]
        run.print(csv_text(rows, (*by, *report.totals.data(), "timezone")).rstrip("\n"))
    elif run.is_text and not found:
        pass
    elif heat:
        _show_heat(run, accounting, chosen)
    elif run.is_text:
        from ..usage_table import show_table

        show_table(run, report, groups, accounting, chosen)
    else:
        run.rows([group_data(group, report.by) for group in groups], **report_totals(report, accounting, chosen))
    return found


def _show_heat(run: CommandRun, accounting: Accounting, chosen: Selection) -> None:
    from ...analysis.totals import Totals
    from ...analysis.usage import NO_TIME
    from ..charts import days_before_the_map, heat_map, not_in_future
    from ..usage_text import money

    report = accounting.usage("day", chosen)
    # A day of calls without a known price was a day of work, too.
    drawn, later = not_in_future({group.key: max(group.totals.cost, 1) for group in report.groups})
    for line in heat_map(drawn):
        run.print(line)
    run.print(f"days in {report.zone}")
    if later:
        run.say(later)
    older = days_before_the_map(drawn)
    for keys, words in (({*older}, f"up to {older[-1]}" if older else ""), ({NO_TIME}, "without a time")):
        rest = Totals()
        for group in report.groups:
            if group.key in keys:
                rest.join(group.totals)
        if rest.calls:
            run.say(f"not drawn: {money(rest)} {words}")
    run.say("each column a week; darker days cost more (quarters of all days with usage)")


def _show_check(run: CommandRun, accounting: Accounting, chosen: Selection, limit: int | None) -> bool:
    found = accounting.comparisons(chosen)
    if run.is_text:
        from ...analysis.cost import dollars

        run.rows(
            [
                {
                    "session_id": item.session_id[:8],
                    "same": "same" if item.same else "unreadable" if item.problem else "differs",
                    "ours": dollars(item.our_cost),
                    "client": "" if item.problem else dollars(item.their_cost),
                    "difference": item.in_words(),
                }
                for item in found[:limit]
            ],
            (Column("session_id", "session"), Column("same", "count"), Column("ours", right=True),
             Column("client", right=True), Column("difference", "ours minus the client's", stretch=True)),
            empty="no client left a count of its own (they do since 2.1.325)",
        )  # fmt: skip
        run.say("the client also counts calls that it does not write down, such as those for titles")
    else:
        run.rows([item.data() for item in found[:limit]], total=len(found))
    return bool(found)
