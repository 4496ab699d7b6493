"""Describe what a change did, as data and as text, for every face."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..export.formatting import plural, size

if TYPE_CHECKING:
    from ..edit.fork import ForkResult
    from ..edit.move import MoveResult
    from ..edit.repair.plan import RepairResult, Standing


def fork_data(result: ForkResult) -> dict[str, Any]:
    return {
        "session_id": result.session_id,
        "path": str(result.path),
        "from": result.source,
        "at": result.at,
        "leaf": result.leaf,
        "title": result.title,
        "keep_uuids": result.keep_uuids,
        "rows": result.rows,
        "messages": result.messages,
        "sent": result.sent,
        "state_lines": result.state_lines,
        "left_out": dict(result.left_out),
        "subagents": result.subagents,
        "tool_results": result.tool_results,
        "file_backups": result.file_backups,
    }


def came_along(result: ForkResult) -> str:
    """Say what was copied with a fork, and what is missing from it."""
    counts = [
        (len(result.subagents), "subagent"),
        (result.tool_results, "long output"),
        (result.file_backups, "file backup"),
    ]
    along = "".join(f", {plural(number, what)}" for number, what in counts if number)
    lost = [
        plural(number, *words)
        for number, words in (
            (result.left_out["damaged_lines"], ("damaged line",)),
            (result.left_out["file_backups"], ("file backup that is not there", "file backups that are not there")),
        )
        if number
    ]
    return along + (f"; left out: {', '.join(lost)}" if lost else "")


def repair_data(result: RepairResult) -> dict[str, Any]:
    return {
        "session_id": result.session_id,
        "path": str(result.path),
        "target": str(result.target),
        "fork": result.fork,
        "before": standing(result.before),
        "after": standing(result.after),
        "fixes": [
            {"fix": item.fix, "words": item.words, "places": item.places, "path": str(item.path)}
            for item in result.fixes
        ],
        "refused": result.refused,
        "for_older": result.for_older,
        "fragments": result.fragments,
        "side_file": None if result.side_file is None else str(result.side_file),
    }


def what_older_versions_need(result: RepairResult) -> list[str]:
    from ..check.rules import RULES
    from ..edit.repair.fixes import FIXES

    return [
        f"older versions of Claude Code need: {FIXES[name].words} (--rule "
        f"{' or '.join(code for code, rule in RULES.items() if rule.fix == name)})"
        for name in result.for_older
    ]


def standing(item: Standing) -> dict[str, Any]:
    return {"found": item.found, "reachable_share": item.share, "messages": item.sent}


def share_words(item: Standing) -> str:
    return f"{item.share:.0%} reachable" if item.found else "no conversation found"


def deleted(result: Mapping[str, Any]) -> str:
    sessions = result["sessions"]
    names = ", ".join(os.path.basename(name) for name in sessions[:3])
    more = f" and {len(sessions) - 3} more" if len(sessions) > 3 else ""
    what = f"{names}{more}" if names else "the project's entries"
    files = plural(len(result["paths"]), "file or folder", "files and folders")
    return f"deleted {what}: {files}, {result['bytes']:,} bytes"


def moved(result: MoveResult, verb: str) -> str:
    parts = [f"{verb} {plural(len(result.sessions), 'session')} in {plural(len(result.folders), 'folder')}"]
    if result.history_lines:
        parts.append(plural(result.history_lines, "prompt"))
    if result.config_projects:
        parts.append(plural(len(result.config_projects), "entry", "entries") + " of the config")
    if result.backups_renamed:
        parts.append(plural(result.backups_renamed, "file backup"))
    return ", ".join(parts)


def restored(result: Mapping[str, Any]) -> str:
    return ", ".join(
        (plural(len(result["sessions"]), "session"), plural(len(result["files"]), "file"), size(result["bytes"]))
    )
