"""`recollect budget`: set budgets, and see how they stand.

JSON: rows of {period, project, amount_micro_usd, used_micro_usd, percent, state, projected_micro_usd, first_day, last_day,
unpriced_calls, lower_bound_calls}, with total and timezone. `state` is ok, warning (from 80 % on) or exceeded. Exit code 1
where one is exceeded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..command_run import Column, CommandRun, command
from ..option_types import FILTER_VALUE

if TYPE_CHECKING:
    from ...library.budgets import Budget, BudgetState


@command(
    "budget",
    epilog="recollect budget set 50/month\nrecollect budget set 7.50/day --project myapp\nrecollect budget\n"
    "recollect budget remove month\nrecollect budget remove day --project myapp\nrecollect budget remove all",
)
@click.argument("action", required=False, type=click.Choice(["set", "remove"]))
@click.argument("amount", required=False, metavar="AMOUNT/PERIOD")
@click.option(
    "--project", type=FILTER_VALUE, metavar="P",
    help="For this project alone: its path, the end of it, or a folder above; any case.",
)  # fmt: skip
@click.option("--timezone", metavar="Z", help="Time zone of the days. Default: the system's.")
@click.option("--quiet", is_flag=True, help="Say something only where a budget is nearly used up; for hooks.")
def budget(
    run: CommandRun, action: str | None, amount: str | None, project: str | None, timezone: str | None, quiet: bool
) -> None:
    """Budgets per day, week, month or year. A warning from 80 % on; exit code 1 where one is exceeded."""
    from ...environment import own_folder
    from ...library.budgets import PERIODS, Budgets

    budgets = Budgets(own_folder("config"))  # set without a home, too
    if action is not None and (timezone is not None or quiet):
        raise click.UsageError(
            f"{'--quiet' if quiet else '--timezone'} is for looking at budgets, not for budget {action}"
        )
    if action == "set":
        if amount is None:
            raise click.UsageError("how much? for example: recollect budget set 50/month")
        run.say(f"set: {_whole(budgets.set(amount, project))}")
        return
    if action == "remove":
        if amount not in (*PERIODS, "all"):
            raise click.UsageError("remove which? day, week, month, year, or all")
        gone = budgets.remove(None if amount == "all" else amount, project)
        for item in gone:
            run.say(f"removed: {_whole(item)}")
        if not gone:
            run.say("there is no such budget")
        raise click.exceptions.Exit(0 if gone else 1)
    found = budgets.all(project)
    if not found:
        if run.is_text:
            if not quiet:
                for_it = "" if project is None else f" for {project}"
                run.say(f"no budget is set{for_it}: recollect budget set 50/month")
        else:
            run.rows([], total=0)
        return
    _show(run, found, timezone, quiet)


def _show(run: CommandRun, budgets: list[Budget], timezone: str | None, quiet: bool) -> None:
    from ...export.charts import bar
    from ...export.usage_remarks import lower_bound_remark, unpriced_remark

    ledger = run.library.ledger(timezone)
    states = run.library.budgets.states(budgets, ledger=ledger)
    zone = ledger.zone.name
    if not run.is_text:
        run.rows([item.data() for item in states], total=len(states), timezone=zone)
    elif not quiet:
        run.table(
            [
                {
                    "budget": f"{_words(item.budget.amount)} a {item.budget.period}", "project": item.budget.project or "all",
                    "used": _used(item), "percent": _percent(item),
                    "bar": bar(min(item.percent, 100), 100, 20),
                    "ahead": _used(item, item.projected), "until": item.last_day.isoformat(), "state": item.state,
                }
                for item in states
            ],
            (Column("budget"), Column("project"), Column("used", right=True), Column("percent", "", right=True),
             Column("bar", "", spare=True, drawn=True), Column("ahead", "projected", right=True), Column("until"),
             Column("state")),
        )  # fmt: skip
        run.print(f"days in {zone}")
        if unpriced := max((item.unpriced for item in states), default=0):
            run.say(unpriced_remark(unpriced))
        if lower_bounds := max((item.lower_bounds for item in states), default=0):
            run.say(lower_bound_remark(lower_bounds))
    for item in states:
        if item.state != "ok":
            share = f" ({_percent(item)})" if item.budget.amount else ""
            run.say(f"{item.state}: {_used(item)} of {_whole(item.budget)}{share}")
    if any(item.state == "exceeded" for item in states):
        raise click.exceptions.Exit(1)


def _used(item: BudgetState, amount: int | None = None) -> str:
    """Write what is used, or another sum of the same calls, with its marks."""
    from ...export.money import cost_in_words

    return cost_in_words(item.used if amount is None else amount, item.unpriced, item.lower_bounds)


def _percent(item: BudgetState) -> str:
    """Write the share that is used; nothing for a budget of 0."""
    return f"{item.percent:.0f} %" if item.budget.amount else ""


def _whole(made: Budget) -> str:
    return f"{_words(made.amount)} a {made.period}{f' for {made.project}' if made.project else ''}"


def _words(micro: int) -> str:
    from ...export.money import dollars

    return dollars(micro)
