"""`recollect` and `recollect overview`: what is there, at a glance.

JSON: homes (list of {root, sessions, bytes, cleanup_days}), projects, sessions, subagents, bytes, first, last, running (list of
{session_id, pid, status, cwd}), expiring (list of {session_id, title, project, expires, kept}), expiring_not_kept (a number),
left_out (list of {path, why}: files below `projects/` that are not part of any session), orphans (a number: sessions of which
only subagents are left), vault_problem (what is wrong with the vault, in words, or null), other_machine (the name of another
machine that keeps in the vault, so that this one does not, or null), damage ({sessions, lines, complete}), unreadable (list of
{session_id, path, problem}), recent (list of {session_id, title, project, modified, bytes}).
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

import click

from ...errors import NotFound
from ...export.formatting import ago, number, plural, size, title_line
from ...export.terminal_text import safe
from ...library.overview import SOON_DAYS
from ..command_run import CommandRun, command


@command("overview", epilog="recollect\nrecollect --home /backup/claude --json")
@click.option("--or-demo", is_flag=True, help="Where there is no history: build a small demo home and show that.")
def overview(run: CommandRun, or_demo: bool = False) -> None:
    """What is there: homes, projects, sessions, running ones, those that will be deleted soon, damage."""
    try:
        if or_demo and not run.library.files():
            raise NotFound("the Claude home has no sessions", slug="no-session")
        show_overview(run)
    except NotFound as problem:
        if not or_demo:
            raise
        from .demo import make_demo

        run.say(f"{problem.message}.")
        folder = make_demo(None)
        run.say(f"Showing a demo home instead, built in {folder}")
        run.homes = [str(folder)]
        run.forget_library()
        show_overview(run)


def show_overview(run: CommandRun, **more: Any) -> None:
    """Print the overview of the open homes; `more` are further fields for JSON."""
    now = time.time()
    answer = run.library.overview(now=now)
    if run.is_text:
        _print(run, answer, now)
    else:
        run.value(answer | more)


def _print(run: CommandRun, facts: dict[str, Any], now: float) -> None:
    run.print_styled(
        run.style("Recollect", bold=True)
        + "  "
        + run.style(" ".join(home["root"] for home in facts["homes"]), dim=True)
    )
    run.print()
    if not facts["sessions"]:
        run.print("  No sessions yet.")
        _print_left_out(run, facts)
        return
    parts = [
        plural(facts["sessions"], "session"), plural(facts["projects"], "project"),
        plural(facts["subagents"], "subagent file"), size(facts["bytes"]),
    ]  # fmt: skip
    run.print("  " + " · ".join(parts))
    run.print(f"  from {(facts['first'] or '?')[:10]} to {(facts['last'] or '?')[:10]}")
    run.print()
    running = facts["running"]
    if running:
        run.print_styled("  " + run.style(f"{plural(len(running), 'session')} running now", fg="green"))
        for item in running:
            run.print(f"    {item['session_id'][:8]}  {item['status'] or ''}  {item['cwd'] or ''}".rstrip())
    expiring = facts["expiring"]
    if expiring:
        days = sorted({home["cleanup_days"] for home in facts["homes"]})
        text = (
            f"{plural(len(expiring), 'session')} will be deleted by Claude Code within {SOON_DAYS} days "
            f"(it keeps {' or '.join(number(item) for item in days)} days); {number(facts['expiring_not_kept'])} not kept"
        )
        text += ": recollect keep" if facts["expiring_not_kept"] else ""
        run.print_styled("  " + run.style(text, fg="yellow" if facts["expiring_not_kept"] else None))
        for item in expiring[:5]:
            run.print(f"    {item['session_id'][:8]}  {item['expires'][:10]}  {title_line(item['title'], 70)}")
        if len(expiring) > 5:
            run.print(f"    … and {len(expiring) - 5} more")
    else:
        run.print(f"  no session will be deleted within {SOON_DAYS} days")
    _print_left_out(run, facts)
    if facts["vault_problem"]:
        run.print_styled(
            "  " + run.style(f"{safe(facts['vault_problem'])}: recollect keep, recollect verify", fg="red")
        )
    if facts["other_machine"]:
        text = f"the vault is kept by another machine, {safe(facts['other_machine'])}: recollect keep --status"
        run.print_styled("  " + run.style(text, fg="yellow"))
    damage = facts["damage"]
    if damage["sessions"]:
        text = f"{plural(damage['lines'], 'damaged line')} in {plural(damage['sessions'], 'session')}: recollect doctor"
        run.print_styled("  " + run.style(text, fg="red"))
    else:
        run.print(
            "  no damage found" + ("" if damage["complete"] else " in file ends (recollect doctor --deep reads all)")
        )
    run.print()
    run.print_styled("  " + run.style("Recent", bold=True))
    for item in facts["recent"]:
        when = ago(datetime.fromisoformat(item["modified"]) if item["modified"] else None, now)
        title = title_line(item["title"], 60)
        run.print(f"    {item['session_id'][:8]}  {when:>10}  {size(item['bytes']):>9}  {title}")
    run.print()
    run.print("  recollect list · recollect show last · recollect --help")


def _print_left_out(run: CommandRun, facts: dict[str, Any]) -> None:
    for item in facts["left_out"][:5]:
        run.print_styled("  " + run.style(f"left out {item['path']}: {item['why']}", fg="yellow"))
    if len(facts["left_out"]) > 5:
        run.print(f"  left out {len(facts['left_out']) - 5} more: recollect doctor")
    if facts["orphans"]:
        run.print(f"  of {plural(facts['orphans'], 'session')} only subagents are left: recollect list")
