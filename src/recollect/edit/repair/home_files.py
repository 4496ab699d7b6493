"""Repair files that belong to no session: the global config, and Claude Code's own lists of sessions."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from ...check.rule import HomeSubject
from ...check.rules import files
from ...errors import RecollectError
from ...format.session_meta import EMPTY_INDEX, sessions_index_entry
from ...format.settings import config_bytes, merged, whole_object
from ...journal.changes import Change, Journal
from ...store.config_files import config_backups
from ...store.home import Home, read_inside
from ...store.liveness import refuse_shared_file
from ...store.scan import Scan, SessionFile
from ...store.side_files import FileInfo
from ...store.summary import summarise
from ..config_paths import index_bytes, index_entries, listed_session


@dataclass
class HomeRepair:
    """What a repair would do, in words, and what it cannot do."""

    done: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def plan_home_repair(journal: Journal, home: Home, scan: Scan, *, force: bool = False) -> tuple[Change, HomeRepair]:
    """Plan the repair of a home's own files. `force` permits it while Claude Code runs, which writes the config too."""
    repair = HomeRepair()
    with contextlib.ExitStack() as thrown_away_on_errors:
        change = Change(journal, home, "repair-home", f"Repair files of {home.root}")
        thrown_away_on_errors.enter_context(change)
        subject = HomeSubject(home, scan)
        for finding in files.check_config_files(subject):
            if finding.rule is files.CORRUPT_CONFIG:
                _restore_config(change, home, finding.path, repair, force=force)
            else:
                repair.left.append(f"{finding.path}: {finding.detail}; it must be corrected by hand")
        for finding in files.check_sessions_index(subject):
            _renew_index(change, home, finding.path, scan, repair)
        thrown_away_on_errors.pop_all()
    return change, repair


def _restore_config(change: Change, home: Home, path: Path, repair: HomeRepair, *, force: bool) -> None:
    found = newest_whole_backup(home)
    if found is None:
        repair.left.append(f"{path}: no whole backup of it was found")
        return
    refuse_shared_file(home, path, force=force)
    backup, value = found
    change.rely_on(path, content=True)
    broken = read_inside(home, path)
    change.write(path, [config_bytes(merged(value, broken))], replace=True)
    repair.done.append(f"{path}: restored from {backup.name}, with what the broken file still says")


def newest_whole_backup(home: Home) -> tuple[Path, dict[str, Any]] | None:
    """Return the newest backup of the global config that is not damaged."""

    def age(item: tuple[FileInfo, datetime | None]) -> float:
        moment = item[1] or item[0].modified
        return moment.timestamp() if moment is not None else 0.0

    ordered = sorted(config_backups(home), key=age, reverse=True)
    for info, _ in ordered:
        try:
            value = whole_object(read_inside(home, info.path))
        except (RecollectError, OSError):
            continue
        if value is not None:
            return info.path, value
    return None


def _renew_index(change: Change, home: Home, path: Path, scan: Scan, repair: HomeRepair) -> None:
    change.rely_on(path, content=True)
    known = index_entries(read_inside(home, path)) or (EMPTY_INDEX, [])
    old = {listed_session(entry): entry for entry in known[1]}
    files = [file for file in scan.sessions if file.folder == path.parent.name and file.client_lists]
    entries = [_entry(file, old.get(file.session_id)) for file in files]
    change.write(path, [index_bytes(known[0], [entry for entry in entries if entry is not None])], replace=True)
    repair.done.append(f"{path}: {len(old):,} sessions listed before, {len(entries):,} now")


def _entry(file: SessionFile, old: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the entry of a session; an old one stays if the file still has the time it names."""
    if old is not None and old.get("fileMtime") == int(file.mtime * 1000):
        return old
    seen = summarise(file, count=True)
    if seen.sidechain_only or not seen.messages:
        return None
    made = sessions_index_entry(
        file.session_id, str(file.path), mtime=file.mtime, first_prompt=seen.first_prompt,
        summary=seen.custom_title or seen.old_summary, messages=seen.messages,
        created=None if seen.created is None else seen.created.timestamp(),
        branch=seen.git_branch, project=seen.project,
    )  # fmt: skip
    return {**(old or {}), **made}
