"""A store under the hands of a writer, and what a watch of it must tell: the model of the property tests.

Every line is unlike every other. Lines that stood there before the watch are of an early year, new ones of a late year.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from recollect.store.home import Home
from recollect.watch.events import EntryAdded, LineDamaged, SessionEvent
from recollect.watch.home import WatchedHome

SESSIONS = [f"{n:08x}-0000-4000-8000-000000000000" for n in range(3)]
FOLDERS = ["-w-app", "-w-lib"]
OLD, NEW = "2026-01-01T00:00:00.000Z", "2099-01-01T00:00:00.000Z"
_OLD_TIME = 1_767_312_000  # a day later


class Store:
    """Sessions and a subagent on disk, changed at random as clients and tools change them."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.home = Home(root)
        self.chance = chance
        self._numbers = itertools.count()
        self.new: dict[bytes, None] = {}
        """Lines that were written whole since the watch began."""
        self._begun: dict[str, bytes] = {}
        self.must_look = False
        """What happened cannot be told from the next change together with it, in a file that was never read."""
        self.is_followed: Callable[[str], bool] = lambda _: True
        for folder in FOLDERS:
            (self.home.projects / folder).mkdir(parents=True)
        for session in SESSIONS[:2]:
            path = self.home.projects / FOLDERS[0] / f"{session}.jsonl"
            lines = [self.line(OLD) for _ in range(chance.randrange(6))]
            path.write_bytes(b"".join(lines) + (self.line(OLD)[:9] if chance.random() < 0.3 else b""))
            if chance.random() < 0.5:  # else it counts as in use
                os.utime(path, (_OLD_TIME, _OLD_TIME))

    def line(self, time: str = NEW) -> bytes:
        number = next(self._numbers)
        words = "x" * self.chance.choice([0, 0, 5, 60, 300])
        entry = {"type": "user", "uuid": f"u{number}", "timestamp": time, "message": {"role": "user", "content": words}}
        data = json.dumps(entry).encode() + b"\n"
        if time == NEW:
            self.new[data] = None
        return data

    def files(self) -> list[Path]:
        return sorted(self.home.projects.rglob("*.jsonl"))

    def change(self) -> str:
        """One step of some writer."""
        name = self.chance.choice(
            ["append"] * 6 + ["half"] * 4 + ["batch"] * 2 + ["cut", "cut_line", "replace", "rewrite", "regrow", "rename",
             "remove", "create", "subagent"]
        )  # fmt: skip
        files = self.files()
        if name in ("create", "subagent") or not files:
            self._create(subagent=name == "subagent")
            return name
        path = self.chance.choice(files)
        if not self.is_followed(str(path)):
            # Nobody can tell what was changed in place in a file that was never read.
            name = "append" if name in ("regrow", "rewrite") else name
            self.must_look = name in ("cut", "cut_line")
        getattr(self, f"_{name}")(path)
        return name

    def _create(self, *, subagent: bool) -> None:
        session = self.chance.choice(SESSIONS)
        here = [path for path in self.files() if path.name == f"{session}.jsonl"]
        folder = here[0].parent if here else self.home.projects / self.chance.choice(FOLDERS)
        path = folder / session / "subagents" / "agent-a1.jsonl" if subagent else folder / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._append(path)

    def _append(self, path: Path) -> None:
        with open(path, "ab") as stream:
            stream.write(self.line())

    def _batch(self, path: Path) -> None:
        lines = b"".join(self.line() for _ in range(self.chance.randrange(2, 30)))
        with open(path, "ab") as stream:
            stream.write(lines[: self.chance.randrange(len(lines))] if self.chance.random() < 0.5 else lines)

    def _half(self, path: Path) -> None:
        """Finish the line that was begun, if the end of the file fits one; else begin one."""
        tail = path.read_bytes().rpartition(b"\n")[2]
        line = self._begun.get(path.name, b"")
        if not tail or not line.startswith(tail):
            tail, line = b"", self.line()
            self._begun[path.name] = line
        with open(path, "ab") as stream:
            stream.write(line[len(tail) :][: self.chance.randrange(1, len(line) - len(tail) + 1)])

    def _cut(self, path: Path) -> None:
        os.truncate(path, self.chance.randrange(path.stat().st_size + 1))

    def _cut_line(self, path: Path) -> None:
        lines = path.read_bytes().splitlines(keepends=True)
        os.truncate(path, sum(map(len, lines[: self.chance.randrange(len(lines) + 1)])))

    def _some_lines(self, path: Path) -> bytes:
        """Some of the file's lines and some new ones: as a clean-up leaves it, or a repair."""
        lines = [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
        kept = [line for line in lines if self.chance.random() < 0.6]
        return b"".join([*kept, *(self.line() for _ in range(self.chance.randrange(3)))])

    def _replace(self, path: Path) -> None:
        other = path.with_name(f".{path.name}.tmp")
        other.write_bytes(self._some_lines(path))
        os.replace(other, path)

    def _rewrite(self, path: Path) -> None:
        path.write_bytes(self._some_lines(path))

    def _regrow(self, path: Path) -> None:
        """Cut the end off and write more than there was, at once; a part of it may be what was cut."""
        data = path.read_bytes()
        end = data.rfind(b"\n", 0, self.chance.randrange(len(data) + 1)) + 1
        again = data[end : data.rfind(b"\n") + 1] if self.chance.random() < 0.5 else b""
        with open(path, "r+b") as stream:
            stream.truncate(end)
            stream.seek(end)
            stream.write(self.line() + again + b"".join(self.line() for _ in range(4)))

    def _rename(self, path: Path) -> None:
        if path.parent.name in FOLDERS:
            os.rename(path, self.home.projects / self.chance.choice(FOLDERS) / path.name)

    def _remove(self, path: Path) -> None:
        path.unlink()


class Observer:
    """A watch of that store, and everything it told."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.watched = WatchedHome(store.home, wants=lambda _: True, announce=lambda _: True)
        store.is_followed = self.watched.is_followed
        self.told: Counter[bytes] = Counter()

    def look(self) -> list[SessionEvent]:
        """Look at everything; check order and that nothing is missing or told twice."""
        self.store.must_look = False
        for place in [*self.watched.folders, *self.watched.known]:
            self.watched.check(place)
        events: list[SessionEvent] = []
        while self.watched.queue:
            path = next(iter(self.watched.queue))
            del self.watched.queue[path]
            visit = self.watched.visit(path)
            events.extend(visit.events)
            if visit.more:
                self.watched.queue[path] = None
        self._check(events)
        return events

    def _check(self, events: list[SessionEvent]) -> None:
        on_disk: set[bytes] = set()
        for path in self.store.files():
            lines = [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
            on_disk.update(lines)
            told = [event.raw + b"\n" for event in events if isinstance(event, EntryAdded) and event.path == str(path)]
            # Objects out of torn lines are told as well; here only lines count.
            whole = [line for line in told if line in lines]
            assert whole == [line for line in lines if line in set(whole)], "not in the order of the file"
            assert not any(OLD.encode() in line for line in whole), "old lines told as new"
            self.told.update(whole)
        assert all(isinstance(event, EntryAdded | LineDamaged) or event.kind.endswith("started") for event in events)
        assert [line for line, count in self.told.items() if count > 1] == [], "told twice"
        assert on_disk & set(self.store.new) <= set(self.told), "not told"
