"""`recollect doctor`: is everything as it should be, and what was passed over.

JSON: homes (list of {root, config_file, config_exists, cleanup_days, sessions, subagents, orphan_subagents, bytes, permissions,
skipped: [{path, why}], files: {kind: {count, bytes}}}), versions ({version: files}), future_versions, unknown_types,
unknown_fields, unknown_blocks (with --deep), and rows: findings of {session_id, path, line, offset, length, kind, detail,
meaning}, with total, deep and read_whole (whether every byte was read). Exit code 1 where there are findings.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from ...export.formatting import plural, size
from ..command_run import Column, CommandRun, command


@command("doctor", epilog="recollect doctor\nrecollect doctor --deep --json")
@click.option("--deep", is_flag=True, help="Read every byte, and count unknown entry types, fields and blocks.")
def doctor(run: CommandRun, deep: bool) -> None:
    """Homes, versions of Claude Code, permissions, damaged lines, unknown entries, and what was skipped and why."""
    answer = run.library.doctor(deep=deep)
    findings = answer["rows"]
    if run.is_text:
        _print(run, answer)
    elif run.format == "jsonl":
        run.rows(findings)
    else:
        run.rows(answer.pop("rows"), **answer)
    if findings:
        raise click.exceptions.Exit(1)


def _print(run: CommandRun, report: dict[str, Any]) -> None:
    for home in report["homes"]:
        run.print_styled(run.style(home["root"], bold=True))
        run.print(
            f"  {plural(home['sessions'], 'session')}, {plural(home['subagents'], 'subagent file')}, {size(home['bytes'])};"
            f" Claude Code deletes after {home['cleanup_days']} days"
        )
        config = home["config_file"] + ("" if home["config_exists"] else " (not there)")
        run.print(f"  config: {config}")
        for warning in home["permissions"]:
            run.print_styled("  " + run.style(warning, fg="yellow"))
        for item in home["skipped"]:
            run.print(f"  skipped {item['path']}: {item['why']}")
        for path in home["orphan_subagents"]:
            run.print(f"  subagent without its session: {path}")
        for kind, weight in home["files"].items():
            run.print(f"  {weight['count']:>7,}  {size(weight['bytes']):>10}  {kind}")
    versions = ", ".join(f"{version} ({count})" for version, count in report["versions"].items())
    run.print(f"versions of Claude Code: {versions or 'none'}")
    for name in ("unknown_types", "unknown_blocks", "unknown_fields"):
        if report[name]:
            listed = ", ".join(f"{key} ({count})" for key, count in Counter(report[name]).most_common(20))
            run.print(f"{name.replace('_', ' ')}: {listed}")
    if report["future_versions"]:
        run.print(f"newer than known: {', '.join(report['future_versions'])}")
    if not report["rows"]:
        run.print("no damage found" + ("" if report["read_whole"] else " in the file ends; --deep reads everything"))
        return
    run.print_styled(run.style(plural(report["total"], "finding"), fg="red"))
    run.table(
        report["rows"][:200],
        (
            Column("session_id", "session", lambda text: text[:8]),
            Column("line", right=True),
            Column("offset", right=True),
            Column("kind"),
            Column("shown", "detail", stretch=True),
        ),
    )
