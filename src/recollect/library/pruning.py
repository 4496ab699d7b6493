"""Remove sessions from a home that the vault has, by rules. First, every file is compared with its kept copy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..edit.delete import footprint, plan_delete
from ..errors import DamagedData, RecollectError
from ..journal.changes import Change, Journal, Record
from ..journal.disk import new_hash
from ..journal.guard import why_busy
from ..journal.journal import DiscardedBackup
from ..store.home import Home, open_inside
from ..store.scan import SessionFile
from ..vault.manifest import KeptFile, Snapshot
from ..vault.vault import Vault
from .library import Library


@dataclass(frozen=True)
class PruneRules:
    """Which sessions to prune: those that match all given rules."""

    before: float | None = None
    """The session was last changed before this moment."""
    larger: int | None = None
    """The session, with all files that belong to it, has more bytes than this."""
    project: str | None = None


@dataclass
class PruneResult:
    sessions: list[dict[str, Any]] = field(default_factory=list)
    """{session_id, title, project, bytes, files} of sessions that are removed."""
    left: list[dict[str, str]] = field(default_factory=list)
    """{session_id, why} of sessions that match the rules but stay."""
    bytes: int = 0

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def plan_prune(
    library: Library, home: Home, vault: Vault, journal: Journal, rules: PruneRules
) -> tuple[Change | None, PruneResult]:
    """Plan to remove the sessions that match the rules and are kept in the vault; None if there are none."""
    result = PruneResult()
    number = vault.contents.home_number(home.real_root)
    kept = vault.contents.files_of(number) if number is not None else {}
    scan = next(scan for each, scan in library.scans if each is home)
    going: list[SessionFile] = []
    for item in library.sessions(project=rules.project, count=False):
        file = item.file
        if file.home is not home or (rules.before is not None and file.mtime >= rules.before):
            continue
        paths = list(_files(footprint(home, file, scan)))
        total = sum(path.lstat().st_size for path in paths)
        if rules.larger is not None and total <= rules.larger:
            continue
        why = _why_not(vault, home, file, paths, kept, journal)
        if why is not None:
            result.left.append({"session_id": file.session_id, "why": why})
            continue
        going.append(file)
        result.bytes += total
        result.sessions.append(
            {"session_id": file.session_id, "title": item.title, "project": item.project, "bytes": total,
             "files": len(paths)}
        )  # fmt: skip
    if not going:
        return None, result
    change, _ = plan_delete(journal, home, going, scan=scan, name="prune")
    for file in going:
        change.rely_on(file.path)
    return change, result


def undo_change(journal: Journal, record: Record, home: Home, vault: Vault, *, dry_run: bool = False) -> None:
    """Undo a change; pruned files come from the vault. If it raises, nothing is changed."""

    def chunks(file: DiscardedBackup) -> Iterator[bytes]:
        return vault.chunks(*_as_pruned(vault, record, file))

    if not dry_run:
        journal.undo(record, home, lambda current: journal.take_backups_again(current, chunks))
    elif journal.check_undo(record, home).state == "pruned":
        for file in journal.discarded_backups(record).values():
            _as_pruned(vault, record, file)


def _as_pruned(vault: Vault, record: Record, file: DiscardedBackup) -> tuple[KeptFile, Snapshot]:
    """Find the snapshot that was kept when the file was pruned, by comparing the content."""
    number = vault.contents.home_number(record.home) if vault.exists else None
    known = vault.contents.files.get((number, file.place)) if number is not None else None
    problem = "nothing of it is kept"
    for look in reversed(known.looks if known is not None else []):
        if known is not None and look.size == file.size:
            try:
                digest = new_hash()
                for chunk in vault.chunks(known, look):
                    digest.update(chunk)
            except DamagedData as damage:
                problem = damage.message
                continue
            if digest.hexdigest() == file.hash:
                return known, look
    raise DamagedData(
        f"cannot undo change {record.number}: the vault no longer has {file.place} as it was pruned: {problem}",
        slug="vault-damaged", hint="nothing was changed; changes of other sessions can be undone by their number",
    )  # fmt: skip


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            for folder, _, names in os.walk(path):
                yield from (Path(folder, name) for name in names)
        else:
            yield path


def _why_not(
    vault: Vault, home: Home, file: SessionFile, paths: list[Path], kept: dict[str, KeptFile], journal: Journal
) -> str | None:
    busy = why_busy(home, file.session_id, file.path, journal)
    if busy is not None:
        return f"in use: {busy}"
    for path in paths:
        name = path.relative_to(home.root).as_posix()
        known = kept.get(name)
        if known is None:
            return f"{name} is not kept"
        try:
            if not _is_same(vault, home, path, known):
                return f"{name} is not kept as it is now"
        except DamagedData as problem:
            return problem.message
        except (RecollectError, OSError) as problem:
            return f"{name} cannot be compared: {problem}"
    return None


def _is_same(vault: Vault, home: Home, path: Path, known: KeptFile) -> bool:
    with open_inside(home, path) as stream:
        for chunk in vault.chunks(known):
            if stream.read(len(chunk)) != chunk:
                return False
        return stream.read(1) == b""
