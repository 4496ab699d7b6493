"""Represent a change as a plan: what will happen, as data and as text. Nothing happens before `commit`.

plan = library.changes.rename("last", "Cache the tide tables")
print(plan.title, *plan.steps, sep="\\n")       # a dry run is a plan that is not committed
done = plan.commit()
library.changes.undo(done.number).commit()
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from ..environment import home_candidates
from ..journal.changes import Change, Record
from ..store.home import Home


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
