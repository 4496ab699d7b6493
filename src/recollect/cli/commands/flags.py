"""`recollect flags`: feature gates and dynamic configs that the client keeps.

JSON: rows of {kind, name, value, rule_id, source, renewed, home}, with total, gates_on, gates_off and problems (a list
of {path, problem}). `kind` is gate, config or layer; `source` is the file: one of `statsig/`, or the global config,
where clients since about 1.0.128 keep a copy. Most names are hashes made by the flag server.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from recollect.cli.command_run import Column, CommandRun, command
from recollect.export.formatting import iso
from recollect.store.config_files import CachedFlags, cached_flags, client_config
from recollect.store.home import Home


@command("flags", epilog="recollect flags\nrecollect flags --kind gate --json\nrecollect flags tengu")
@click.argument("name", required=False)
@click.option("--kind", type=click.Choice(["gate", "config", "layer"]), help="Only these.")
def flags(run: CommandRun, name: str | None, kind: str | None) -> None:
    """Feature gates and dynamic configs from the client's caches; with NAME those whose name holds it."""
    rows: list[dict[str, Any]] = []
    problems: list[dict[str, str]] = []
    for home in run.library.homes:
        for cached in cached_flags(home):
            rows += _cached_rows(home, cached)
            if cached.evaluations.problem is not None:
                problems.append({"path": str(cached.file.path), "problem": cached.evaluations.problem})
        rows += _config_rows(home)
    found = [row for row in rows if (kind is None or row["kind"] == kind) and (name is None or name in row["name"])]
    run.rows(
        found,
        (
            Column("kind"),
            Column("name"),
            Column("value", show=lambda value: json.dumps(value, ensure_ascii=False), stretch=True),
            Column("source"),
        ),
        empty="no feature flags are kept here",
        total=len(found),
        gates_on=sum(row["kind"] == "gate" and row["value"] is True for row in found),
        gates_off=sum(row["kind"] == "gate" and row["value"] is False for row in found),
        problems=problems,
    )
    for problem in problems if run.is_text else ():
        run.say(f"{problem['path']}: {problem['problem']}")
    if not found:
        raise click.exceptions.Exit(1)


def _cached_rows(home: Home, cached: CachedFlags) -> Iterator[dict[str, Any]]:
    evaluations = cached.evaluations
    shared = {
        "source": f"statsig/{cached.file.path.name}",
        "renewed": iso(cached.renewed or evaluations.received_at),
        "home": str(home.root),
    }
    for gate in evaluations.gates:
        yield {"kind": "gate", "name": gate.name or gate.key, "value": gate.value, "rule_id": gate.rule_id, **shared}
    for kind, configs in (("config", evaluations.dynamic_configs), ("layer", evaluations.layer_configs)):
        for config in configs:
            yield {
                "kind": kind,
                "name": config.name or config.key,
                "value": config.value,
                "rule_id": config.rule_id,
                **shared,
            }


def _config_rows(home: Home) -> Iterator[dict[str, Any]]:
    config = client_config(home)
    if config is None:
        return
    shared = {"rule_id": None, "source": home.config_file.name, "renewed": None, "home": str(home.root)}
    for kind, values in (("gate", config.cached_gates), ("config", config.cached_configs)):
        for name, value in values.items():
            yield {"kind": kind, "name": name, "value": value, **shared}
