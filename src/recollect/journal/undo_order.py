"""Changes that came after the one to be undone, and need what it left: undone first, they all can be.

A folder that moved takes along what a later change put into it, and one that a later change took away cannot be brought
back where it has been made again: whoever undoes them out of turn could undo the later one never more.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .actions import Action, MakeFolder, Move, Remove, RemoveFolder
from .content_hash import was_changed
from .parent_folders import missing_above

if TYPE_CHECKING:
    from .journal import Record


def refuse_before_later_ones(record: Record, later: Sequence[Record]) -> None:
    """Raise Refused where undoing this change would keep one of the `later` ones, newest first, from being undone."""
    touching = _Touching(later)
    for place in _places(record):  # its bytes may be the same again, by chance or restored
        _refuse(place, "it was changed again since", touching.by(place))
    for action in record.actions:
        if isinstance(action, (Move, Remove)):
            gone = [str(folder) for folder in missing_above(Path(action.path))]
            found = [item for item in later if not _gone_by(item).isdisjoint(gone)]
            _refuse(action.path, "its folder was moved or removed since", found)


def _refuse(path: str, why: str, needed_by: Sequence[Record]) -> None:
    if needed_by:
        problem = was_changed(path, why)
        problem.hint = _hint(needed_by)
        raise problem


def what_to_undo_first(path: str, later: Iterable[Record]) -> str:
    """What helps where a file is not as it was left."""
    found = _Touching(later).by(path)
    if found:
        return _hint(found)
    return "nothing was undone: no later change is known, so somebody else wrote there, and would lose it"


def _gone_by(record: Record) -> set[str]:
    """Folders and files that a change moved or took away as they were."""
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
    """Which changes touch a place, something in it, or something that it is in."""

    def __init__(self, changes: Iterable[Record]) -> None:
        self._at: dict[str, dict[int, Record]] = {}
        self._below: dict[str, dict[int, Record]] = {}
        for record in changes:
            for place in _places(record):
                self._at.setdefault(place, {})[record.number] = record
                for folder in _above(place):
                    self._below.setdefault(folder, {})[record.number] = record

    def by(self, place: str) -> list[Record]:
        """Newest first."""
        found = dict(self._below.get(place, {}))
        for name in (place, *_above(place)):
            found.update(self._at.get(name, {}))
        return [found[number] for number in sorted(found, reverse=True)]


def _above(place: str) -> Iterator[str]:
    while (folder := os.path.dirname(place)) != place:
        yield folder
        place = folder
