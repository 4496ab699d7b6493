"""Find circles among links that lead from a row to its parent."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def find_circles(starts: Iterable[str], parent_of: Callable[[str], str | None]) -> list[list[str]]:
    """The circles that can be reached from `starts`, each once; a row that is its own parent is one of length 1.

    `parent_of` answers None where the chain ends: no parent, or one that is not there.
    """
    done: set[str] = set()
    found: list[list[str]] = []
    for start in starts:
        place: dict[str, int] = {}
        step: str | None = start
        while step is not None and step not in done and step not in place:
            place[step] = len(place)
            step = parent_of(step)
        if step is not None and step in place:
            found.append(list(place)[place[step] :])
        done.update(place)
    return found
