"""Build the tree of all rows by their parent links: children, roots, leaves, orphans and circles, reachable or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from .rows import Row


class Tree(Struct):
    """Rows by uuid and the links between them, see `Transcript.by_uuid` for rows with the same uuid."""

    rows: dict[str, Row]
    children: dict[str, list[str]]
    roots: list[str]
    """Uuids of rows that name no parent."""
    orphans: list[str]
    """Uuids of rows whose parent is missing."""
    circles: list[list[str]]
    """Uuids of rows that are their own ancestors, each circle once."""

    def ancestors(self, uuid: str) -> list[Row]:
        """Return the rows from the root (or the first row whose parent is missing) to the row itself.

        In a circle each row is listed once.
        """
        path: list[Row] = []
        seen: set[str] = set()
        step: str | None = uuid
        while step is not None and step in self.rows and step not in seen:
            seen.add(step)
            path.append(self.rows[step])
            step = self.rows[step].parent
        path.reverse()
        return path


def build_tree(by_uuid: dict[str, Row]) -> Tree:
    """Build the tree of rows, in time linear in their number and without recursion, so that depth does not matter."""
    tree = Tree(by_uuid, {}, [], [], [])
    children = tree.children
    later: list[str] = []
    before: Row | None = None
    for uuid, row in by_uuid.items():
        parent = row.parent
        if parent is None:
            tree.roots.append(uuid)
        else:
            # Most rows hang on the row before them: that saves a look-up.
            above = before if before is not None and before.uuid is parent else by_uuid.get(parent)
            if above is None:
                tree.orphans.append(uuid)
            else:
                first = [uuid]
                known = children.setdefault(parent, first)
                if known is not first:
                    known.append(uuid)
                if above.index >= row.index:
                    later.append(uuid)
        before = row
    # In every circle there is a row whose parent does not stand before it.
    tree.circles = find_circles(later, lambda uuid: row.parent if (row := by_uuid.get(uuid)) is not None else None)
    return tree


def find_circles(starts: Iterable[str], parent_of: Callable[[str], str | None]) -> list[list[str]]:
    """Return the circles that can be reached from `starts`, each once; a row that is its own parent is a circle of one.

    `parent_of` returns None where the chain ends: no parent, or a missing one.
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
