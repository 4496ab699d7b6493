"""`recollect usage`: tokens and money, by anything.

JSON: rows of {<by>, calls, input, output, cache_write_5m, cache_write_1h, cache_read, thinking, web_searches, tokens,
cost_micro_usd, unpriced_calls, lower_bound_calls, odd_calls, zoneless_calls, models}, where <by> is a field for each
grouping and `models` has the same fields by model; with by (several groupings have a comma between them), totals, timezone,
prices, unpriced_models, copies_not_counted, remarks, and client_counts (sessions for which Claude Code left its own count:
{session_id, same, ours, client, difference}). Money is whole micro-dollars.
With --explain: rows of {time, day, session_id, subagent_id, model, message_id, request_id, file, line, copies, recorded_in,
lower_bound, odd, zoneless, cost_micro_usd, rule, price_since, price_source, assumed, prices, parts}, with totals and omitted;
`parts` are {part, amount, usd_per_million, cost_micro_usd} and add up to the cost. With --more: rows by topic, see the guide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ..command_run import CommandRun, command
from ..option_types import FILTER_VALUE, SINCE_IN_ZONE, UNTIL_IN_ZONE

if TYPE_CHECKING:
    from ...library.usage import Group, Ledger, Selection, UsageReport

    _ParamType = click.ParamType[tuple[str, ...]]
else:  # generic only in the newest click
    _ParamType = click.ParamType

DIMENSIONS = ("day", "week", "month", "year", "session", "project", "model", "subagent", "branch", "tool")
STATUSES = ("live", "abandoned", "subagent", "precompact", "bridged", "unreachable")
_NOT_FOLLOWED = {
    # Claude Code counts whole sessions: a part of one cannot be compared with its count.
    "--check": ("--plot", "--csv", "--by", "--since", "--until", "--model", "--branch", "--subagent", "--status"),
    "--heat": ("--csv", "--json", "--by", "--limit"),
}
"""Options that a report does not use."""
TOPICS = ("cache", "speed", "tools", "context", "blocks", "hours", "changes", "commits", "prs")


class Groupings(_ParamType):
    """A click type: one grouping, or several separated by commas."""

    name = "grouping"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        names = tuple(value.split(",")) if isinstance(value, str) else tuple(value)
        for name in names:
            if name not in DIMENSIONS:
                self.fail(f"{name!r} is not a grouping: use {', '.join(DIMENSIONS)}", param, ctx)
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
@click.option("--check", is_flag=True, help="Hold Claude Code's own counts against ours.")
@click.option("--separate", is_flag=True, help="Do not count worktrees to their repository.")
@click.option("--limit", type=click.IntRange(min=0), help="At most so many rows; the totals stay.")
@click.option("--heat", is_flag=True, help="A map of the days instead of a table.")
@click.option("--csv", "as_csv", is_flag=True, help="Rows as CSV.")
@click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help="Draw a chart into an SVG or PNG file.")
def usage(
    run: CommandRun, by: tuple[tuple[str, ...], ...], since: str | None, until: str | None,
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
    if plot is not None:
        from ...export.usage_plot import ENDINGS

        if not plot.lower().endswith(ENDINGS):
            raise click.UsageError("--plot writes .svg and .png files")
    ledger = run.library.ledger(timezone, prices)
    chosen = ledger.select(
        since=since, until=until, project=project, session=session, model=model, branch=branch, subagent=subagent,
        status=status,
    )  # fmt: skip
    ledger.sync(face_progress(run))
    if explain is not None:
        found = _show_explained(run, ledger, chosen, explain, limit, as_csv=as_csv)
    elif more is not None:
        found = _show_topic(run, ledger, chosen, more, limit, as_csv=as_csv)
    elif check:
        found = _show_check(run, ledger, chosen, limit)
    else:
        names = tuple(dict.fromkeys(name for given in by for name in given)) or ("day",)
        found = _show(run, ledger, chosen, names, separate, limit, heat, as_csv, plot)
    if not found:
        run.advise_on_project(project)
        raise click.exceptions.Exit(1)


def face_progress(run: CommandRun) -> Any:
    """Return a function that shows on the terminal how many files are read; None without a terminal."""
    import sys

    if not sys.stderr.isatty() or not run.is_text:
        return None

    def tell(done: int, total: int) -> None:
        sys.stderr.write("\r\x1b[K" if done >= total else f"\rreading {done:,} of {total:,} files")
        sys.stderr.flush()

    return tell


def _refuse_what_excludes(kinds: dict[str, bool], ways: dict[str, bool]) -> None:
    """Raise UsageError if two options exclude each other, instead of ignoring one silently."""
    asked = [name for name, given in kinds.items() if given]
    if len(asked) > 1:
        raise click.UsageError(f"{asked[0]} and {asked[1]} are two reports: ask for one of them")
    chosen = [name for name, given in ways.items() if given]
    if {"--csv", "--json"} <= set(chosen):
        raise click.UsageError("--csv and --json are two forms: ask for one of them")
    for name in chosen:
        if asked and name in _NOT_FOLLOWED.get(asked[0], ("--plot", "--by")):
            raise click.UsageError(f"{asked[0]} has no {name}")


def _show(
    run: CommandRun, ledger: Ledger, chosen: Selection, by: tuple[str, ...], separate: bool, limit: int | None, heat: bool,
    as_csv: bool, plot: str | None,
) -> bool:  # fmt: skip
    """Show usage as a table, a map, CSV or JSON. Returns whether there was any."""
    from ...export import usage_table
    from ...library.usage import PERIODS

    report = ledger.usage(by, chosen, separate_worktrees=separate)
    found = report.totals.calls > 0
    if plot is not None and found:
        from ...environment import font_folders
        from ...export.usage_plot import write_plot

        bars = tuple(name for name in by if name != "model") or by  # each bar shows its models anyway
        drawn = report if bars == by else ledger.usage(bars, chosen, separate_worktrees=separate)
        write_plot(drawn, plot, font_folders())
        run.say(f"wrote {plot}")
    groups = report.groups
    if limit is not None:
        groups = groups[-limit:] if by[0] in PERIODS and limit else groups[:limit]
    if run.is_text and not found:
        run.say("no API calls found" + (": no chart is written" if plot is not None else ""))
    if as_csv:
        run.print(usage_table.usage_csv(report, groups).rstrip("\n"))
    elif run.is_text and not found:
        pass
    elif heat:
        from ...export.usage_heat import usage_heat

        drawn_days = usage_heat(ledger.usage("day", chosen))
        for line in drawn_days.lines:
            run.print(line)
        for remark in drawn_days.remarks:
            run.say(remark)
    elif run.is_text:
        _show_table(run, ledger, chosen, report, groups)
    else:
        comparisons = ledger.comparisons(chosen) if ledger.has_client_counts else []
        run.rows([group.data(report.by) for group in groups], **usage_table.report_totals(report, comparisons))
    return found


def _show_table(run: CommandRun, ledger: Ledger, chosen: Selection, report: UsageReport, groups: list[Group]) -> None:
    from ...export.formatting import plural
    from ...export.usage_remarks import remarks
    from ...export.usage_table import usage_table, usage_trend

    run.table(*usage_table(report, groups))
    trend = usage_trend(report)
    rule, *others = remarks(report)
    if trend is not None:
        run.print(f"\n{trend.line}")
        others = [trend.remark, *others] if trend.remark else others
    run.print(rule)  # days mean nothing without their time zone
    for remark in others:
        run.say(remark)
    if ledger.has_client_counts:
        differing = [item for item in ledger.comparisons(chosen) if not item.same]
        if differing:
            run.say(f"Claude Code's own count differs for {plural(len(differing), 'session')}: see --check")


def _show_check(run: CommandRun, ledger: Ledger, chosen: Selection, limit: int | None) -> bool:
    """Show Claude Code's own counts beside ours. Returns whether there are any."""
    found = ledger.comparisons(chosen)
    if run.is_text:
        from ...export.usage_table import comparison_table

        rows, columns = comparison_table(found[:limit])
        run.rows(rows, columns, empty="Claude Code left no count of its own (it does since 2.1.325)")
        run.say("Claude Code also counts calls that it does not write down, such as those for titles")
    else:
        run.rows([item.data() for item in found[:limit]], total=len(found))
    return bool(found)


def _show_explained(
    run: CommandRun, ledger: Ledger, chosen: Selection, ident: str, limit: int | None, *, as_csv: bool
) -> bool:
    """Show calls one by one with the parts of their cost. Returns whether there are any."""
    from ...export import usage_explained

    found = ledger.explain(chosen, ident)
    if not run.is_text:
        run.rows(
            found.rows[:limit], total=found.total, totals=found.totals.data(), timezone=found.zone, prices=found.prices,
            price_source=found.price_source, omitted=list(found.omitted),
        )  # fmt: skip
    elif not found.rows:
        run.say("no API call fits")
    elif as_csv:
        from ...export.csv_text import csv_names, csv_text

        names = [*csv_names(found.rows), "timezone"]
        run.print(csv_text((row | {"timezone": found.zone} for row in found.rows[:limit]), names).rstrip("\n"))
    else:
        shown = found.rows[: usage_explained.SHOWN if limit is None else limit]
        for row in shown:
            run.print_styled(run.style(usage_explained.heading(row), bold=True))
            for line in usage_explained.explained_lines(row):
                run.print(line)
        for line in usage_explained.explained_end(found.rows, len(shown), found.totals):
            run.print(line)
        run.say("no transcript tells of: " + "; ".join(found.omitted))
    return bool(found.rows)


def _show_topic(
    run: CommandRun, ledger: Ledger, chosen: Selection, name: str, limit: int | None, *, as_csv: bool
) -> bool:
    """Show one topic beyond tokens. Returns whether there is anything to show."""
    from ...export.usage_topics import WITH_TIMES, topic_table, window_parts_table
    from ...library.usage_topics import topic

    found = topic(ledger, name, chosen)
    if as_csv and found.rows:
        from ...export.csv_text import csv_names, csv_text

        shown = found.rows[:limit]
        names = [*csv_names(shown or found.rows), "timezone"]
        run.print(csv_text((row | {"timezone": found.zone} for row in shown), names).rstrip("\n"))
    elif not run.is_text:
        run.rows(
            found.rows[:limit], topic=name, total=len(found.rows), timezone=found.zone, prices=found.prices, **found.beside
        )  # fmt: skip
    elif not found.rows:
        run.say("nothing found")
    else:
        table = topic_table(
            name, found.rows, found.beside, limit=limit, zone=ledger.zone.info, timelines=found.timelines
        )
        run.table(table.rows, table.columns)
        for row in found.rows[:limit]:
            if row.get("filled_by"):
                run.print("")
                run.table(*window_parts_table(row["filled_by"]))
        for line in table.lines:
            run.print(line)
        if name in WITH_TIMES:
            run.print(f"times in {found.zone}")
        for remark in table.remarks:
            run.say(remark)
    return bool(found.rows)
