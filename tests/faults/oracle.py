"""What must hold after any fault: judged from the bytes on disk, without the code that wrote them."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.operations import Operation
from tests.faults.scene import BYSTANDER, Scene, Tree, differences, without_chance

from recollect.graph.thread import find_thread
from recollect.store.read import read_transcript


@dataclass
class Reference:
    """An operation without any fault: the tree before and after, and the names it may touch."""

    operation: Operation
    before: Tree
    after: Tree
    seconds: float
    done_before: int
    done_after: int
    touched: set[str] = field(default_factory=set)
    judged: int = 0

    def __post_init__(self) -> None:
        self.touched = {self._plain(name) for name in differences(self.before, self.after)}
        self._shape = self._without_chance(self.after)
        a_day_ago = (time.time() - 86_400) * 1e9
        self._times = {
            self._plain(name): item.mtime_ns for name, item in self.after.items() if item.mtime_ns < a_day_ago
        }

    def _plain(self, name: str) -> str:
        """A name that the operation makes up differs from run to run."""
        return name if name in self.before else without_chance(name.encode()).decode()

    def _without_chance(self, tree: Tree) -> dict[str, bytes | None]:
        return {
            self._plain(name): item.content
            if item == self.before.get(name)
            else item.content and without_chance(item.content)
            for name, item in tree.items()
        }

    def touches_only_its_own(self, now: Tree) -> None:
        """Not even while the change is half done may any other name differ."""
        changed = [name for name in differences(self.before, now) if "recollect-" not in name]
        foreign = [name for name in changed if self._plain(name) not in self.touched]
        assert not foreign, f"{self.operation.name}: other files were touched: {foreign}"

    def outcome(self, now: Tree) -> str:
        """`old`, `new`, or `torn`: nothing but a line without an end, of an operation whose lines are not rolled back."""
        if not differences(self.before, now):
            return "old"
        if self._is_new(now):
            return "new"
        if self.operation.grows and self._is_torn(now):
            return "torn"
        raise AssertionError(f"{self.operation.name}: neither old nor new:\n{self._describe(now)}")

    def _is_new(self, now: Tree) -> bool:
        if self._without_chance(now) != self._shape:
            return False
        times = {self._plain(name): item.mtime_ns for name, item in now.items()}
        return all(times[name] == mtime for name, mtime in self._times.items())

    def _is_torn(self, now: Tree) -> bool:
        for name in differences(self.before, now):
            if self._plain(name) not in self.touched or name not in now:
                return False
            content = now[name].content
            if content is None:  # a folder, made for a file that did not come
                continue
            old = self.before[name].content or b"" if name in self.before else b""
            if not content.startswith(old) or b"\n" in content[len(old) :].removeprefix(b"\n"):
                return False
        return True

    def _describe(self, now: Tree) -> str:
        lines = []
        for label, tree in (("before", self.before), ("after", self.after)):
            for name in differences(tree, now):
                one, two = tree.get(name), now.get(name)
                sizes = [None if item is None else (len(item.content or b""), item.mtime_ns) for item in (one, two)]
                lines.append(f"{label}: {name}: {sizes[0]} -> {sizes[1]}")
        return "\n".join(lines)


def reference(scene: Scene, operation: Operation) -> Reference:
    """Prepare the operation, remember the scene, and see once what it does undisturbed."""
    if operation.prepare is not None:
        operation.prepare(scene)
    scene.remember()
    before, done_before = scene.photograph(), done_changes(scene)
    scene.reset()
    assert scene.photograph() == before, "the scene can be put back"
    start = time.perf_counter()
    operation.perform(scene)
    seconds = time.perf_counter() - start
    return Reference(operation, before, scene.photograph(), seconds, done_before, done_changes(scene))


def done_changes(scene: Scene) -> int:
    return sum(record.state == "done" for record in scene.journal.records())


def next_run(scene: Scene) -> Tree:
    """The next changing command puts everything in order; what the home looks like then."""
    journal = scene.journal
    with journal.locked(scene.home):
        journal.recover(scene.home)
    now = scene.photograph()
    litter = scene.litter(now)
    assert not litter, f"left behind: {litter}"
    assert all(record.state != "started" for record in journal.records())
    return now


def append_works(scene: Scene, session_id: str = BYSTANDER) -> None:
    """A new message becomes the end of the conversation, on a line of its own."""
    path = scene.transcript(session_id)
    old = path.read_bytes()
    with scene.writer(session_id) as writer:
        uuid = writer.append_message("user", "after the fault")
    now = path.read_bytes()
    assert now.startswith(old)
    assert now.endswith(b"\n")
    last = json.loads(now.splitlines()[-1])
    assert last["uuid"] == uuid
    assert find_thread(read_transcript(path, scene.home)).chain[-1].uuid == uuid
    assert not scene.litter(scene.photograph())


def whole_lines(path: Path, offset: int = 0) -> tuple[list[dict[str, object]], bytes]:
    """The lines behind an offset that are JSON objects, and what is left without an end. Anything else is an error."""
    *lines, rest = path.read_bytes()[offset:].split(b"\n")
    return [json.loads(line) for line in lines if line], rest
