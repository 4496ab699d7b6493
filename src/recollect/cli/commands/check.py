"""`recollect check`: is every session whole, and what will Claude Code make of it.

JSON: rows: findings of {code, severity, session_id, subagent_id, path, line, offset, length, uuid, detail, count, title, client,
remedy, fix}; sessions: list of {session_id, path, reachable_share, found, findings, worst} of those with findings; total, counts
{severity: number}, checked (sessions), whole (sessions without error or warning). Exit code 1 where something is at least as
grave as --fail-on.
"""

from __future__ import annotations

import sys

import click

from ...export.formatting import plural
from ...library.checking import RULE_CODES, SEVERITIES, CheckResult, Finding
from ..command_run import Column, CommandRun, command, complete_session

EXAMPLES = """
recollect check
recollect check 3f2a
recollect check --project marmalade --severity error
recollect check --json --fail-on warning
"""


@command("check", epilog=EXAMPLES)
@click.argument("session", required=False, shell_complete=complete_session)
@click.option("--project", metavar="P", help="Only this project: its path, the end of it, or a folder above; any case.")
@click.option("--all", "everything", is_flag=True, help="All sessions and the homes themselves. The default.")
@click.option("--rule", "rules", multiple=True, metavar="CODE", help="Only findings of this rule. May be repeated.")
@click.option(
    "--severity", type=click.Choice(SEVERITIES), default="warning", show_default=True, help="The mildest to show."
)
@click.option(
    "--fail-on", type=click.Choice([*SEVERITIES, "never"]), default="error", show_default=True,
    help="The mildest that makes the exit code 1.",
)  # fmt: skip
def check(
    run: CommandRun,
    session: str | None,
    project: str | None,
    everything: bool,
    rules: tuple[str, ...],
    severity: str,
    fail_on: str,
) -> None:
    """Look for damage in sessions and homes: what is wrong, where, what Claude Code does because of it, and what helps.

    SESSION alone, a project, or everything. Nothing is changed; `recollect repair` repairs.
    """
    unknown = [code for code in rules if code not in RULE_CODES]
    if unknown:
        raise click.UsageError(f"no such rule: {', '.join(unknown)}. There are: {', '.join(RULE_CODES)}")
    if session is not None and (project is not None or everything):
        raise click.UsageError("SESSION, --project and --all exclude one another")
    with click.progressbar(length=1, label="checking", file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:

        def progress(done: int, todo: int) -> None:
            bar.length = todo
            bar.update(1)

        result = run.library.check(session, project=project, rules=rules, progress=progress)
    shown = result.at_least(severity)
    if run.is_text:
        _print(run, result, shown, alone=session is not None)
    else:
        run.rows(
            [item.as_dict() for item in shown], sessions=[report.as_dict() for report in result.sessions],
            total=len(shown), counts=dict(result.counts), checked=result.checked, whole=result.whole,
        )  # fmt: skip
    if fail_on != "never" and result.at_least(fail_on):
        raise click.exceptions.Exit(1)


def _print(run: CommandRun, result: CheckResult, shown: list[Finding], *, alone: bool) -> None:
    lost = [report for report in result.sessions if alone or not report.found or (report.reachable_share or 0.0) < 1.0]
    for report in lost:
        share = "unreadable" if report.reachable_share is None else f"{report.reachable_share:.0%} reachable"
        share = share if report.found or report.reachable_share is None else "Claude Code finds no conversation"
        run.print(f"{report.file.session_id}: {share}")
    if lost:
        run.print()
    rows = [
        {
            "severity": item.severity,
            "code": item.code,
            "where": (item.session_id or item.path.name)[:8] if item.session_id else item.path.name,
            "line": item.line,
            "count": item.count if item.count > 1 else None,
            "detail": item.detail or item.rule.title,
        }
        for item in shown[:500]
    ]
    if rows:
        run.table(
            rows,
            (
                Column("severity"),
                Column("code"),
                Column("where"),
                Column("line", right=True),
                Column("count", "x", right=True),
                Column("detail", stretch=True),
            ),
        )
        run.print()
    for rule in {item.code: item.rule for item in shown}.values():
        run.print_styled(run.style(f"{rule.code}: {rule.title}", bold=True))
        run.print(f"  Claude Code: {rule.client}")
        run.print(f"  what helps: {rule.remedy}")
    if shown:
        run.print()
    counts = result.counts
    totals = ", ".join(plural(counts[name], name) for name in SEVERITIES if counts[name]).replace("infos", "remarks")
    run.print(
        f"{plural(result.checked, 'session')} checked, {result.whole:,} whole" + (f"; {totals}" if totals else "")
    )
