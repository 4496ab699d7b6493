"""`recollect expensive`: the prompts that cost the most.

JSON: rows of {session_id, line, time, project, prompt, models, calls, input, output, cache_write_5m, cache_write_1h, cache_read,
thinking, web_searches, tokens, cost_micro_usd, unpriced_calls, lower_bound_calls, odd_calls, zoneless_calls}, with total,
totals, timezone and prices. A prompt's cost is that of every call up to the next prompt, its subagents' included.
"""

from __future__ import annotations

import click

from ..command_run import Column, CommandRun, command
from ..option_types import FILTER_VALUE, SINCE_IN_ZONE, UNTIL_IN_ZONE


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
    run: CommandRun, since: str | None, until: str | None, timezone: str | None, project: str | None,
    session: str | None, limit: int,
) -> None:  # fmt: skip
    """Prompts by what they set in motion: all calls up to the next prompt."""
    from ...export.formatting import one_line
    from ...export.moments import local_in
    from ...export.money import money, tokens
    from .usage import face_progress

    ledger = run.library.ledger(timezone)
    ledger.sync(face_progress(run))
    found = ledger.expensive(ledger.select(since=since, until=until, project=project, session=session), limit)
    rows = found.data()
    if run.is_text:
        clock = local_in(found.zone.info)
        run.rows(
            [
                {
                    "cost": money(item.totals), "calls": f"{row['calls']:,}", "tokens": tokens(row["tokens"]),
                    "time": clock(row["time"]) if row["time"] else "", "session": (row["session_id"] or "")[:8],
                    "prompt": one_line(row["prompt"], 160),
                }
                for (item, _), row in zip(found.rows, rows, strict=True)
            ],
            (Column("cost", right=True), Column("calls", right=True), Column("tokens", right=True), Column("time", "asked"),
             Column("session"), Column("prompt", stretch=True)),
            empty="no prompt led to a call",
        )  # fmt: skip
        if rows:
            run.print(f"times in {found.zone.name}")
    else:
        run.rows(
            rows, total=found.total, totals=found.totals.data(), timezone=found.zone.name, prices=found.prices
        )  # fmt: skip
    if not found.total:
        run.advise_on_project(project)
        raise click.exceptions.Exit(1)
