"""`recollect budget`: set budgets, and see how they stand.

JSON: rows of {period, project, amount_micro_usd, used_micro_usd, percent, state, projected_micro_usd, first_day, last_day,
unpriced_calls}, with total and timezone. `state` is ok, warning (from 80 % on) or exceeded. Exit code 1 where one is exceeded.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from ..face import Column, Face, command

if TYPE_CHECKING:
    from ...analysis.budgets import Budget


@command(
    "budget",
    epilog="recollect budget set 50/month\nrecollect budget set 7.50/day --project myapp\nrecollect budget\n"
    "recollect budget remove month",
)
@click.argument("action", required=False, type=click.Choice(["set", "remove"]))
@click.argument("amount", required=False, metavar="AMOUNT/PERIOD")
@click.option("--project", metavar="P", help="For this project alone.")
@click.option("--timezone", metavar="Z", help="Time zone of the days. Default: the system's.")
@click.option("--quiet", is_flag=True, help="Say something only where a budget is nearly used up; for hooks.")
def budget(
    face: Face, action: str | None, amount: str | None, project: str | None, timezone: str | None, quiet: bool
) -> None:
    """Budgets per day, week, month or year. A warning from 80 % on; exit code 1 where one is exceeded."""
    from ...analysis.budgets import PERIODS, parse_budget
    from ...environment import own_folder
    from ...library.budgets import read_budgets, remove_budgets, set_budget

    folder = own_folder("config")
    if action == "set":
        if amount is None:
            raise click.UsageError("how much? for example: recollect budget set 50/month")
        made = parse_budget(amount, project)
        set_budget(folder, made)
        face.say(f"set: {_words(made.amount)} a {made.period}{f' for {project}' if project else ''}")
        return
    if action == "remove":
        if amount is not None and amount not in PERIODS:
            raise click.UsageError("remove which? day, week, month or year")
        gone = remove_budgets(folder, amount, project)
        face.say(f"removed {len(gone)} budgets" if gone else "there is no such budget")
        raise click.exceptions.Exit(0 if gone else 1)
    budgets = read_budgets(folder)
    if not budgets:
        if face.is_text:
            if not quiet:
                face.say("no budget is set: recollect budget set 50/month")
        else:
            face.rows([], total=0)
        return
    _show(face, budgets, timezone, quiet)


def _show(face: Face, budgets: list[Budget], timezone: str | None, quiet: bool) -> None:
    from ...library.accounting import open_accounting
    from ...library.budgets import budget_states
    from ..charts import bar

    with open_accounting(face.homes, timezone=timezone) as accounting:
        states = budget_states(accounting, budgets, time.time_ns() // 1000)
        zone = accounting.zone.name
    if not face.is_text:
        face.rows([item.data() for item in states], total=len(states), timezone=zone)
    elif not quiet:
        face.table(
            [
                {
                    "budget": f"{_words(item.budget.amount)} a {item.budget.period}", "project": item.budget.project or "all",
                    "used": _words(item.used), "percent": f"{item.percent:.0f} %", "bar": bar(min(item.percent, 100), 100, 20),
                    "ahead": _words(item.projected), "until": item.last_day.isoformat(), "state": item.state,
                }
                for item in states
            ],
            (Column("budget"), Column("project"), Column("used", right=True), Column("percent", "", right=True),
             Column("bar", ""), Column("ahead", "projected", right=True), Column("until"), Column("state")),
        )  # fmt: skip
        face.say(f"days in {zone}")
    for item in states:
        if item.state != "ok":
            whose = f" for {item.budget.project}" if item.budget.project else ""
            face.say(
                f"{item.state}: {_words(item.used)} of {_words(item.budget.amount)} a {item.budget.period}{whose} "
                f"({item.percent:.0f} %)"
            )
    if any(item.state == "exceeded" for item in states):
        raise click.exceptions.Exit(1)


def _words(micro: int) -> str:
    from ...analysis.cost import dollars

    return dollars(micro)
