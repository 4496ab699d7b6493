"""`recollect expensive`: the prompts that cost the most.

JSON: rows of {session_id, line, time, project, prompt, models, calls, input, output, cache_write_5m, cache_write_1h, cache_read,
thinking, web_searches, tokens, cost_micro_usd, unpriced_calls, lower_bound_calls, odd_calls, zoneless_calls}, with total,
totals, timezone and prices. A prompt's cost is that of every call up to the next prompt, its subagents' included.
"""

from __future__ import annotations

import click

from ..command_run import Column, CommandRun, command
from ..filter_values import FILTER_VALUE
from ..moments import SINCE_IN_ZONE, UNTIL_IN_ZONE, TypedMoment, local_in, micro


@command(
    "expensive",
    epilog="recollect expensive\nrecollect expensive --since 7d --limit 5\nrecollect expensive --project myapp --json",
)
@click.option("--since", type=SINCE_IN_ZONE, help="Used since: 2026-03-02, 7d, yesterday.")
@click.option("--until", type=UNTIL_IN_ZONE, help="Used until.")
@click.option(
    "--timezone", metavar="Z", help="Time zone of the days and times, such as Europe/Berlin. Default: the system's."
)
@click.option(
    "--project", type=FILTER_VALUE, metavar="P",
    help="Only this project: its path, the end of it, or a folder above; any case.",
)  # fmt: skip
@click.option("--session", type=FILTER_VALUE, metavar="SESSION", help="Only this session.")
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="At most so many.")
def expensive(
    run: CommandRun, since: TypedMoment | None, until: TypedMoment | None, timezone: str | None, project: str | None,
    session: str | None, limit: int,
) -> None:  # fmt: skip
    """Prompts by what they set in motion: all calls up to the next prompt."""
    from ...analysis.prompts import prompt_costs
    from ...analysis.totals import Totals
    from ...export.formatting import one_line
    from ...index.catalogue.reading_back import EntryReader
    from ...index.catalogue.schema import FLAGS
    from ...library.accounting import Selection, open_accounting
    from ..usage_text import money, tokens
    from .usage import face_progress

    with open_accounting(run.homes, timezone=timezone, tell=run.say) as accounting:
        chosen = Selection(
            micro(since, accounting.zone), micro(until, accounting.zone), project=project, session=session
        )
        accounting.sync(face_progress(run))
        found = prompt_costs(accounting.entries(), accounting.responses(chosen), accounting.book, FLAGS["prompt"])
        totals = Totals()
        for item in found:
            totals.join(item.totals)
        with EntryReader(accounting.place_of) as reader:
            rows = [{**item.data(reader), "totals": item.totals} for item in found[:limit]]
        zone, prices, local = accounting.zone.name, accounting.book.version, local_in(accounting.zone)
    if run.is_text:
        run.rows(
            [
                {
                    "cost": money(row["totals"]), "calls": f"{row['calls']:,}", "tokens": tokens(row["tokens"]),
                    "time": local(row["time"]) if row["time"] else "", "session": (row["session_id"] or "")[:8],
                    "prompt": one_line(row["prompt"], 160),
                }
                for row in rows
            ],
            (Column("cost", right=True), Column("calls", right=True), Column("tokens", right=True), Column("time", "asked"),
             Column("session"), Column("prompt", stretch=True)),
            empty="no prompt led to a call",
        )  # fmt: skip
        if rows:
            run.print(f"times in {zone}")
    else:
        run.rows(
            [{key: value for key, value in row.items() if key != "totals"} for row in rows],
            total=len(found), totals=totals.data(), timezone=zone, prices=prices,
        )  # fmt: skip
    if not found:
        run.advise_on_project(project)
        raise click.exceptions.Exit(1)
