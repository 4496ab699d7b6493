"""Show the plan of `recollect secrets --mask`, ask, carry it out, and say what is left. No value is ever printed.

JSON: the fields of `library.masking`, and `change` (its number in the journal, null on a dry run) and `dry_run`. Exit code 0
where nothing is left, 1 where something is, which is named.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import click

from ..export.formatting import plural
from .changing import confirm
from .command_run import Column, CommandRun

if TYPE_CHECKING:
    from ..library.masking import MaskPlan, Progress


def mask(
    run: CommandRun,
    only: Collection[str] | None = None,
    *,
    kinds: Collection[str] = (),
    min_confidence: str = "likely",
    ignore: Collection[str] = (),
    personal: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    everywhere: bool = False,
    same_length: bool = False,
    settings: bool = False,
) -> None:
    """Mask the values with these fingerprints for good; without any given, every value that is found."""
    with progress_bar() as progress:
        plan = run.changes.mask_found(
            only, kinds=kinds, min_confidence=min_confidence, ignore=ignore, personal=personal, everywhere=everywhere,
            same_length=same_length, settings=settings, progress=progress,
        )  # fmt: skip
    done = None
    if run.is_text:
        _show(run, plan)
    if plan.is_needed and not dry_run:
        confirm(plan.title, yes=yes, question=f"{plan.title}? This cannot be undone.")
        with progress_bar() as progress:
            plan.tell = progress
            done = plan.commit()
    if not run.is_text:
        run.value(plan.as_dict(done))
    elif done is not None:
        _tell(run, plan.result)
        run.print(plan.said)
    elif dry_run and plan.is_needed:
        run.say("nothing was changed")
    if plan.result["left"] or plan.result["problem"] is not None:
        raise click.exceptions.Exit(1)


def _show(run: CommandRun, plan: MaskPlan) -> None:
    """Show the plan: the values, the files, what loses its undo, what stays, and what cannot be reached."""
    result = plan.result
    if not plan.is_needed:
        run.print("nothing to mask")
        _stays(run, result["left"])
        return
    run.say("A key that stood here must be revoked: masking does not un-leak it.")
    run.table(
        result["values"],
        (
            Column("kind"),
            Column("fingerprint", "value"),
            Column("finds", right=True),
            Column("files", right=True),
            Column("advice", "revoke it there", stretch=True),
        ),
    )
    for file in result["files"]:
        thoughts = (
            f", {plural(file['thinking_removed'], 'thinking block')} as a whole" if file["thinking_removed"] else ""
        )
        run.print(f"  mask {file['path']}: {plural(file['finds'], 'find')}{thoughts}")
        if file["path"].startswith("file-history/"):
            run.print("    restoring that version of the file then brings the mask")
    for words in _own_words(result["own"]):
        run.print(f"  {words}")
    for change in result["without_undo"]:
        run.print(f"  change {change['number']} can then no longer be undone: {change['title']}")
    _stays(run, result["left"])
    run.say("Not reached from here: " + "; ".join(result["not_reached"]) + ".")


def _own_words(own: dict[str, Any]) -> Iterator[str]:
    if own["vault"]:
        yield f"rewrite the vault: {plural(own['vault'], 'kept file')} with a value"
    if own["journal"]:
        yield f"mask what {plural(own['journal'], 'change')} in the journal kept"
    for path in own["files"]:
        yield f"mask {path}"
    if own["index"]:
        yield "rebuild the index without them"


def _stays(run: CommandRun, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        run.say(f"stays: {row['path']}: {row['why']}")


def _tell(run: CommandRun, result: dict[str, Any]) -> None:
    for file in result["files"]:
        if file["after"] is not None:
            run.print(f"{file['path']}  {file['before'][:12]} -> {file['after'][:12]}")
    _stays(run, result["left"])
    if result["problem"] is not None:
        run.say(f"ended early: {result['problem']}")


@contextlib.contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """Yield a function that shows how far the work is; None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def tell(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or 1)

        yield tell
