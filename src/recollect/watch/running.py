"""Which sessions clients have open, from look to look: `sessions/<pid>.json` that come, change and go, and processes that die."""

from __future__ import annotations

import time
from typing import NamedTuple

from ..format.running import RunningSession
from ..store.home import Home
from ..store.liveness import has_it_open
from ..store.side_files import running_sessions


class Opened(NamedTuple):
    session_id: str
    running: RunningSession


class Closed(NamedTuple):
    session_id: str
    pid: int
    reason: str
    """"closed", "died" or "left", as in `SessionEnded`."""


class RunningClients:
    """Remembers who was there at the last look. The first look tells nothing: what is open then was opened before."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._open: dict[int, RunningSession] = {}
        self._open = self._now()[0]
        self.looked = time.monotonic()

    def look(self) -> list[Opened | Closed]:
        now, noted = self._now()
        before, self._open = self._open, now
        self.looked = time.monotonic()
        changes: list[Opened | Closed] = []
        for pid, session in before.items():
            if pid not in now:
                changes.append(Closed(_id(session), pid, "died" if pid in noted else "closed"))
            elif _id(now[pid]) != _id(session):
                changes.append(Closed(_id(session), pid, "left"))
        for pid, session in now.items():
            if pid not in before or _id(before[pid]) != _id(session):
                changes.append(Opened(_id(session), session))
        still_open = {_id(session) for session in now.values()}
        return [change for change in changes if isinstance(change, Opened) or change.session_id not in still_open]

    def _now(self) -> tuple[dict[int, RunningSession], set[int]]:
        """Sessions by the living process that has them open; and all processes that have a note."""
        alive: dict[int, RunningSession] = {}
        noted: set[int] = set()
        for item in running_sessions(self._home):
            if item.pid is None:
                continue
            noted.add(item.pid)
            if not has_it_open(item):
                continue
            if item.session_id:
                alive[item.pid] = item
            elif item.problem is not None and item.pid in self._open:  # caught while it is written: as it was before
                alive[item.pid] = self._open[item.pid]
        return alive, noted


def _id(session: RunningSession) -> str:
    return session.session_id or ""
