"""Check sessions and homes: what is wrong, where, what Claude Code does because of it, and what helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..check.reports import SessionReport as SessionReport
from ..check.reports import check_home, check_session
from ..check.rule import INFO
from ..check.rule import SEVERITIES as SEVERITIES
from ..check.rule import Finding as Finding
from ..check.rule import Rule as Rule
from ..check.rules import RULES
from ..errors import NotFound
from ..store.copies import copies_of_sessions
from ..store.scan import SessionFile

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
    for count, report in enumerate(check_sessions(files), 1):
        if rules:
            report.findings = [item for item in report.findings if item.code in rules]
        result.findings += report.findings
        result.whole -= report.worst in ("error", "warning")
        if report.findings or (report.reachable_share or 0.0) < 1.0 or session is not None:
            result.sessions.append(report)
        if progress is not None:
            progress(count, len(files))
    if session is None and project is None:
        result.findings += [item for item in check_homes(library) if not rules or item.code in rules]
    return result


def check_sessions(files: Sequence[SessionFile]) -> Iterator[SessionReport]:
    """Check sessions one after the other, so that memory stays bounded."""
    for file in files:
        yield check_session(file)


def check_homes(library: Library) -> list[Finding]:
    """Check what the homes hold beside their sessions: config, orphans, permissions, stale lists."""
    return [item for home, scan in library.scans for item in check_home(home, scan)]


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
