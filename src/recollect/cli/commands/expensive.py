"""`recollect expensive`: the prompts that cost the most.

JSON: rows of {session_id, line, time, project, prompt, models, calls, input, output, cache_write_5m, cache_write_1h, cache_read,
thinking, web_searches, tokens, cost_micro_usd, unpriced_calls, lower_bound_calls, odd_calls}, with total, totals, timezone and
prices. A prompt's cost is that of every call up to the next prompt, its sub-agents' included.
"""

from __future__ import annotations

from datetime import datetime

import click

from ..face import Column, Face, command
from ..moments import SINCE, UNTIL, local


@command(
    "expensive",
    epilog="recollect expensive\nrecollect expensive --since 7d --limit 5\nrecollect expensive --project myapp --json",
)
@click.option("--since", type=SINCE, help="Used since: 2026-03-02, 7d, yesterday.")
@click.option("--until", type=UNTIL, help="Used until.")
@click.option("--project", metavar="P", help="Only this project.")
@click.option("--session", metavar="SESSION", help="Only this session.")
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="At most so many.")
def expensive(
    face: Face, since: datetime | None, until: datetime | None, project: str | None, session: str | None, limit: int
) -> None:
    """Prompts by what they set in motion: all calls up to the next prompt."""
    from ...analysis.prompts import prompt_costs
    from ...analysis.totals import Totals
    from ...index.reading_back import EntryReader
    from ...index.schema import FLAGS
    from ...library.accounting import Selection, open_accounting
    from ...store.summary import one_line
    from ..usage_text import money, tokens
    from .usage import face_progress, micro

    chosen = Selection(micro(since), micro(until), project=project, session=session)
    with open_accounting(face.homes) as accounting:
        accounting.sync(face_progress(face))
        found = prompt_costs(accounting.entries(), accounting.responses(chosen), accounting.book, FLAGS["prompt"])
        totals = Totals()
        for item in found:
            totals.join(item.totals)
        with EntryReader(accounting.place_of) as reader:
            rows = [{**item.data(reader), "totals": item.totals} for item in found[:limit]]
        zone, prices = accounting.zone.name, accounting.book.version
    if face.is_text:
        face.rows(
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
    else:
        face.rows(
            [{key: value for key, value in row.items() if key != "totals"} for row in rows],
            total=len(found), totals=totals.data(), timezone=zone, prices=prices,
        )  # fmt: skip
    if not found:
        raise click.exceptions.Exit(1)
