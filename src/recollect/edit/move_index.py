"""`sessions-index.json` when sessions move: its entries name the file and the project.

Clients 2.0.77 - 2.1.20 keep it, as a cache: an entry whose file has the time it had is shown without opening the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..store.path_map import PathMap
from ..store.paths import read_inside
from ..store.project_folders import MovingFolder
from .config_paths import index_bytes, index_entries, listed_session, moved_index_entry
from .move_steps import Placing

INDEX: Final = "sessions-index.json"


@dataclass
class _Index:
    path: Path
    head: dict[str, Any]
    entries: list[dict[str, Any]]
    before: list[dict[str, Any]]


class MovingIndexes:
    """The indexes of the folders that move. Each is written once, however many folders become one."""

    def __init__(self, placing: Placing, paths: PathMap) -> None:
        self.placing = placing
        self.paths = paths
        self._known: dict[Path, _Index] = {}
        """By the place where it will be."""

    def along(self, folder: MovingFolder) -> None:
        """The folder has moved as a whole, or stays where it is: the entries of its sessions change."""
        index = self._open(folder.source / INDEX)
        if index is not None:
            index.entries = self._moved(index.entries, folder)

    def over(self, folder: MovingFolder) -> None:
        """Sessions go into a folder that is there: their entries go into its index, if it has one (the client adds others)."""
        source, there = folder.source / INDEX, self.placing.there(folder.target / INDEX)
        known, joined = self._open(source), self._open(there) if there is not None else None
        moving = _ids(folder)
        if known is not None and joined is not None:
            held = {listed_session(entry) for entry in joined.entries}
            new = [e for e in self._moved(known.entries, folder) if listed_session(e) in moving - held]
            joined.entries = [*joined.entries, *new]
        if folder.whole:
            if source.exists():
                self._known.pop(source, None)
                self.placing.change.remove(source)
        elif known is not None:
            known.entries = [entry for entry in known.entries if listed_session(entry) not in moving]

    def write(self) -> None:
        """Plan what came of it."""
        for index in self._known.values():
            if index.entries != index.before:
                self.placing.rewrite(index.path, [index_bytes(index.head, index.entries)])

    def _open(self, path: Path) -> _Index | None:
        """The index that is at this path on disk while the change is planned."""
        then = self.placing.place_of(path)[1]
        if then not in self._known:
            found = index_entries(read_inside(self.placing.change.home, path)) if path.is_file() else None
            if found is None:
                return None
            self._known[then] = _Index(path, *found, found[1])
        return self._known[then]

    def _moved(self, entries: list[dict[str, Any]], folder: MovingFolder) -> list[dict[str, Any]]:
        moving = _ids(folder)
        return [
            moved_index_entry(entry, self.paths, folder.target / f"{entry['sessionId']}.jsonl")
            if listed_session(entry) in moving
            else entry
            for entry in entries
        ]


def _ids(folder: MovingFolder) -> set[object]:
    return {session.session_id for session in folder.sessions}
