"""`recollect check`: is every session whole, and what will the client make of it.

JSON: rows: findings of {code, severity, session_id, subagent_id, path, line, offset, length, uuid, detail, count, title, client,
remedy, fix}; sessions: list of {session_id, path, reachable_share, found, findings, worst} of those with findings; total, counts
{severity: number}, checked (sessions), whole (sessions without error or warning). Exit code 1 where something is at least as
grave as --fail-on.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import click

from ...check.rule import SEVERITIES, Finding
from ...check.rules import RULES
from ...check.session import SessionReport
from ...export.formatting import plural
from ...library.checking import check_homes, check_sessions, files_of
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
    """Look for damage in sessions and homes: what is wrong, where, what the client does because of it, and what helps.

    SESSION alone, a project, or everything. Nothing is changed; `recollect repair` mends.
    """
    _know(rules)
    if session is not None and (project is not None or everything):
        raise click.UsageError("SESSION, --project and --all exclude one another")
    library = run.library
    files = files_of(library, session, project)
    shown: list[Finding] = []
    reports: list[SessionReport] = []
    every: list[Finding] = []
    mildest = SEVERITIES.index(severity)
    with click.progressbar(
        check_sessions(files), length=len(files), label="checking", file=sys.stderr, hidden=not sys.stderr.isatty()
    ) as progress:
        for report in progress:
            if rules:
                report.findings = [item for item in report.findings if item.code in rules]
            every += report.findings
            if report.findings or (report.reachable_share or 0.0) < 1.0 or session is not None:
                reports.append(report)
    if session is None and project is None:
        every += [item for item in check_homes(library) if not rules or item.code in rules]
    shown = [item for item in every if SEVERITIES.index(item.severity) <= mildest]
    counts = Counter(item.severity for item in every)
    whole = len(files) - sum(report.worst in ("error", "warning") for report in reports)
    if run.is_text:
        _print(run, shown, reports, counts, len(files), whole, alone=session is not None)
    else:
        run.rows(
            [finding_data(item) for item in shown], sessions=[_session_data(report) for report in reports],
            total=len(shown), counts=dict(counts), checked=len(files), whole=whole,
        )  # fmt: skip
    if fail_on != "never" and any(counts[name] for name in SEVERITIES[: SEVERITIES.index(fail_on) + 1]):
        raise click.exceptions.Exit(1)


def _know(codes: tuple[str, ...]) -> None:
    unknown = [code for code in codes if code not in RULES]
    if unknown:
        raise click.UsageError(f"no such rule: {', '.join(unknown)}. There are: {', '.join(RULES)}")


def finding_data(item: Finding) -> dict[str, Any]:
    return {
        "code": item.code,
        "severity": item.severity,
        "session_id": item.session_id,
        "subagent_id": item.subagent_id,
        "path": str(item.path),
        "line": item.line,
        "offset": item.offset,
        "length": item.length,
        "uuid": item.uuid,
        "detail": item.detail,
        "count": item.count,
        "title": item.rule.title,
        "client": item.rule.client,
        "remedy": item.rule.remedy,
        "fix": item.rule.fix,
    }


def _session_data(report: SessionReport) -> dict[str, Any]:
    return {
        "session_id": report.file.session_id,
        "path": str(report.file.path),
        "reachable_share": report.reachable_share,
        "found": report.found,
        "findings": len(report.findings),
        "worst": report.worst,
    }


def _print(
    run: CommandRun,
    shown: list[Finding],
    reports: list[SessionReport],
    counts: Counter[str],
    checked: int,
    whole: int,
    *,
    alone: bool,
) -> None:
    lost = [report for report in reports if alone or not report.found or (report.reachable_share or 0.0) < 1.0]
    for report in lost:
        share = "unreadable" if report.reachable_share is None else f"{report.reachable_share:.0%} reachable"
        share = share if report.found or report.reachable_share is None else "the client finds no conversation"
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
        run.print(f"  the client: {rule.client}")
        run.print(f"  what helps: {rule.remedy}")
    if shown:
        run.print()
    told = ", ".join(plural(counts[name], name) for name in SEVERITIES if counts[name]).replace("infos", "remarks")
    run.print(f"{plural(checked, 'session')} checked, {whole:,} whole" + (f"; {told}" if told else ""))
