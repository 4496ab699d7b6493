"""`recollect doctor`: is everything as it should be, and what was passed over.

JSON: homes (list of {root, config_file, config_exists, cleanup_days, sessions, subagents, orphan_subagents, bytes, permissions,
skipped: [{path, why}], files: {kind: {count, bytes}}}), versions ({version: files}), future_versions, unknown_types,
unknown_fields, unknown_blocks (with --deep), and rows: findings of {session_id, path, line, offset, length, kind, detail,
meaning}, with total, deep and read_whole (whether every byte was read). Exit code 1 where there are findings.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from typing import Any

import click

from ...errors import RecollectError
from ...export.formatting import plural, size
from ...format.line import DAMAGE_KINDS, HARMLESS, Damage
from ...format.versions import is_future, parse_version
from ...library.library import Library
from ...library.message_counts import COUNT_BUDGET
from ...store.config_files import cleanup_days
from ...store.home import Home
from ...store.parsed_file import survey
from ...store.scan import Scan, SessionFile
from ..command_run import Column, CommandRun, command
from ..drift import Drift
from .overview import vault_problem


@command("doctor", epilog="recollect doctor\nrecollect doctor --deep --json")
@click.option("--deep", is_flag=True, help="Read every byte, and count unknown entry types, fields and blocks.")
def doctor(run: CommandRun, deep: bool) -> None:
    """Homes, client versions, permissions, damaged lines, unknown entries, and what was skipped and why."""
    answer = examine(run.library, deep=deep)
    findings = answer["rows"]
    if run.is_text:
        _print(run, answer)
    elif run.format == "jsonl":
        run.rows(findings)
    else:
        run.rows(answer.pop("rows"), **answer)
    if findings:
        raise click.exceptions.Exit(1)


def examine(library: Library, *, deep: bool) -> dict[str, Any]:
    """Everything the doctor found. Files are read whole if `deep`, or while all of them together are small."""
    drift = Drift(fields=deep)
    findings: list[dict[str, Any]] = []
    total = sum(file.size for file in library.files())
    whole = deep or total <= COUNT_BUDGET
    for _, scan in library.scans:
        for file in scan.sessions:
            findings.extend(_check(file, drift, whole=whole))
    findings.extend(_vault(library))
    return {
        "homes": [_home(home, scan) for home, scan in library.scans],
        "versions": dict(sorted(drift.versions.items(), key=lambda pair: parse_version(pair[0]) or (0, 0, 0))),
        "future_versions": sorted(version for version in drift.versions if is_future(version)),
        "unknown_types": dict(drift.types),
        "unknown_fields": dict(drift.fields),
        "unknown_blocks": dict(drift.blocks),
        "deep": deep,
        "read_whole": whole,
        "rows": findings,
        "total": len(findings),
    }


def _vault(library: Library) -> list[dict[str, Any]]:
    problem = vault_problem(library)
    if problem is None or library.shelf is None:
        return []
    place = {"session_id": "", "path": str(library.shelf.vault.folder), "line": None, "offset": None, "length": None}
    meaning = "`recollect keep` stores again what the homes still have; `recollect verify` tells everything"
    return [{**place, "kind": "vault-damaged", "detail": problem, "meaning": meaning, "shown": problem}]


def _home(home: Home, scan: Scan) -> dict[str, Any]:
    return {
        "root": str(home.root),
        "config_file": str(home.config_file),
        "config_exists": home.config_file.is_file(),
        "cleanup_days": cleanup_days(home),
        "sessions": len(scan.sessions),
        "subagents": sum(len(file.subagents) for file in scan.sessions),
        "orphan_subagents": [str(subagent.path) for subagent in scan.orphan_subagents],
        "bytes": sum(file.size for file in scan.sessions),
        "permissions": _permissions(home),
        "skipped": [{"path": str(item.path), "why": item.why} for item in scan.skipped],
        "files": {str(kind): {"count": count, "bytes": weight} for kind, (count, weight) in survey(home).items()},
    }


def _permissions(home: Home) -> list[str]:
    """Folders and files that others on this machine may read."""
    told = []
    for path in (home.root, home.projects, home.config_file):
        try:
            mode = os.stat(path).st_mode
        except OSError:
            continue
        if os.name != "nt" and mode & (stat.S_IRGRP | stat.S_IROTH | stat.S_IWGRP | stat.S_IWOTH):
            told.append(f"{path} may be read by others ({stat.S_IMODE(mode):o})")
    return told


def _check(file: SessionFile, drift: Drift, *, whole: bool) -> list[dict[str, Any]]:
    """Damage in a session and its subagents; the file's own problem if it cannot be read."""
    findings: list[dict[str, Any]] = []

    def note(path: Any, kind: str, detail: str, damage: Damage | None = None) -> None:
        findings.append(
            {
                "session_id": file.session_id,
                "path": str(path),
                "line": damage.line if damage else None,
                "offset": damage.offset if damage else None,
                "length": damage.length if damage else None,
                "kind": kind,
                "detail": detail,
                "meaning": DAMAGE_KINDS.get(kind),
                "shown": detail or DAMAGE_KINDS.get(kind, ""),
            }
        )

    if not file.client_lists:
        note(file.path, "file-name", "the name is no UUID in lower case: the client does not find this session")
    if file.size == 0:
        note(file.path, "empty", "an empty file: the client finds no conversation")
    for path in (file.path, *(subagent.path for subagent in file.subagents)):
        try:
            for damage in drift.read(path, file.home, whole=whole):
                if damage.kind not in HARMLESS:
                    note(path, damage.kind, damage.detail, damage)
        except (RecollectError, OSError) as problem:
            note(path, "unreadable", str(problem))
    return findings


def _print(run: CommandRun, told: dict[str, Any]) -> None:
    for home in told["homes"]:
        run.print_styled(run.style(home["root"], bold=True))
        run.print(
            f"  {plural(home['sessions'], 'session')}, {plural(home['subagents'], 'subagent file')}, {size(home['bytes'])};"
            f" the client deletes after {home['cleanup_days']} days"
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
    versions = ", ".join(f"{version} ({count})" for version, count in told["versions"].items())
    run.print(f"client versions: {versions or 'none'}")
    for name in ("unknown_types", "unknown_blocks", "unknown_fields"):
        if told[name]:
            listed = ", ".join(f"{key} ({count})" for key, count in Counter(told[name]).most_common(20))
            run.print(f"{name.replace('_', ' ')}: {listed}")
    if told["future_versions"]:
        run.print(f"newer than known: {', '.join(told['future_versions'])}")
    if not told["rows"]:
        run.print("no damage found" + ("" if told["read_whole"] else " in the file ends; --deep reads everything"))
        return
    run.print_styled(run.style(plural(told["total"], "finding"), fg="red"))
    run.table(
        told["rows"][:200],
        (
            Column("session_id", "session", lambda text: text[:8]),
            Column("line", right=True),
            Column("offset", right=True),
            Column("kind"),
            Column("shown", "detail", stretch=True),
        ),
    )
