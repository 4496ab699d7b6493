"""Refuse to undo a change before later changes that build on it.

A later change may have put files into a folder that this one moved, or may have removed a folder that this one needs. Undone out
of order, the later change could never be undone again. Undone newest first, all of them can.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Refused
from ..store.home import Home, is_inside
from .actions import Action, MakeFolder, Move, Remove, RemoveFolder, was_changed
from .disk import missing_above

if TYPE_CHECKING:
    from .journal import Record


def refuse_before_later_ones(record: Record, later: Sequence[Record]) -> None:
    """Raise Refused where one of the `later` changes (newest first) could not be undone after this one."""
    touching = _Touching(later)
    for place in _places(record):  # its bytes may be the same again, by chance or restored
        _refuse(place, "it was changed again since", touching.by(place))
    for action in record.actions:
        if isinstance(action, (Move, Remove)):
            gone = [str(folder) for folder in missing_above(Path(action.path))]
            responsible = [item for item in later if not _taken_away_by(item).isdisjoint(gone)]
            _refuse(action.path, "its folder was moved or removed since", responsible)


def _refuse(path: str, why: str, needed_by: Sequence[Record]) -> None:
    if needed_by:
        problem = was_changed(path, why)
        problem.hint = _hint(needed_by)
        raise problem


def what_to_undo_first(path: str, later: Iterable[Record]) -> str:
    """Return a hint for a file that is not as the change left it: which later changes to undo first, if any."""
    touching = _Touching(later).by(path)
    if touching:
        return _hint(touching)
    return "nothing was undone: no later change is known, so somebody else wrote there, and would lose it"


def refuse_without_place(path: Path, home: Home) -> None:
    """Raise Refused where an undo cannot bring something back to this path. Folders are made again only inside the home."""
    above = next(folder for folder in path.parents if os.path.lexists(folder))
    if not above.is_dir():
        raise Refused(
            f"cannot undo: {path}: {above} is not a folder", slug="no-place",
            hint="nothing was undone; move it away, then try again",
        )  # fmt: skip
    if above != path.parent and not is_inside(home, path):
        raise Refused(
            f"cannot undo: {path}: the folder {path.parent} is gone", slug="no-place",
            hint=f"nothing was undone; make {path.parent} again, then try again: it lies outside of {home.root}",
        )  # fmt: skip


def _taken_away_by(record: Record) -> set[str]:
    """Return the files and folders that a change moved or removed."""
    return {action.path for action in record.actions if isinstance(action, (Move, Remove))}


def _hint(later: Sequence[Record]) -> str:
    numbers = ", then ".join(str(record.number) for record in later)
    return f"undo change {numbers} first: later than this one, and about the same file"


def _places(record: Record) -> Iterator[str]:
    for action in record.actions:
        if not isinstance(action, (MakeFolder, RemoveFolder)):  # only ever of empty ones
            yield from _places_of(action)


def _places_of(action: Action) -> Iterator[str]:
    yield action.path
    if isinstance(action, Move):
        yield action.target


class _Touching:
    """Finds the changes that touch a path, something below it, or a folder above it."""

    def __init__(self, changes: Iterable[Record]) -> None:
        self._at: dict[str, dict[int, Record]] = {}
        self._below: dict[str, dict[int, Record]] = {}
        for record in changes:
            for place in _places(record):
                self._at.setdefault(place, {})[record.number] = record
                for folder in _above(place):
                    self._below.setdefault(folder, {})[record.number] = record

    def by(self, place: str) -> list[Record]:
        """Return the changes that touch a path, newest first."""
        changes = dict(self._below.get(place, {}))
        for name in (place, *_above(place)):
            changes.update(self._at.get(name, {}))
        return [changes[number] for number in sorted(changes, reverse=True)]


def _above(place: str) -> Iterator[str]:
    while (folder := os.path.dirname(place)) != place:
        yield folder
        place = folder
