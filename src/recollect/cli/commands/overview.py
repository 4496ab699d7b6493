"""`recollect` and `recollect overview`: what is there, at a glance.

JSON: homes (list of {root, sessions, bytes, cleanup_days}), projects, sessions, subagents, bytes, first, last, running (list of
{session_id, pid, status, cwd}), expiring (list of {session_id, title, project, expires, kept}), expiring_not_kept (a number),
left_out (list of {path, why}: files below `projects/` that are no part of any session), orphans (a number: sessions of which
only subagents are left), vault_problem (what is wrong with the vault, in words, or null), damage ({sessions, lines,
complete}), unreadable (list of {session_id, path, problem}), recent (list of {session_id, title, project, modified, bytes}).
"""

from __future__ import annotations

import time
from typing import Any

import click

from ...errors import NotFound, RecollectError
from ...export.formatting import ago, number, one_line, plural, size
from ...export.terminal_text import safe
from ...format.line import HARMLESS, Damage
from ...format.times import local_minute, to_iso
from ...library.library import Library
from ...library.message_counts import COUNT_BUDGET
from ...store.config_files import cleanup_days
from ...store.read import stream_entries
from ...store.scan import SessionFile
from ...store.summary import SessionSummary
from ..command_run import CommandRun, command

SOON_DAYS = 7


@command("overview", epilog="recollect\nrecollect --home /backup/claude --json")
@click.option("--or-demo", is_flag=True, help="Where there is no history: build a small demo home and show that.")
def overview(run: CommandRun, or_demo: bool = False) -> None:
    """What is there: homes, projects, sessions, running ones, those that will be deleted soon, damage."""
    try:
        library = run.library
        if or_demo and not library.files():
            raise NotFound("the Claude home has no sessions", slug="no-session")
    except NotFound as problem:
        if not or_demo:
            raise
        from .demo import make_demo

        run.say(f"{problem.message}.")
        folder = make_demo(None)
        run.say(f"Showing a demo home instead, built in {folder}")
        run.homes = [str(folder)]
        run.forget_library()
        library = run.library
    answer = survey(library, time.time())
    if run.is_text:
        _print(run, answer, time.time())
    else:
        run.value(answer)


def survey(library: Library, now: float) -> dict[str, Any]:
    """Everything the overview tells."""
    summaries = library.sessions(count=False)
    projects = {item.worktree_of or item.project or item.file.folder for item in summaries}
    days = {home.root: cleanup_days(home) for home in library.homes}
    expiring = []
    for item in summaries:
        deadline = item.file.mtime + days[item.file.home.root] * 86400
        if deadline < now + SOON_DAYS * 86400 and item.session_id not in library.running:
            expiring.append((deadline, item))
    expiring.sort(key=lambda pair: pair[0])
    not_kept = _not_kept(library, [item.file for _, item in expiring], now)
    return {
        "homes": [
            {
                "root": str(home.root),
                "sessions": sum(1 for item in summaries if item.file.home is home),
                "bytes": sum(_bytes(item) for item in summaries if item.file.home is home),
                "cleanup_days": days[home.root],
            }
            for home in library.homes
        ],
        "projects": len(projects),
        "sessions": len(summaries),
        "subagents": sum(len(item.file.subagents) for item in summaries),
        "bytes": sum(_bytes(item) for item in summaries),
        "first": to_iso(min((item.created for item in summaries if item.created), default=None)),
        "last": to_iso(max((item.last_activity for item in summaries if item.last_activity), default=None)),
        "running": [
            {"session_id": key, "pid": item.pid, "status": item.status, "cwd": item.cwd}
            for key, item in library.running.items()
        ],
        "expiring": [
            {
                "session_id": item.session_id,
                "title": one_line(item.title),
                "project": item.project,
                "expires": to_iso(deadline),
                "kept": str(item.file.path) not in not_kept,
            }
            for deadline, item in expiring
        ],
        "expiring_not_kept": len(not_kept),
        "left_out": [{"path": str(item.path), "why": item.why} for item in library.left_out()],
        "orphans": len(library.orphans()),
        "vault_problem": vault_problem(library),
        "damage": _damage(summaries),
        "unreadable": [
            {"session_id": item.session_id, "path": str(item.file.path), "problem": item.problem or "empty file"}
            for item in summaries
            if item.problem or item.is_empty
        ],
        "recent": [
            {"session_id": item.session_id, "title": one_line(item.title), "project": item.project,
             "modified": to_iso(item.file.mtime), "bytes": item.file.size}
            for item in summaries[:5]
        ],
    }  # fmt: skip


def _not_kept(library: Library, files: list[SessionFile], now: float) -> set[str]:
    """Those that the vault does not have as they are now. The vault is not even opened where nothing is in danger."""
    if not files or library.shelf is None:
        return {str(file.path) for file in files}
    from ...vault.retention import guard

    found: set[str] = set()
    for home in library.homes:
        here = [file for file in files if file.home is home]
        try:
            names = guard(library.shelf.vault, home, here, now=now).behind
        except (RecollectError, OSError):  # a vault that cannot be read keeps nothing that one could rely on
            names = [file.session_id for file in here]
        found.update(str(file.path) for file in here if file.session_id in names)
    return found


def vault_problem(library: Library) -> str | None:
    """What is wrong with the vault at a glance, in words. It is only opened where it does not look as it was left."""
    if library.shelf is None:
        return None
    from ...vault.health import files_with, is_as_left, lost_blocks, read_state

    vault = library.shelf.vault
    try:
        vault.check_format()
        if is_as_left(vault):
            return None
        if read_state(vault).packs and not vault.contents.files:
            return "the vault has lost everything that it had"
        files = files_with(vault.contents, lost_blocks(vault))
    except (RecollectError, OSError) as problem:
        return str(problem)
    return f"the vault has lost part of {plural(len(files), 'kept file')}" if files else None


def _bytes(item: SessionSummary) -> int:
    return item.file.size + sum(subagent.size for subagent in item.file.subagents)


def _damage(summaries: list[SessionSummary]) -> dict[str, Any]:
    """Damaged lines, found by reading everything while that is quick; else what a look at every file's end shows."""
    complete = sum(item.file.size for item in summaries) <= COUNT_BUDGET
    sessions = lines = 0
    for item in summaries:
        found: list[Damage] = []
        if complete and not item.problem:
            try:
                for _ in stream_entries(item.file.path, item.file.home, found):
                    pass
            except (RecollectError, OSError):
                continue
        bad = {damage.line for damage in found if damage.kind not in HARMLESS}
        sessions += bool(bad or item.problem)
        lines += len(bad)
    return {"sessions": sessions, "lines": lines, "complete": complete}


def _print(run: CommandRun, told: dict[str, Any], now: float) -> None:
    run.print_styled(
        run.style("Recollect", bold=True) + "  " + run.style(" ".join(home["root"] for home in told["homes"]), dim=True)
    )
    run.print()
    if not told["sessions"]:
        run.print("  No sessions yet.")
        _print_left_out(run, told)
        return
    parts = [
        plural(told["sessions"], "session"), plural(told["projects"], "project"),
        plural(told["subagents"], "subagent file"), size(told["bytes"]),
    ]  # fmt: skip
    run.print("  " + " · ".join(parts))
    run.print(f"  from {(told['first'] or '?')[:10]} to {(told['last'] or '?')[:10]}")
    run.print()
    running = told["running"]
    if running:
        run.print_styled("  " + run.style(f"{plural(len(running), 'session')} running now", fg="green"))
        for item in running:
            run.print(f"    {item['session_id'][:8]}  {item['status'] or ''}  {item['cwd'] or ''}".rstrip())
    expiring = told["expiring"]
    if expiring:
        days = sorted({home["cleanup_days"] for home in told["homes"]})
        text = (
            f"{plural(len(expiring), 'session')} will be deleted by the client within {SOON_DAYS} days "
            f"(it keeps {' or '.join(number(item) for item in days)} days); {number(told['expiring_not_kept'])} not kept"
        )
        text += ": recollect keep" if told["expiring_not_kept"] else ""
        run.print_styled("  " + run.style(text, fg="yellow" if told["expiring_not_kept"] else None))
        for item in expiring[:5]:
            run.print(
                f"    {item['session_id'][:8]}  {item['expires'][:10]}  {one_line(item['title'], 70) or '(no title)'}"
            )
        if len(expiring) > 5:
            run.print(f"    … and {len(expiring) - 5} more")
    else:
        run.print(f"  no session will be deleted within {SOON_DAYS} days")
    _print_left_out(run, told)
    if told["vault_problem"]:
        run.print_styled("  " + run.style(f"{safe(told['vault_problem'])}: recollect keep, recollect verify", fg="red"))
    damage = told["damage"]
    if damage["sessions"]:
        text = f"{plural(damage['lines'], 'damaged line')} in {plural(damage['sessions'], 'session')}: recollect doctor"
        run.print_styled("  " + run.style(text, fg="red"))
    else:
        run.print(
            "  no damage found" + ("" if damage["complete"] else " in file ends (recollect doctor --deep reads all)")
        )
    run.print()
    run.print_styled("  " + run.style("Recent", bold=True))
    for item in told["recent"]:
        moment = _seconds(item["modified"])
        when = ago(moment, now) if moment <= now else local_minute(moment)
        title = one_line(item["title"], 60) or "(no title)"
        run.print(f"    {item['session_id'][:8]}  {when:>10}  {size(item['bytes']):>9}  {title}")
    run.print()
    run.print("  recollect list · recollect show last · recollect --help")


def _print_left_out(run: CommandRun, told: dict[str, Any]) -> None:
    for item in told["left_out"][:5]:
        run.print_styled("  " + run.style(f"left out {item['path']}: {item['why']}", fg="yellow"))
    if len(told["left_out"]) > 5:
        run.print(f"  left out {len(told['left_out']) - 5} more: recollect doctor")
    if told["orphans"]:
        run.print(f"  of {plural(told['orphans'], 'session')} only subagents are left: recollect list")


def _seconds(text: str | None) -> float:
    from ...format.times import parse_time

    return parse_time(text) or 0.0
