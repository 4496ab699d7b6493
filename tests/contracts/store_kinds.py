"""The stores of the package, by name, for tests that hold for all of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.stores.folder import FolderSessionStore
from recollect.stores.memory import MemorySessionStore
from recollect.stores.protocol import SessionKey, SessionStore
from recollect.stores.sqlite import SqliteSessionStore

Json = dict[str, Any]


def folder_by_names(place: Path) -> FolderSessionStore:
    """As on systems where folders cannot be held open."""
    store = FolderSessionStore(place)
    store._hold_folders = False
    return store


OPENERS: dict[str, Callable[[Path], SessionStore]] = {
    "memory": lambda _: MemorySessionStore(),
    "folder": FolderSessionStore,
    "folder-by-names": folder_by_names,
    "folder-unsynced": lambda place: FolderSessionStore(place, fsync=False),
    "sqlite": SqliteSessionStore,
    "sqlite-unsynced": lambda place: SqliteSessionStore(place, fsync=False),
}
#: A killed process loses nothing of what it gave to the system, so these differ from their synced twins in speed alone.
UNSYNCED = [name for name in OPENERS if name.endswith("-unsynced")]
KINDS = [name for name in OPENERS if name not in UNSYNCED]
LASTING = [name for name in KINDS if name != "memory"]


@dataclass(frozen=True)
class Kind:
    """One kind of store, with a place of its own."""

    name: str
    place: Path

    def open(self, place: Path | None = None) -> SessionStore:
        return OPENERS[self.name](place or self.place)

    def maker(self) -> Callable[[], SessionStore]:
        numbers = itertools.count()
        return lambda: self.open(self.place.with_name(f"store-{next(numbers)}"))

    def reopener(self) -> Callable[[SessionStore], SessionStore] | None:
        if self.name == "memory":
            return None
        return lambda store: self.open(store.path if isinstance(store, SqliteSessionStore) else _root(store))


def _root(store: SessionStore) -> Path:
    assert isinstance(store, FolderSessionStore)
    return store.root


def everything_in(folder: Path) -> dict[str, bytes]:
    """The bytes of all files below a folder, by relative path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


SESSION = "11111111-2222-4333-8444-555555555555"
KEY: SessionKey = {"project_key": "-p", "session_id": SESSION}
SUBAGENT: SessionKey = {**KEY, "subpath": "subagents/agent-1"}


def row(number: int, **more: Any) -> Json:
    return {"type": "user", "uuid": f"row-{number}", "n": number, **more}


async def loaded(store: SessionStore, key: SessionKey = KEY) -> list[Any] | None:
    return await store.load(key)


def transcript(root: Path) -> Path:
    return root / "projects" / "-p" / f"{SESSION}.jsonl"
