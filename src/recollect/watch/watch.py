"""Watch homes: report every complete new entry of every transcript, once and in order, and its meaning as typed events.

    watcher = Watcher([home])
    while True:
        for event in watcher.step():
            ...

`step` returns after a fraction of a second, with or without events. Reading happens inside it, a piece at a time: a caller that
is slower than the writers loses nothing, since the files are the queue. Nothing is written, and no file is kept open.

The system tells which paths changed (watchfiles), where it can. Such a hint may be missing or wrong: what is new is always looked
up in the files themselves.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from ..format.session_meta import RunningSession
from ..store.home import Home
from ..store.liveness import has_it_open
from ..store.side_files import running_sessions
from .events import SessionEnded, SessionEvent, SessionStarted
from .home import WatchedHome
from .lines import Place

_GROUP_MS: Final = 40
"""Milliseconds: changes that come this close together are reported together."""
_STEP_MS: Final = 15

#: File systems that report no change which another machine makes.
_REMOTE: Final = frozenset(
    {
        "9p", "afs", "ceph", "cifs", "davfs", "drvfs", "fuse.davfs2", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs",
        "fuse.sshfs", "fuse.vmhgfs-fuse", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "prl_fs", "smb3", "smbfs",
        "vboxsf", "virtiofs",
    }
)  # fmt: skip


class Hints(Protocol):
    """Reports paths that may have changed."""

    def wait(self, seconds: float) -> set[str]:
        """Return paths that changed, as soon as there are some; an empty set after `seconds`, or once stopped."""
        ...

    def close(self) -> None: ...


class NativeHints:
    """Reports what the system notices, with one watch for each folder. Raises OSError or RuntimeError where it cannot.

    Uses a private class of watchfiles, because the public `watch()` begins to watch only with its first wait and always
    waits equally long (decision 0028). A release without the class, or with another one, is an OSError too: the caller polls.
    """

    def __init__(self, roots: Sequence[str], stop: threading.Event) -> None:
        self._stop = stop
        try:
            from watchfiles._rust_notify import RustNotify

            self._notify: Any = RustNotify(list(roots), False, False, 1000, True, True)
        except (ImportError, TypeError) as problem:
            raise OSError(f"this release of watchfiles cannot be used: {problem}") from problem
        if "PollWatcher" in repr(self._notify):  # it would go through all files, again and again
            self.close()
            raise OSError("the system reports no changes")

    def wait(self, seconds: float) -> set[str]:
        timeout = max(int(seconds * 1000), 1)
        try:
            changes = self._notify.watch(_GROUP_MS, min(_STEP_MS, timeout), timeout, self._stop)
        except (AttributeError, TypeError) as problem:
            raise OSError(f"this release of watchfiles cannot be used: {problem}") from problem
        if changes == "signal":
            raise KeyboardInterrupt
        return set() if isinstance(changes, str) else {path for _, path in changes}

    def close(self) -> None:
        with contextlib.suppress(RuntimeError, AttributeError):
            self._notify.close()


class NoHints:
    """Reports nothing and lets the time pass: the caller looks at the files in turn."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def wait(self, seconds: float) -> set[str]:
        self._stop.wait(seconds)
        return set()

    def close(self) -> None:
        return


def remote_kind(path: str) -> str | None:
    """Return the kind of network or shared file system that a path lies on; None for a disk of this machine."""
    if os.name == "nt":
        return "network share" if os.path.realpath(path).startswith("\\\\") else None
    try:
        table = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
    except OSError:
        return None
    return _remote_kind(os.path.realpath(path), table)


def _remote_kind(path: str, mounts: str) -> str | None:
    best, kind = "", ""
    for line in mounts.splitlines():
        fields, _, rest = line.partition(" - ")
        parts, mounted = fields.split(" "), rest.split(" ")[0]
        if len(parts) < 5 or not mounted:
            continue
        point = parts[4].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        is_above = path == point or path.startswith(point.rstrip("/") + "/")
        if is_above and len(point) >= len(best):
            best, kind = point, mounted
    return kind if kind in _REMOTE else None


TICK: Final = 0.1
"""Seconds that a step waits for something to happen."""
_RUNNING_SECONDS: Final = 1.0
_ROOTS_SECONDS: Final = 1.0
_SWEEP_BUDGET: Final = 0.01
_VISITS_SECONDS: Final = 0.02
_VISITS_EVENTS: Final = 256
_ANNOUNCED: Final = 10_000
_FEW_FOLDERS: Final = 512


class _Pace:
    """How often files are checked without a hint: those that changed lately, and all in turn."""

    def __init__(self, hot_seconds: float, cycle_seconds: float) -> None:
        self.hot_seconds = hot_seconds
        self.cycle_seconds = cycle_seconds


_POLLING: Final = _Pace(0.0, 1.0)
#: Hints get lost where many come at once, and on some file systems: the files have the last word.
_NATIVE: Final = _Pace(0.25, 20.0)


class Watcher:
    """Watches homes. `wants` restricts it to some transcripts, `polling` keeps it from asking the system for hints."""

    def __init__(
        self,
        homes: Sequence[Home],
        *,
        wants: Callable[[Place], bool] = lambda _: True,
        from_start: bool = False,
        polling: bool = False,
        stop: threading.Event | None = None,
    ) -> None:
        self.stop = stop or threading.Event()
        self.polling_reason: str | None = "asked for" if polling else None
        """Why files are polled; None while the system reports changes."""
        self._wants = wants
        self._announced: OrderedDict[str, None] = OrderedDict()
        self._roots: dict[str, int] = {}
        self._asked_homes = list(homes)
        self._hints: Hints = self._open_hints()  # before the homes are looked at, so that nothing comes in between
        self._homes = [WatchedHome(home, wants=wants, announce=self._announce, from_start=from_start) for home in homes]
        self._clients = [RunningClients(home) for home in homes]
        now = time.monotonic()
        self._hot_at = self._cycle_at = self._roots_at = now
        self._cycle: Iterator[tuple[WatchedHome, str]] | None = None
        self._ending: list[tuple[WatchedHome, Closed]] = []
        """Ended sessions whose last lines may not be read yet."""

    def close(self) -> None:
        self.stop.set()
        self._hints.close()

    # --- hints -------------------------------------------------------------------------------------------------------

    def _open_hints(self) -> Hints:
        self._roots = self._existing_roots()
        if self.polling_reason is None:
            remote = next((kind for home in self._asked_homes if (kind := remote_kind(str(home.root)))), None)
            if remote is not None:
                self.polling_reason = f"{remote} reports no changes"
        if self.polling_reason is not None or not self._roots:
            return NoHints(self.stop)
        try:
            return NativeHints(list(self._roots), self.stop)
        except (OSError, RuntimeError) as problem:
            self.polling_reason = str(problem) or type(problem).__name__
            return NoHints(self.stop)

    def _existing_roots(self) -> dict[str, int]:
        """Return the folders to watch with their identities: one that is made later, or again, must be watched again."""
        found: dict[str, int] = {}
        for home in self._asked_homes:
            for path in (str(home.projects), str(home.root / "sessions")):
                try:
                    found[path] = os.stat(path).st_ino
                except OSError:
                    continue
        return found

    def _wait(self, seconds: float) -> set[str]:
        try:
            return self._hints.wait(seconds)
        except (OSError, RuntimeError) as problem:  # no more watches for a new folder, or a name that is not text
            self._hints.close()
            self.polling_reason = str(problem) or type(problem).__name__
            self._hints = NoHints(self.stop)
            return set()

    def _check_roots(self) -> None:
        if self.polling_reason is None and self._existing_roots() != self._roots:
            self._hints.close()
            self._hints = self._open_hints()
            for home in self._homes:
                home.explore(home.root)
                self._cycle_at = 0.0

    # --- steps -------------------------------------------------------------------------------------------------------

    def step(self, seconds: float = TICK) -> list[SessionEvent]:
        """Return the next events; none if nothing happened for `seconds`."""
        is_idle = not any(home.queue for home in self._homes)
        hints = self._wait(seconds if is_idle else 0.0)
        if self.stop.is_set():
            return []
        clients_changed = False
        for path in hints:
            if os.path.basename(os.path.dirname(path)) == "sessions":
                clients_changed = True
            for home in self._homes:
                home.hint(path)
        self._sweep()
        events = [event for home in self._homes for event in _visit_some(home)]
        for home, clients in zip(self._homes, self._clients, strict=True):
            if clients_changed or time.monotonic() - clients.looked >= _RUNNING_SECONDS:
                for change in clients.look():
                    if isinstance(change, Closed):
                        self._ending.append((home, change))
                    else:
                        events.extend(self._opened(home, change))
        return [*events, *self._ended()]

    def _sweep(self) -> None:
        """Check some files without a hint: often those that changed lately, now and then every one."""
        now = time.monotonic()
        pace = _NATIVE if self.polling_reason is None and self._roots else _POLLING
        if now - self._roots_at >= _ROOTS_SECONDS:
            self._roots_at = now
            self._check_roots()
        if now - self._hot_at >= pace.hot_seconds:
            self._hot_at = now
            for home in self._homes:
                for path in home.hot_places():
                    home.check(path)
                if pace is _POLLING and len(home.folders) <= _FEW_FOLDERS:
                    for path in list(home.folders):
                        home.check(path)
        if self._cycle is None and now - self._cycle_at >= pace.cycle_seconds:
            self._cycle_at = now
            self._cycle = _all_places(self._homes)
        if self._cycle is not None:
            for number, (home, path) in enumerate(self._cycle):
                home.check(path)
                if number % 64 == 63 and time.monotonic() - now > _SWEEP_BUDGET:
                    return
            self._cycle = None

    def _opened(self, home: WatchedHome, change: Opened) -> list[SessionEvent]:
        if not self._wants(Place(change.session_id)) or not self._announce(change.session_id):
            return []
        path = next(iter(home.paths_of(change.session_id)), None)
        running = change.running
        return [
            SessionStarted(
                session_id=change.session_id, time=time.time(), path=path, cwd=running.cwd, pid=running.pid,
            )
        ]  # fmt: skip

    def _ended(self) -> list[SessionEvent]:
        """Return the events of sessions that ended, after those of the lines written before the end."""
        events: list[SessionEvent] = []
        waiting, self._ending = self._ending, []
        for home, change in waiting:
            if not self._wants(Place(change.session_id)):
                continue
            paths = home.paths_of(change.session_id)
            for path in paths:
                home.queue.pop(path, None)
                visit = home.visit(path)
                events.extend(visit.events)
                if visit.more:
                    home.queue[path] = None
            if any(path in home.queue for path in paths):
                self._ending.append((home, change))
                continue
            self._announced.pop(change.session_id, None)
            ended = SessionEnded(
                session_id=change.session_id, time=time.time(), path=paths[0] if paths else None,
                reason=change.reason, pid=change.pid,
            )  # fmt: skip
            events.append(ended)
        return events

    def _announce(self, session_id: str) -> bool:
        """Whether the start of a session was not reported yet; it is noted as reported."""
        if session_id in self._announced:
            return False
        self._announced[session_id] = None
        if len(self._announced) > _ANNOUNCED:
            self._announced.popitem(last=False)
        return True


def _visit_some(home: WatchedHome) -> list[SessionEvent]:
    """Read new lines for a moment, from each file in its turn, so that a long one does not delay the others."""
    events: list[SessionEvent] = []
    end = time.monotonic() + _VISITS_SECONDS
    while home.queue and len(events) < _VISITS_EVENTS and time.monotonic() < end:
        path = next(iter(home.queue))
        del home.queue[path]
        visit = home.visit(path)
        events.extend(visit.events)
        if visit.more:
            home.queue[path] = None
    return events


def _all_places(homes: list[WatchedHome]) -> Iterator[tuple[WatchedHome, str]]:
    for home in homes:
        for path in [*home.folders, *home.known]:
            yield home, path


class Opened(NamedTuple):
    """Claude Code opened a session."""

    session_id: str
    running: RunningSession


class Closed(NamedTuple):
    """Claude Code closed a session, or died."""

    session_id: str
    pid: int
    reason: str
    """"closed", "died" or "left", as in `SessionEnded`."""


class RunningClients:
    """Tells which sessions were opened and closed since the last look, by `sessions/<pid>.json` and the processes that live.

    The first look reports nothing: what is open then was opened before.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._open: dict[int, RunningSession] = {}
        self._open = self._now()[0]
        self.looked = time.monotonic()

    def look(self) -> list[Opened | Closed]:
        """Return what changed since the last look."""
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
        """Return the open sessions by their living process, and all processes that have a file."""
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
            elif item.problem is not None and item.pid in self._open:  # the file is just being written
                alive[item.pid] = self._open[item.pid]
        return alive, noted


def _id(session: RunningSession) -> str:
    return session.session_id or ""
