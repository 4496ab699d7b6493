"""Run the rules over one session or over what a home holds beside its sessions, and collect the findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import RecollectError
from ..graph.rows import gc_paused
from ..store.home import Home
from ..store.read import OpenFiles
from ..store.scan import Scan, SessionFile, SubagentFile
from ..store.summary import summarise
from .rule import Finding, HomeSubject, SessionSubject, fold, worst
from .rules import HOME_CHECKS, SESSION_CHECKS, SUBAGENT_CHECKS, UNREADABLE


@dataclass
class SessionReport:
    """The findings of a session, and how much of it a resume reaches."""

    file: SessionFile
    findings: list[Finding] = field(default_factory=list)
    reachable_share: float | None = None
    """None where the file cannot be read."""
    rows: int = 0
    found: bool = False
    """Whether Claude Code finds a conversation."""
    project: str | None = None
    """The session's project, if it was asked for."""

    @property
    def worst(self) -> str | None:
        return worst(self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Return how the session stands as plain data. The findings themselves are counted only."""
        return {
            "session_id": self.file.session_id,
            "path": str(self.file.path),
            "reachable_share": self.reachable_share,
            "found": self.found,
            "findings": len(self.findings),
            "worst": self.worst,
        }


def check_session(file: SessionFile, *, with_project: bool = False) -> SessionReport:
    """Return all findings of a session in the order of the rules. Never raises because of what is in the files.

    `with_project` also notes the project, while the file is open.
    """
    report = SessionReport(file)
    with gc_paused(), OpenFiles(file.home) as files:
        report.findings = fold(
            [*_main(report, files), *(item for subagent in file.subagents for item in _subagent(file, files, subagent))]
        )
        if with_project:
            report.project = summarise(file, lambda path: files.stream(path, 1 << 16)).project
    return report


def _main(report: SessionReport, files: OpenFiles) -> Iterator[Finding]:
    file = report.file
    try:
        subject = SessionSubject(file, files)
    except (RecollectError, OSError) as problem:
        yield Finding(UNREADABLE, file.path, str(problem), session_id=file.session_id)
        return
    report.rows = len(subject.rows)
    report.reachable_share = subject.thread.reachable_share
    report.found = subject.thread.found
    for look in SESSION_CHECKS:
        yield from look(subject)


def _subagent(file: SessionFile, files: OpenFiles, subagent: SubagentFile) -> Iterator[Finding]:
    try:
        subject = SessionSubject(file, files, subagent)
    except (RecollectError, OSError) as problem:
        yield Finding(
            UNREADABLE, subagent.path, str(problem), session_id=file.session_id, subagent_id=subagent.subagent_id
        )
        return
    for look in SUBAGENT_CHECKS:
        yield from look(subject)


def check_home(home: Home, scan: Scan, projects: Mapping[Path, str | None] | None = None) -> list[Finding]:
    """Return the findings about a home's own files. In `scan`, subagents beside sessions belong to their sessions.

    `projects` are those of sessions that were checked before, by the path of their files.
    """
    subject = HomeSubject(home, scan, projects or {})
    return fold(item for look in HOME_CHECKS for item in look(subject))
