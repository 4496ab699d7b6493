"""Stores written line by line, so that every count in them is known."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from recollect.library.library import Library
from recollect.library.usage import Ledger
from recollect.store.home import Home

MODEL = "claude-sonnet-4-5-20250929"
START = "2025-11-03T10:00:00.000Z"
Entry = dict[str, Any]


def tokens(fresh: int, output: int, short: int = 0, long: int = 0, read: int = 0, **more: Any) -> Entry:
    return {
        "input_tokens": fresh,
        "output_tokens": output,
        "cache_creation_input_tokens": short + long,
        "cache_read_input_tokens": read,
        "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long},
        "service_tier": "standard",
        **more,
    }


@contextmanager
def ledger_over(roots: Iterable[Path], folder: Path, *, zone: str = "UTC", prices: str = "then") -> Iterator[Ledger]:
    """Count over homes; the index and Recollect's own folders are below `folder`."""
    with Library([Home(root) for root in roots], own_folder=lambda kind: folder / kind) as library:
        yield library.ledger(zone, prices)


class Scene:
    """A home below a folder, and the ledger over it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "claude"
        (self.root / "projects" / "-p").mkdir(parents=True)
        self.folder = folder
        """Where the index and Recollect's own folders are."""
        self._serial = itertools.count(1)

    def path(self, name: str) -> Path:
        return self.root / "projects" / "-p" / f"{name}.jsonl"

    def answer(
        self, message: str | None, usage: Any, *, request: str | None = "req_1", time: str | None = START,
        stop: str | None = "end_turn", model: str | None = MODEL, session: str = "s", **more: Any,
    ) -> Entry:  # fmt: skip
        body: Entry = {
            "role": "assistant",
            "content": [{"type": "text", "text": "x"}],
            "stop_reason": stop,
            "usage": usage,
        }
        if message is not None:
            body["id"] = message
        if model is not None:
            body["model"] = model
        entry: Entry = {"type": "assistant", "message": body, "uuid": f"u{next(self._serial)}", "sessionId": session}
        if request is not None:
            entry["requestId"] = request
        if time is not None:
            entry["timestamp"] = time
        return entry | {"cwd": "/work/a", "gitBranch": "main"} | more

    def write(self, name: str, *entries: Entry | str, end: str = "\n") -> Path:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(_line(entry) for entry in entries) + end, "utf-8")
        return path

    def append(self, name: str, *entries: Entry | str) -> None:
        with self.path(name).open("a", encoding="utf-8") as stream:
            stream.write("".join(_line(entry) + "\n" for entry in entries))

    @property
    def index(self) -> Path:
        return self.folder / "cache" / "index"

    def open(
        self, *, zone: str = "UTC", prices: str = "then", folder: Path | None = None
    ) -> AbstractContextManager[Ledger]:
        return ledger_over([self.root], folder or self.folder, zone=zone, prices=prices)

    def counts(self, by: str = "day") -> tuple[int, int, int, int, int, int]:
        """Calls and the four classes (writes apart), by the quick way and by the thorough one: they must agree."""
        with self.open() as ledger:
            quick = ledger.usage("day").totals
            slow = ledger.usage("session").totals
            assert quick == slow
            found = ledger.usage(by).totals
        counts = found.counts
        return (
            found.calls, counts.input, counts.output, counts.cache_write_5m, counts.cache_write_1h, counts.cache_read,
        )  # fmt: skip


def _line(entry: Entry | str) -> str:
    return entry if isinstance(entry, str) else json.dumps(entry, separators=(",", ":"))
