"""Find what Claude Code's own cleanup will delete soon, and whether the vault has it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Final

from ..store.config_files import cleanup_days
from ..store.home import Home
from ..store.layout import FileKind, file_at
from ..store.scan import SessionFile
from .health import is_as_left, lost_blocks
from .manifest import KeptFile
from .vault import Vault

SOON_DAYS: Final = 7


@dataclass
class Guard:
    """How far the vault covers a home."""

    home: str
    cleanup_days: int
    sessions: int = 0
    kept: int = 0
    """Sessions whose transcript is in the vault as it is now."""
    behind: list[str] = field(default_factory=list)
    """Sessions whose transcript is not in the vault, or not completely."""
    lost: int = 0
    """Sessions that only the vault has, and can restore."""
    damaged: list[str] = field(default_factory=list)
    """Files whose latest snapshot the vault cannot read completely."""
    expiring: list[str] = field(default_factory=list)
    """Sessions that Claude Code deletes within `SOON_DAYS`, the earliest first."""
    expiring_not_kept: list[str] = field(default_factory=list)


def guard(vault: Vault, home: Home, sessions: list[SessionFile], *, now: float, soon_days: float = SOON_DAYS) -> Guard:
    """Compare the sessions of a home with the vault, by names, sizes and times only, those of the packs included."""
    days = cleanup_days(home)
    result = Guard(str(home.root), days, sessions=len(sessions))
    number = vault.contents.home_number(home.real_root) if vault.exists else None
    kept = vault.contents.files_of(number) if number is not None else {}
    lost = lost_blocks(vault) if kept and not is_as_left(vault) else set()
    if lost:
        result.damaged = sorted(path for path, file in kept.items() if _is_in(lost, file))
        kept = {path: file for path, file in kept.items() if not _is_in(lost, file)}
    deadlines: list[tuple[float, str, bool]] = []
    for file in sessions:
        path = file.path.relative_to(home.root).as_posix()
        is_kept = is_as_kept(home, path, kept.get(path))
        result.kept += is_kept
        if not is_kept:
            result.behind.append(file.session_id)
        deadline = file.mtime + days * 86_400
        if deadline < now + soon_days * 86_400:
            deadlines.append((deadline, file.session_id, is_kept))
    deadlines.sort()
    result.expiring = [session for _, session, _ in deadlines]
    result.expiring_not_kept = [session for _, session, is_kept in deadlines if not is_kept]
    there = {file.session_id for file in sessions}
    for path in kept:
        kept_file = file_at(path.split("/"))
        result.lost += kept_file.kind is FileKind.TRANSCRIPT and kept_file.session_id not in there
    return result


def _is_in(blocks: set[int], file: KeptFile) -> bool:
    return any(piece.block in blocks for _, piece in file.pieces(file.last))


def is_as_kept(home: Home, path: str, file: KeptFile | None) -> bool:
    """Return whether a file of the home has the size and time of its last snapshot."""
    if file is None:
        return False
    try:
        info = os.stat(home.root / path)
    except OSError:
        return False
    return (info.st_size, info.st_mtime_ns) == (file.last.size, file.last.mtime_ns)
