"""The message tree as the links say: children, roots, leaves, orphans and circles. Every row counts, reachable or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from .rows import Row


class Tree(Struct):
    """Rows by uuid (the last copy's content at the first copy's place) and the links between them."""

    rows: dict[str, Row]
    children: dict[str, list[str]]
    roots: list[str]
    """Rows that name no parent."""
    orphans: list[str]
    """Rows whose parent is not there."""
    circles: list[list[str]]
    """Rows that are their own ancestors, each circle once."""

    @property
    def leaves(self) -> list[str]:
        return [uuid for uuid in self.rows if uuid not in self.children]

    def ancestors(self, uuid: str) -> list[Row]:
        """From the root (or the first row whose parent is missing) to the row itself. Ends where a circle closes."""
        path: list[Row] = []
        seen: set[str] = set()
        step: str | None = uuid
        while step is not None and step in self.rows and step not in seen:
            seen.add(step)
            path.append(self.rows[step])
            step = self.rows[step].parent
        path.reverse()
        return path

    def descendants(self, uuid: str) -> list[Row]:
        """All rows below a row, in the order of the file."""
        found: dict[str, Row] = {}
        queue = [uuid]
        while queue:
            for child in self.children.get(queue.pop(), ()):
                if child not in found and child != uuid:
                    found[child] = self.rows[child]
                    queue.append(child)
        return sorted(found.values(), key=lambda row: row.index)


def build_tree(by_uuid: dict[str, Row]) -> Tree:
    """The tree of some rows. Linear in their number; nothing is too deep or too tangled."""
    tree = Tree(by_uuid, {}, [], [], [])
    children = tree.children
    later: list[str] = []
    before: Row | None = None
    for uuid, row in by_uuid.items():
        parent = row.parent
        if parent is None:
            tree.roots.append(uuid)
        else:
            # Most rows hang on the one before them: it need not be looked for.
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
