"""`recollect repair`: a damaged session resumes with everything again.

JSON: rows: {session_id, path, target, fork, before {found, reachable_share, messages}, after {...}, fixes [{fix, words, places,
path}], refused, fragments, side_file, change, steps}, with home_files [{home, done, left, change, steps}] where they were asked
for; total, dry_run.
"""

from __future__ import annotations

from typing import Any

import click

from ...errors import RecollectError
from ...library.checking import files_of, needs_repair
from ...store.changes import Change
from ...store.repair.home_files import plan_home_repair
from ...store.repair.plan import RepairResult, Standing, plan_repair
from ...store.scan import SessionFile
from ..changing import confirm, session_to_change, tell_undo, yes_option
from ..face import Face, command, complete_session
from ..words import plural

EXAMPLES = """
recollect repair 3f2a
recollect repair 3f2a --apply
recollect repair --all --apply --yes
recollect repair 3f2a --fork --apply
recollect repair 3f2a --rule image-too-large --apply
recollect repair --all --home-files
"""


@command("repair", epilog=EXAMPLES)
@click.argument("session", required=False, shell_complete=complete_session)
@click.option("--project", metavar="P", help="All sessions of this project.")
@click.option("--all", "everything", is_flag=True, help="All sessions.")
@click.option("--home-files", is_flag=True, help="The global config and the client's lists of sessions.")
@click.option("--rule", "rules", multiple=True, metavar="CODE", help="Only what this rule finds. May be repeated.")
@click.option("--fork", is_flag=True, help="Make a repaired copy under a new id; the session stays as it is.")
@click.option("--apply", is_flag=True, help="Do it. Without it the plan is shown and nothing changes.")
@click.option("--dry-run", "-n", is_flag=True, help="Show the plan and change nothing. The default.")
@yes_option
@click.option("--force", is_flag=True, help="Restore the global config even if clients are running.")
def repair(
    face: Face,
    session: str | None,
    project: str | None,
    everything: bool,
    home_files: bool,
    rules: tuple[str, ...],
    fork: bool,
    apply: bool,
    dry_run: bool,
    yes: bool,
    force: bool,
) -> None:
    """Mend SESSION with the fewest changes after which the client resumes it with everything that is readable.

    Shows the plan; --apply carries it out, after a question. A copy is kept, no valid line is lost, `recollect undo` takes it
    back.
    """
    if sum((session is not None, project is not None, everything)) > 1:
        raise click.UsageError("SESSION, --project and --all exclude one another")
    if session is None and project is None and not everything and not home_files:
        raise click.UsageError("SESSION, --project, --all or --home-files")
    if apply and dry_run:
        raise click.UsageError("--apply and --dry-run exclude one another")
    if apply and not fork and (project is not None or everything):  # one question for all of them
        confirm("Sessions would be rewritten", yes=yes, question="Mend every session that needs it?")
        yes = True
    rows: list[dict[str, Any]] = []
    failed = None
    if session is not None or project is not None or everything:
        for file in [session_to_change(face, session).file] if session else files_of(face.library, None, project):
            if session is None and not needs_repair(file, rules):
                continue
            try:
                row = _repair_one(face, file, rules, fork=fork, apply=apply, yes=yes, alone=session is not None)
            except RecollectError as problem:
                if session is not None:
                    raise
                failed = problem  # one that is in use does not keep the others from being mended
                face.say(f"{file.session_id}: {problem.message}")
                continue
            if row is not None:
                rows.append(row)
    homes = (
        [_repair_home(face, number, apply=apply, yes=yes, force=force) for number in _homes(face)] if home_files else []
    )
    if not face.is_text:
        extra: dict[str, Any] = {"home_files": homes} if home_files else {}
        face.rows(rows, total=len(rows), dry_run=not apply, **extra)
    elif not apply and (rows or any(item["done"] for item in homes)):
        face.say("nothing was changed; --apply does it")
    if failed is not None:
        raise click.exceptions.Exit(failed.exit_code)


def _homes(face: Face) -> range:
    return range(len(face.library.homes))


def _repair_one(
    face: Face, file: SessionFile, rules: tuple[str, ...], *, fork: bool, apply: bool, yes: bool, alone: bool
) -> dict[str, Any] | None:
    change, result = plan_repair(face.journal, file, rules=rules, fork=fork)
    with change:
        if not result.changes_something:
            if alone and face.is_text:
                face.print(f"{file.session_id}: nothing to repair ({_share(result.before)})")
            return repair_data(result, None, []) if alone else None
        steps = change.describe()
        if face.is_text:
            _print(face, result, steps)
        number = _commit(face, change, yes=yes or fork) if apply else None
    return repair_data(result, number, steps)


def _commit(face: Face, change: Change, *, yes: bool) -> int:
    confirm(change.title, yes=yes)
    record = change.commit()
    if face.is_text:
        tell_undo(face, record)
    return record.number


def repair_data(result: RepairResult, number: int | None, steps: list[str]) -> dict[str, Any]:
    return {
        "session_id": result.session_id,
        "path": str(result.path),
        "target": str(result.target),
        "fork": result.fork,
        "before": _standing(result.before),
        "after": _standing(result.after),
        "fixes": [
            {"fix": item.fix, "words": item.words, "places": item.places, "path": str(item.path)}
            for item in result.fixes
        ],
        "refused": result.refused,
        "fragments": result.fragments,
        "side_file": None if result.side_file is None else str(result.side_file),
        "change": number,
        "steps": steps,
    }


def _standing(item: Standing) -> dict[str, Any]:
    return {"found": item.found, "reachable_share": item.share, "messages": item.sent}


def _share(item: Standing) -> str:
    return f"{item.share:.0%} reachable" if item.found else "no conversation found"


def _print(face: Face, result: RepairResult, steps: list[str]) -> None:
    face.print(
        f"{result.session_id}: {_share(result.before)} -> {_share(result.after)}, a resume sends"
        f" {result.before.sent:,} -> {result.after.sent:,} rows"
    )
    for item in result.fixes:
        where = "" if item.path == result.path else f" in {item.path.name}"
        face.print(f"  {item.fix}: {item.words} ({plural(item.places, 'place')}{where})")
    for name in result.refused:
        face.print(f"  {name}: left undone, something would be lost by it")
    if result.side_file is not None:
        face.print(f"  {plural(result.fragments, 'fragment')} kept in {result.side_file}")
    for step in steps:
        face.print(f"  - {step}")


def _repair_home(face: Face, number: int, *, apply: bool, yes: bool, force: bool) -> dict[str, Any]:
    home, scan = face.library.scans[number]
    change, plan = plan_home_repair(face.journal, home, scan, force=force)
    with change:
        steps = change.describe()
        if face.is_text:
            for words in plan.done:
                face.print(words)
            for words in plan.left:
                face.print(f"left: {words}")
            if not plan.done and not plan.left:
                face.print(f"{home.root}: nothing to repair")
        done = _commit(face, change, yes=yes) if apply and steps else None
    return {"home": str(home.root), "done": plan.done, "left": plan.left, "change": done, "steps": steps}
