"""Find the kept sessions that are meant, and plan to restore them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..edit.restore_files import RestoreResult, plan_restore
from ..errors import NotFound, Refused
from ..journal.changes import Change, Journal
from ..store.config_files import cleanup_days
from ..store.home import Home
from ..store.scan import SessionFile
from ..store.summary import summarise
from ..vault.contents import KeptFile, Snapshot
from ..vault.restore import Footprints, files_to_restore
from ..vault.vault import Vault
from .library import Library
from .locate import find_among
from .project_paths import ProjectFilter
from .session_lists import project_matcher
from .vault_sessions import VaultSessions


@dataclass(frozen=True)
class RestoreRequest:
    """Which sessions to restore, and where to. One of the first three fields selects them."""

    sessions: Sequence[str] = ()
    project: str | None = None
    everything: bool = False
    at: float | None = None
    to: Path | None = None
    mtime_ns: int | None = None
    """A modification time for all files, instead of their own."""
    partly: bool = False
    homes: Sequence[str] = ()
    """The homes that are meant; else those of the library."""


def plan_restoring(library: Library, journal: Journal, wanted: RestoreRequest) -> tuple[Change, RestoreResult]:
    """Plan to restore sessions. Raises NotFound if none of them is kept, Refused if several homes may be meant."""
    vault = library.vault.existing()
    homes = _kept_homes(library, vault, wanted)
    shelf = VaultSessions(homes, vault, library.own_folder("cache"))
    files = list(shelf.sessions(at=wanted.at))
    chosen = _chosen(files, wanted)
    if wanted.everything:
        parts = {home.real_root: list(footprints.looks.values()) for home, footprints in shelf.homes(at=wanted.at)}
        chosen = files
    else:
        parts = {}
        for file in chosen:
            parts.setdefault(file.home.real_root, []).extend(_belongings(shelf, file, wanted))
    sources = {root: looks for root, looks in parts.items() if looks}
    if not sources:
        raise NotFound(
            "nothing was kept by then", slug="nothing-kept", hint="`recollect keep --status` tells what is kept"
        )
    if len(sources) > 1:
        raise Refused(
            f"kept of {len(sources)} homes: {', '.join(sorted(sources))}",
            hint="say which is meant with --home DIR", slug="several-homes",
        )  # fmt: skip
    root, looks = next(iter(sources.items()))
    target = Home(wanted.to) if wanted.to is not None else Home(Path(root))
    unique = {file.path: (file, look) for file, look in looks}.values()
    items = files_to_restore(vault, unique, mtime_ns=wanted.mtime_ns, partly=wanted.partly)
    change, result = plan_restore(journal, target, items, title=_title(wanted, chosen))
    _tell(result, chosen, target, wanted)
    return change, result


def _kept_homes(library: Library, vault: Vault, wanted: RestoreRequest) -> list[Home]:
    kept = list(dict.fromkeys(vault.contents.homes.values()))
    asked = {os.path.realpath(root) for root in wanted.homes or [str(home.root) for home in library.homes]}
    found = [Home(Path(root)) for root in kept if root in asked]
    if not found and not library.named and wanted.to is not None:
        found = [Home(Path(root)) for root in kept]  # on a new machine: the homes that are in the vault
    if not found:
        raise NotFound(
            f"nothing of {', '.join(str(home.root) for home in library.homes)} is kept", nearest=tuple(kept), slug="nothing-kept",
            hint="these homes are kept: name one with --home DIR" if kept else "`recollect keep` keeps what is there",
        )  # fmt: skip
    return found


def _chosen(files: list[SessionFile], wanted: RestoreRequest) -> list[SessionFile]:
    if wanted.project is not None:
        matches = project_matcher(wanted.project, False)
        found = [file for file in files if matches(summarise(file))]
        if not found:
            advice = ProjectFilter(wanted.project).no_project_fits(summarise(file).project for file in files)
            raise NotFound(
                f"no kept session of {wanted.project}" + (f": {advice}" if advice is not None else ""),
                slug="no-such-project",
                hint="`recollect list --kept` shows them",
            )
        return found
    chosen: dict[str, SessionFile] = {}
    for reference in wanted.sessions:
        file = find_among(files, reference)
        same = [other for other in files if other.session_id == file.session_id and other.home != file.home]
        for each in [file, *same]:
            chosen[str(each.path)] = each
    return list(chosen.values())


def _belongings(shelf: VaultSessions, file: SessionFile, wanted: RestoreRequest) -> Iterable[tuple[KeptFile, Snapshot]]:
    session, footprints = shelf.of(file)
    yield from footprints.complete(session)
    if wanted.project is not None:
        yield from _memory(footprints, session.folder)


def _memory(footprints: Footprints, folder: str) -> Iterable[tuple[KeptFile, Snapshot]]:
    prefix = f"projects/{folder}/memory/"
    return [known for path, known in footprints.looks.items() if path.startswith(prefix)]


def _title(wanted: RestoreRequest, chosen: list[SessionFile]) -> str:
    if wanted.everything:
        return "Restore everything from the vault"
    if wanted.project is not None:
        return f"Restore the sessions of {wanted.project}"
    names = ", ".join(file.session_id for file in chosen[:3]) + (" ..." if len(chosen) > 3 else "")
    return f"Restore {names}"


def _tell(result: RestoreResult, chosen: list[SessionFile], target: Home, wanted: RestoreRequest) -> None:
    restored = set(result.files)
    back = [file for file in chosen if file.path.relative_to(file.home.root).as_posix() in restored]
    result.sessions = sorted({file.session_id for file in back})
    days = cleanup_days(target)
    old = sum(1 for file in back if file.mtime < time.time() - days * 86_400)
    if old and wanted.mtime_ns is None:
        result.notes.append(
            f"{old} of the sessions are older than {days} days: the client deletes them again when it next cleans up, "
            "unless they are restored with --renew or cleanupPeriodDays is raised"
        )
