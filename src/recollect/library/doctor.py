"""Report the state of the homes: facts about them, damaged lines, and what was skipped."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from ..check.unknown_parts import UnknownParts
from ..errors import RecollectError
from ..format.line import DAMAGE_KINDS, HARMLESS, Damage
from ..format.versions import is_future, parse_version
from ..store.config_files import cleanup_days
from ..store.home import Home
from ..store.scan import Scan, SessionFile
from ..store.side_files import survey
from .message_counts import COUNT_BUDGET

if TYPE_CHECKING:
    from .library import Library


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
    problem = library.vault.problem()
    if problem is None:
        return []
    place = {"session_id": "", "path": str(library.vault.folder), "line": None, "offset": None, "length": None}
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
    """List folders and files that other users of this machine may read."""
    told = []
    for path in (home.root, home.projects, home.config_file):
        try:
            mode = os.stat(path).st_mode
        except OSError:
            continue
        if os.name != "nt" and mode & (stat.S_IRGRP | stat.S_IROTH | stat.S_IWGRP | stat.S_IWOTH):
            told.append(f"{path} may be read by others ({stat.S_IMODE(mode):o})")
    return told


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
        note(file.path, "file-name", "the name is no UUID in lower case: the client does not find this session")
    if file.size == 0:
        note(file.path, "empty", "an empty file: the client finds no conversation")
    for path in (file.path, *(subagent.path for subagent in file.subagents)):
        try:
            for damage in parts.read(path, file.home, whole=whole):
                if damage.kind not in HARMLESS:
                    note(path, damage.kind, damage.detail, damage)
        except (RecollectError, OSError) as problem:
            note(path, "unreadable", str(problem))
    return findings
