"""Check sessions and homes of a library: findings one session after the other, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..check.home import check_home
from ..check.rule import INFO, Finding
from ..check.session import SessionReport, check_session
from ..errors import NotFound
from ..store.copies import copies_of_sessions
from ..store.scan import SessionFile
from .library import Library


def check_sessions(files: Sequence[SessionFile]) -> Iterator[SessionReport]:
    """Reports in the order of the files."""
    for file in files:
        yield check_session(file)


def check_homes(library: Library) -> list[Finding]:
    """What is wrong with the homes themselves: config, orphans, permissions, stale lists."""
    return [item for home, scan in library.scans for item in check_home(home, scan)]


def files_of(library: Library, reference: str | None, project: str | None) -> list[SessionFile]:
    """The sessions that are meant: one, those of a project, or all. Raises NotFound where there is none of the project."""
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
    """Files whose session lies in another project folder as well, which has the better right to its id."""
    return {file.path for same in copies_of_sessions(files) for file in same[1:]}


def needs_repair(file: SessionFile, rules: Sequence[str] = ()) -> bool:
    """Whether a look at a session finds something that a repair could mend: much cheaper than to plan one."""
    return any(
        item.rule.fix is not None and (item.code in rules if rules else item.severity != INFO)
        for item in check_session(file).findings
    )
