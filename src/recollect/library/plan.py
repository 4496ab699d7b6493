"""Represent a change as a plan: what will happen, as data and as text. Nothing happens before `commit`.

plan = library.changes.rename("last", "Cache the tide tables")
print(plan.title, *plan.steps, sep="\\n")       # a dry run is a plan that is not committed
done = plan.commit()
library.changes.undo(done.number).commit()
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..environment import home_candidates
from ..export.formatting import plural, size
from ..journal.changes import Change, Record
from ..store.home import Home

if TYPE_CHECKING:
    from ..edit.fork import ForkResult
    from ..edit.move import MoveResult
    from ..edit.repair.plan import RepairResult, Standing


@dataclass(frozen=True)
class Committed:
    """A change that was made."""

    number: int | None
    """The number that `undo` needs; None if nothing had to be done."""
    title: str
    steps: list[str]
    result: dict[str, Any]
    undo_command: str | None
    """The command that undoes the change, from any folder."""


@dataclass
class Plan:
    """A change that is worked out and not made yet. Leaving it uncommitted changes nothing.

    A plan may hold files that were prepared for it: use it as a context manager, or call `discard`, to drop them early.
    """

    change: Change | None
    """The steps; None if there is nothing to do."""
    result: dict[str, Any]
    """What will be true afterwards, as plain data: the fields of `--json` and `/api/v1`."""
    said: str = ""
    """One sentence that is true once the change is made."""
    notes: list[str] = field(default_factory=list)
    """What a person should know about the change."""
    session_id: str | None = None
    """The session to show afterwards."""
    destructive: bool = False
    """Whether the change removes or rewrites something that exists, so that a person should be asked first."""
    after_commit: Callable[[Record], None] | None = None
    when_dropped: Callable[[], None] | None = None
    """Removes what was unpacked or laid out for the plan."""

    @property
    def title(self) -> str:
        return self.change.title if self.change is not None else "Nothing to do"

    @property
    def steps(self) -> list[str]:
        """Return what will be done, one line for each step."""
        return self.change.describe() if self.change is not None else []

    def commit(self) -> Committed:
        """Make the change, all of it or nothing. If it raises, everything is as before."""
        if self.change is None:
            return Committed(None, self.title, [], self.result, None)
        with self, self.change as change:
            steps = change.describe()
            record = change.commit()
        if self.after_commit is not None:
            self.after_commit(record)
        return Committed(record.number, record.title, steps, self.result, undo_command(record))

    def discard(self) -> None:
        """Drop what was prepared. Nothing was changed."""
        if self.change is not None:
            self.change.__exit__()
        if self.when_dropped is not None:
            dropped, self.when_dropped = self.when_dropped, None
            dropped()

    def __enter__(self) -> Plan:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()

    def as_dict(self, done: Committed | None = None) -> dict[str, Any]:
        """Return the plan (`done` None) or the change that was made, in the shape that every face shows."""
        return {
            **self.result,
            "change": None if done is None else done.number,
            "dry_run": done is None,
            "steps": self.steps if done is None else done.steps,
        }


def undo_command(record: Record) -> str:
    """Return the command that undoes a change, from any folder: if the home is not a usual one, the command names it."""
    usual = {Home(path).real_root for path in home_candidates()[0]}
    home = "" if record.home in usual else f"--home {shlex.quote(record.home)} "
    return f"recollect {home}undo {record.number}"


# Describe what a change did, as data and as text, for every face.


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
