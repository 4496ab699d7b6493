"""Putting a file back on disk as it was at a message: the diff is shown, asked for, and journaled."""

from __future__ import annotations

from ..library.session import Session
from ..store.file_contents import FileState
from .changing import carry_out, confirm
from .command_run import CommandRun


def restore_file(
    run: CommandRun, session: Session, path: str, state: FileState, output: str | None, *, dry_run: bool, yes: bool
) -> None:
    """Write the state to the file's own place (or `output`); a state in which it did not exist removes it."""
    with run.changes.restore_file(session, path, state, output=output) as plan:
        if run.is_text:
            for line in plan.result["diff"].splitlines():
                run.print(line)
        if not dry_run:
            target = plan.result["target"]
            confirm(f"{target} would be changed", yes=yes, question=f"Put {target} back as it was?")
        carry_out(run, plan, dry_run=dry_run, yes=True)
