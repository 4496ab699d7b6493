"""Check sessions and homes: what is wrong, where, what Claude Code does because of it, and what helps."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..check.reports import SessionReport as SessionReport
from ..check.reports import check_home
from ..check.reports import check_session as check_session
from ..check.rule import INFO
from ..check.rule import SEVERITIES as SEVERITIES
from ..check.rule import Finding as Finding
from ..check.rule import Rule as Rule
from ..check.rules import RULES
from ..check.unknown_parts import UnknownParts
from ..errors import NotFound, RecollectError
from ..format.line import DAMAGE_KINDS, HARMLESS, Damage
from ..format.versions import is_future, parse_version
from ..store.config_files import cleanup_days
from ..store.home import Home
from ..store.project_folders import copies_of_sessions
from ..store.scan import Scan, SessionFile
from ..store.side_files import survey
from .session_lists import COUNT_BUDGET

if TYPE_CHECKING:
    from .library import Library


RULE_CODES: Final = tuple(RULES)


@dataclass
class CheckResult:
    """The findings of a check of several sessions, and perhaps of the homes."""

    checked: int = 0
    """Number of sessions that were checked."""
    whole: int = 0
    """Number of sessions without an error or a warning."""
    findings: list[Finding] = field(default_factory=list)
    sessions: list[SessionReport] = field(default_factory=list)
    """Sessions with findings, and sessions of which Claude Code would not resume everything."""

    @property
    def counts(self) -> Counter[str]:
        """Return the number of findings of each severity."""
        return Counter(item.severity for item in self.findings)

    def at_least(self, severity: str) -> list[Finding]:
        """List the findings of this severity or a worse one."""
        mildest = SEVERITIES.index(severity)
        return [item for item in self.findings if SEVERITIES.index(item.severity) <= mildest]


def check(
    library: Library,
    session: str | None = None,
    *,
    project: str | None = None,
    rules: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> CheckResult:
    """Check one session, the sessions of a project, or everything including the homes. `rules` limits the findings."""
    unknown = [code for code in rules if code not in RULES]
    if unknown:
        raise NotFound(f"no such rule: {', '.join(unknown)}", slug="no-such-rule", nearest=RULE_CODES)
    files = files_of(library, session, project)
    result = CheckResult(checked=len(files), whole=len(files))
    everything = session is None and project is None
    projects: dict[Path, str | None] = {}
    for count, file in enumerate(files, 1):  # one after the other, so that memory stays bounded
        report = check_session(file, with_project=everything)
        projects[file.path] = report.project
        if rules:
            report.findings = [item for item in report.findings if item.code in rules]
        result.findings += report.findings
        result.whole -= report.worst in ("error", "warning")
        if report.findings or (report.reachable_share or 0.0) < 1.0 or session is not None:
            result.sessions.append(report)
        if progress is not None:
            progress(count, len(files))
    if everything:
        found = [item for home, scan in library.scans for item in check_home(home, scan, projects)]
        result.findings += [item for item in found if not rules or item.code in rules]
    return result


def files_of(library: Library, reference: str | None, project: str | None) -> list[SessionFile]:
    """List the files of one session, of a project's sessions, or of all. Raises NotFound if the project has no session."""
    if reference is not None:
        return [library.session(reference).file]
    if project is not None:
        found = [item.file for item in library.sessions(project=project, count=False)]
        if not found:
            words = library.project_advice(project) or f"no session of {project} is left in the home"
            raise NotFound(words, slug="no-such-project", hint="`recollect list` shows the projects")
        return found
    return library.files()


def copies_to_repair(files: Sequence[SessionFile]) -> set[Path]:
    """Find the files whose session also lies in another project folder, in a copy that takes precedence."""
    return {file.path for same in copies_of_sessions(files) for file in same[1:]}


def needs_repair(file: SessionFile, rules: Sequence[str] = ()) -> bool:
    """Return whether a check finds something that a repair could fix; much cheaper than planning the repair."""
    return any(
        item.rule.fix is not None and (item.code in rules if rules else item.severity != INFO)
        for item in check_session(file).findings
    )


# Report the state of the homes: facts about them, damaged lines, and what was skipped.


def doctor(library: Library, *, deep: bool = False) -> dict[str, Any]:
    """Report the state of the homes as plain data: the object that `recollect doctor --json` prints.

    Files are read whole with `deep`, or if all of them together are small; otherwise only their ends.
    """
    parts = UnknownParts(fields=deep)
    findings: list[dict[str, Any]] = []
    total = sum(file.size for file in library.files())
    whole = deep or total <= COUNT_BUDGET
    for _, scan in library.scans:
        for file in scan.sessions:
            findings.extend(_check(file, parts, whole=whole))
    findings.extend(_vault(library))
    return {
        "homes": [_home(home, scan) for home, scan in library.scans],
        "versions": dict(sorted(parts.versions.items(), key=lambda pair: parse_version(pair[0]) or (0, 0, 0))),
        "future_versions": sorted(version for version in parts.versions if is_future(version)),
        "unknown_types": dict(parts.types),
        "unknown_fields": dict(parts.fields),
        "unknown_blocks": dict(parts.blocks),
        "deep": deep,
        "read_whole": whole,
        "rows": findings,
        "total": len(findings),
    }


def _vault(library: Library) -> list[dict[str, Any]]:
    found = []
    if (problem := library.vault.problem()) is not None:
        meaning = "`recollect keep` stores again what the homes still have; `recollect verify` tells everything"
        found.append(("vault-damaged", problem, meaning))
    if (name := library.vault.other_machine()) is not None:
        meaning = "where the other machine no longer keeps here: `recollect keep --take-over`"
        found.append(("vault-of-another-machine", f"kept by {name}: nothing of this machine is kept here", meaning))
    place = {"session_id": "", "path": str(library.vault.folder), "line": None, "offset": None, "length": None}
    return [
        {**place, "kind": kind, "detail": detail, "meaning": meaning, "shown": detail}
        for kind, detail, meaning in found
    ]


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
    """List folders and files that other users of this machine may read."""
    warnings = []
    for path in (home.root, home.projects, home.config_file):
        try:
            mode = os.stat(path).st_mode
        except OSError:
            continue
        if os.name != "nt" and mode & (stat.S_IRGRP | stat.S_IROTH | stat.S_IWGRP | stat.S_IWOTH):
            warnings.append(f"{path} may be read by others ({stat.S_IMODE(mode):o})")
    return warnings


def _check(file: SessionFile, parts: UnknownParts, *, whole: bool) -> list[dict[str, Any]]:
    """List the damage in a session and its subagents, or why a file cannot be read."""
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
        note(file.path, "file-name", "the name is not a UUID in lower case: Claude Code does not find this session")
    if file.size == 0:
        note(file.path, "empty", "an empty file: Claude Code finds no conversation")
    for path in (file.path, *(subagent.path for subagent in file.subagents)):
        try:
            for damage in parts.read(path, file.home, whole=whole):
                if damage.kind not in HARMLESS:
                    note(path, damage.kind, damage.detail, damage)
        except (RecollectError, OSError) as problem:
            note(path, "unreadable", str(problem))
    return findings
