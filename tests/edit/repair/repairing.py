"""Repair bytes in one go, and judge the outcome without the code that made it."""

from __future__ import annotations

import json
import stat
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.running import tree_state

from recollect.edit.repair.draft import Draft, Fragment
from recollect.edit.repair.fixes import FIXES
from recollect.edit.repair.plan import Standing, apply_fixes, standing, usual_fixes
from recollect.graph.rows import Transcript
from recollect.graph.thread import Thread, find_thread
from recollect.store.home import Home

#: What a repair may set on a line. Everything else of a valid line must still be there.
MAY_CHANGE = frozenset({"parentUuid", "timestamp", "uuid", "isSidechain", "type", "message", "toolUseResult"})


@dataclass
class Repaired:
    before: bytes
    after: bytes
    was: Standing
    now: Standing
    fixes: list[str]
    refused: list[str]
    fragments: list[Fragment] = field(default_factory=list)
    transcript: Transcript | None = None

    @property
    def thread(self) -> Thread:
        assert self.transcript is not None
        return find_thread(self.transcript)

    @property
    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.after.split(b"\n") if line.strip()]


def repair(data: bytes, *names: str, stem: str = "00000000-0000-4000-8000-000000000001") -> Repaired:
    """Let the usual fixes, or the named ones, work on some bytes; those for older versions of Claude Code, too."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / f"{stem}.jsonl"
        path.write_bytes(data)
        draft = Draft.of(path, Home(Path(name)))
        was = standing(draft)
        done, refused = apply_fixes(draft, [FIXES[item] for item in names] if names else usual_fixes())
        after = b"".join(draft.chunks())
        repaired = Repaired(data, after, was, standing(draft), [item.fix for item in done], refused, draft.fragments)
        repaired.transcript = draft.transcript()
        draft.close()
    return repaired


def valid_lines(data: bytes) -> Counter[str]:
    """Every line that is a JSON object to a strict reader, without what a repair may set."""
    found: Counter[str] = Counter()
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        try:
            value = json.loads(line.decode("utf-8"), parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            kept = {key: item for key, item in value.items() if key not in MAY_CHANGE}
            try:
                found[json.dumps(kept, sort_keys=True)] += 1
            except RecursionError:
                continue
    return found


def files_state(root: Path) -> dict[str, tuple[str, int, int]]:
    """Every file with its bytes, mode and time. Folders know when something in them was last made or removed."""
    return {name: item for name, item in tree_state(root).items() if not stat.S_ISDIR(item[1])}


def _refuse(name: str) -> float:
    raise ValueError(name)
