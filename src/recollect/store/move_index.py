"""`sessions-index.json` when sessions move: its entries name the file and the project.

Clients 2.0.77 - 2.1.20 keep it, as a cache: an entry whose file has the time it had is shown without opening the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from .home_places import index_bytes, index_entries, moved_index_entry
from .move_steps import Placing
from .move_survey import MovingFolder
from .path_map import PathMap
from .paths import read_inside

INDEX: Final = "sessions-index.json"


def move_index_along(placing: Placing, folder: MovingFolder, paths: PathMap) -> None:
    """The folder has moved as a whole, or stays where it is: the entries of its sessions change."""
    known = _read(placing, folder.source / INDEX)
    if known is None:
        return
    moved = _moved(known[1], folder, paths)
    if moved != known[1]:
        placing.rewrite(folder.source / INDEX, [index_bytes(known[0], moved)])


def move_index_entries(placing: Placing, folder: MovingFolder, paths: PathMap) -> None:
    """Sessions go into a folder that is there: their entries go into its index, if it has one (the client adds others)."""
    source, target = folder.source / INDEX, folder.target / INDEX
    known, there = _read(placing, source), _read(placing, target)
    moving = _ids(folder)
    entries = known[1] if known is not None else []
    if there is not None and entries:
        held = {entry.get("sessionId") for entry in there[1]}
        new = [entry for entry in _moved(entries, folder, paths) if entry.get("sessionId") in moving - held]
        if new:
            placing.rewrite(target, [index_bytes(there[0], [*there[1], *new])])
    if folder.whole:
        if source.exists():
            placing.change.remove(source)
    elif known is not None:
        rest = [entry for entry in entries if entry.get("sessionId") not in moving]
        if rest != entries:
            placing.rewrite(source, [index_bytes(known[0], rest)])


def _ids(folder: MovingFolder) -> set[object]:
    return {session.session_id for session in folder.sessions}


def _moved(entries: list[dict[str, Any]], folder: MovingFolder, paths: PathMap) -> list[dict[str, Any]]:
    moving = _ids(folder)
    return [
        moved_index_entry(entry, paths, folder.target / f"{entry['sessionId']}.jsonl")
        if entry.get("sessionId") in moving
        else entry
        for entry in entries
    ]


def _read(placing: Placing, path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
    if not path.is_file():
        return None
    return index_entries(read_inside(placing.change.home, path))
