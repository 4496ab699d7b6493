"""`recollect plans`: the plans of plan mode, and one of them in full.

JSON: rows of {slug, title, modified, bytes, path, home, problem}, with total; for one plan an object of the same fields
with its `text`.
"""

from __future__ import annotations

from typing import Any

import click

from recollect.cli.command_run import Column, CommandRun, command
from recollect.cli.moments import iso, local
from recollect.cli.plain import used_columns
from recollect.errors import NotFound
from recollect.store.home import Home
from recollect.store.side_files import StoredDocument
from recollect.store.side_files import plans as plans_of

COLUMNS = (
    Column("slug", "plan"),
    Column("title", stretch=True),
    Column("modified", show=local),
    Column("bytes", right=True),
    Column("problem"),
)


@command("plans", epilog="recollect plans\nrecollect plans brave-otter")
@click.argument("slug", required=False)
def plans(run: CommandRun, slug: str | None) -> None:
    """Plans of plan mode, newest first; with SLUG (or the start of one) the text of a plan."""
    found = [(home, plan) for home in run.library.homes for plan in plans_of(home)]
    if slug is not None:
        _show(run, *_choose(found, slug))
        return
    rows = sorted((_row(home, plan) for home, plan in found), key=lambda row: row["modified"] or "", reverse=True)
    run.rows(
        rows,
        used_columns(rows, COLUMNS),
        empty="no plans",
        total=len(rows),
    )
    if not rows:
        raise click.exceptions.Exit(1)


def _choose(found: list[tuple[Home, StoredDocument]], slug: str) -> tuple[Home, StoredDocument]:
    matching = [pair for pair in found if pair[1].name == slug] or [
        pair for pair in found if pair[1].name.startswith(slug)
    ]
    if len(matching) == 1:
        return matching[0]
    names = tuple(plan.name for _, plan in matching or found)[:10]
    if matching:
        raise NotFound(f"{slug!r} is the start of {len(matching)} plans", slug="ambiguous-plan", nearest=names)
    raise NotFound(f"no plan named {slug!r}", slug="no-such-plan", nearest=names, hint="recollect plans lists them")


def _show(run: CommandRun, home: Home, plan: StoredDocument) -> None:
    if not run.is_text:
        run.value(_row(home, plan) | {"text": plan.document.text})
        return
    if plan.document.problem is not None:
        run.say(f"{plan.file.path}: {plan.document.problem}")
    run.print(plan.document.text.removesuffix("\n"))


def _row(home: Home, plan: StoredDocument) -> dict[str, Any]:
    return {
        "slug": plan.name,
        "title": plan.document.title,
        "modified": iso(plan.file.modified),
        "bytes": plan.file.size,
        "path": str(plan.file.path),
        "home": str(home.root),
        "problem": plan.document.problem,
    }
