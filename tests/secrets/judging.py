"""Compare what a search finds in a home with what was planted there."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from recollect.library.library import Library
from recollect.library.secrets import Finding
from recollect.store.home import Home
from recollect.testing.secret_home import Planted

COVERED = 0.8


@dataclass
class Score:
    """How many of the planted secrets were found, and how many of the finds are right."""

    found: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    planted: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    right: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    false: dict[str, list[Finding]] = field(default_factory=lambda: defaultdict(list))
    missed: list[Planted] = field(default_factory=list)
    right_kind: int = 0

    def recall(self, group: str) -> float:
        return self.found[group] / self.planted[group] if self.planted[group] else 1.0

    def precision(self, *confidences: str) -> float:
        right = sum(self.right[name] for name in confidences)
        false = sum(len(self.false[name]) for name in confidences)
        return right / (right + false) if right + false else 1.0

    def count(self, group: str, is_found: bool) -> None:
        self.planted[group] += 1
        self.found[group] += is_found


def search(home: Path, own: Path, min_confidence: str = "possible") -> list[Finding]:
    """Search a home with folders of our own below `own`."""
    with Library([Home(home)], own_folder=lambda kind: own / kind) as library:
        return list(library.secrets(min_confidence=min_confidence))


def score(finds: list[Finding], planted: list[Planted]) -> Score:
    """Judge finds of all confidences; a planted secret counts as found by a definite or a likely find."""
    result = Score()
    at: dict[tuple[str, int, str | None], list[Finding]] = defaultdict(list)
    there: dict[tuple[str, int, str | None], list[Planted]] = defaultdict(list)
    for find in finds:
        at[find.path, find.line, find.pointer].append(find)
    for item in planted:
        there[item.file, item.line, item.pointer].append(item)
        if item.family != "secret":
            continue
        hits = [
            find
            for find in at[item.file, item.line, item.pointer]
            if find.confidence != "possible" and _overlap(find, item) >= COVERED * (item.end - item.start)
        ]
        for group in ("all", item.confidence, f"kind {item.kind}", f"form {item.form}"):
            result.count(group, bool(hits))
        result.right_kind += any(find.kind == item.kind for find in hits)
        if not hits:
            result.missed.append(item)
    for find in finds:
        rows = there[find.path, find.line, find.pointer]
        if any(_overlap(find, item) > 0 for item in rows if item.family != "harmless"):
            result.right[find.confidence] += 1
        else:
            result.false[find.confidence].append(find)
    return result


def _overlap(find: Finding, item: Planted) -> int:
    return min(find.end, item.end) - max(find.start, item.start)
