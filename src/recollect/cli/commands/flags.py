"""`recollect flags`: feature gates and dynamic configs that Claude Code keeps.

JSON: rows of {kind, name, value, rule_id, source, renewed, home}, with total, gates_on, gates_off and problems (a list
of {path, problem}). `kind` is gate, config or layer; `source` is the file: one of `statsig/`, or the global config,
where versions since about 1.0.128 keep a copy. Most names are hashes made by the flag server.
"""

from __future__ import annotations

import json

import click

from ..command_run import Column, CommandRun, command


@command("flags", epilog="recollect flags\nrecollect flags --kind gate --json\nrecollect flags tengu")
@click.argument("name", required=False)
@click.option("--kind", type=click.Choice(["gate", "config", "layer"]), help="Only these.")
def flags(run: CommandRun, name: str | None, kind: str | None) -> None:
    """Feature gates and dynamic configs from the caches of Claude Code; with NAME those whose name holds it."""
    found = run.library.flags(name, kind=kind)
    rows, problems = found.rows, found.problems
    run.rows(
        rows,
        (
            Column("kind"),
            Column("name"),
            Column("value", show=lambda value: json.dumps(value, ensure_ascii=False), stretch=True),
            Column("source"),
        ),
        empty="no feature flags are kept here",
        total=len(rows),
        gates_on=sum(row["kind"] == "gate" and row["value"] is True for row in rows),
        gates_off=sum(row["kind"] == "gate" and row["value"] is False for row in rows),
        problems=problems,
    )
    for problem in problems if run.is_text else ():
        run.say(f"{problem['path']}: {problem['problem']}")
    if not rows:
        raise click.exceptions.Exit(1)
