"""Fix how rows hang together: parents, rows passed over, the order of lines and of times."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Final

from ....format.row_edit import set_members
from ....format.times import LATEST, to_iso
from ....graph.client_state import shorten
from ....graph.rows import Row
from ....graph.thread import ABANDONED, LIVE, PRECOMPACT
from ....graph.tree import find_circles
from ..draft import Draft, Piece

_PATIENCE: Final = 2000
"""How many rows are looked at, backwards in time, for one that can stand in."""


def fix_links(draft: Draft) -> int:
    """Link rows to the row they followed if their own link leads nowhere, in a circle, or to a second start.

    What stands in for a missing parent, in this order: what an unknown row that was the parent hung on; the call that a result
    answers; the row before in the file; the row before in time, where the file is out of order. Rows that miss the same parent
    get the same one. All in linear time: a union of trees tells whether a row would become its own ancestor.
    """
    links = _Links(draft)
    for row in links.rows:
        if row.uuid in links.broken and links.last[row.uuid or ""] is row:
            links.fix(row)
    fixed = 0
    for place, parent in links.planned.items():
        data = draft.bytes_of(draft.pieces[place])
        draft.rewrite(place, set_members(data, {"parentUuid": parent}))
        fixed += 1
    return fixed


@dataclass
class _Links:
    draft: Draft
    rows: list[Row] = field(default_factory=list)
    last: dict[str, Row] = field(default_factory=dict)
    """Rows by uuid; of copies the last, which counts."""
    broken: set[str | None] = field(default_factory=set)
    planned: dict[int, str | None] = field(default_factory=dict)
    """New parents by the place of the piece."""

    def __post_init__(self) -> None:
        pairs = self.draft.rows()
        self.rows = [row for row, _ in pairs if row.client_reads and row.type != "progress"]
        self.places: dict[str, list[int]] = {}
        self.number = {row.index: number for number, row in enumerate(self.rows)}
        for row, place in pairs:
            if row.uuid:
                self.places.setdefault(row.uuid, []).append(place)
        self.progress = {row.uuid: row.parent for row, _ in pairs if row.type == "progress" and row.uuid}
        self.unknown = {
            piece.entry.uuid: piece.entry.parentUuid if isinstance(piece.entry.parentUuid, str) else None
            for piece in self.draft.pieces
            if piece.entry is not None and not piece.is_row and piece.entry.uuid
        }
        self.last = {row.uuid: row for row in self.rows if row.uuid}
        self.calls = {ident: row for row in self.rows for ident, _ in row.tool_uses}
        self.root: dict[str, str] = {}
        self.stand_ins: dict[str, str | None] = {}
        self._timed: tuple[list[float], list[Row]] | None = None
        self._find_broken()

    # --- what is broken -----------------------------------------------------------------------------------------------

    def _find_broken(self) -> None:
        self.broken = {*self._wrong_links(), *self._second_roots()}
        self.broken |= self._circles()
        for uuid, row in self.last.items():
            parent = self._through_progress(row.parent)
            stays = uuid in self.broken or parent is None or parent not in self.last
            self.root[uuid] = uuid if stays else parent or uuid

    def _through_progress(self, parent: str | None) -> str | None:
        seen: set[str] = set()
        while parent is not None and parent not in self.last and parent in self.progress and parent not in seen:
            seen.add(parent)
            parent = self.progress[parent]
        return parent

    def _wrong_links(self) -> list[str | None]:
        found: list[str | None] = []
        begun: set[str | None] = set()
        for row in self.last.values():
            side = row.subagent_id if row.sidechain else None
            begins = side not in begun
            begun.add(side)
            parent = self._through_progress(row.parent)
            if row.parent is None or (parent is None and row.parent in self.progress):
                continue
            if parent == row.uuid or (parent not in self.last and not (begins and parent not in self.unknown)):
                found.append(row.uuid)
        return found

    def _second_roots(self) -> list[str | None]:
        placements = self.draft.thread().placements
        first = True
        found: list[str | None] = []
        for row in self.rows:
            if row.parent is not None or row.sidechain or row.is_boundary or not row.uuid:
                continue
            if placements[row.index].status == ABANDONED:
                continue  # left on purpose
            if first:
                first = False
            else:
                found.append(row.uuid)
        return found

    def _circles(self) -> set[str | None]:
        circles = find_circles(self.last, self._above)
        return {min(rows, key=self._opening) for rows in circles if not any(uuid in self.broken for uuid in rows)}

    def _above(self, uuid: str) -> str | None:
        return self._through_progress(self.last[uuid].parent) if uuid in self.last else None

    def _opening(self, uuid: str) -> tuple[float, int]:
        """Return the row at which a circle is opened: the earliest by time, then by place."""
        row = self.last[uuid]
        return (row.time if row.time is not None else float("inf"), row.index)

    # --- what stands in -----------------------------------------------------------------------------------------------

    def fix(self, row: Row) -> None:
        uuid = row.uuid or ""
        found = self._stand_in(row)
        if found == row.parent or (found is None and row.parent is not None and not self._must_open(row)):
            return
        if found is not None:
            self.root[uuid] = found
        for place in self.places[uuid]:
            self.planned[place] = found

    def _must_open(self, row: Row) -> bool:
        """Whether a link must be removed even without a replacement: old versions hang in a circle."""
        return row.parent in self.last

    def _stand_in(self, row: Row) -> str | None:
        missing = row.parent if row.parent is not None and row.parent not in self.last else None
        if missing is not None and missing in self.stand_ins:
            shared = self.stand_ins[missing]
            if shared is not None and not self._is_below(shared, row):
                return shared
        found = (
            self._through_unknown(row) or self._call_of(row) or self._before_in_file(row) or self._before_in_time(row)
        )
        if missing is not None:
            self.stand_ins.setdefault(missing, found)
        return found

    def _fits(self, candidate: Row | None, row: Row) -> str | None:
        if candidate is None or candidate is row or not candidate.uuid or candidate.sidechain != row.sidechain:
            return None
        if row.sidechain and candidate.subagent_id != row.subagent_id:
            return None
        if self.last.get(candidate.uuid) is None or self._is_below(candidate.uuid, row):
            return None
        return candidate.uuid

    def _through_unknown(self, row: Row) -> str | None:
        step, seen = row.parent, set[str]()
        while step is not None and step not in self.last and step in self.unknown and step not in seen:
            seen.add(step)
            step = self.unknown[step]
        return self._fits(self.last.get(step), row) if step is not None else None

    def _call_of(self, row: Row) -> str | None:
        for ident in row.tool_results:
            found = self._fits(self.calls.get(ident), row)
            if found is not None:
                return found
        return None

    def _before_in_file(self, row: Row) -> str | None:
        number = self.number[row.index] - 1
        while number >= 0 and (self.rows[number].sidechain != row.sidechain or not self.rows[number].usable):
            number -= 1
        return self._fits(self.rows[number], row) if number >= 0 else None

    def _before_in_time(self, row: Row) -> str | None:
        if row.time is None:
            return None
        if self._timed is None:
            timed = sorted((item.time, item.index, item) for item in self.rows if item.time is not None)
            self._timed = ([moment for moment, _, _ in timed], [item for _, _, item in timed])
        moments, rows = self._timed
        place = bisect_right(moments, row.time) - 1
        for step in range(place, max(place - _PATIENCE, -1), -1):
            found = self._fits(rows[step], row)
            if found is not None:
                return found
        return None

    def _is_below(self, uuid: str, row: Row) -> bool:
        """Whether `uuid` is a descendant of `row`, which is a root while its link is broken."""
        path: list[str] = []
        step = uuid
        while self.root[step] != step:
            path.append(step)
            step = self.root[step]
        for name in path:
            self.root[name] = step
        return step == row.uuid


def fix_bridges(draft: Draft) -> int:
    """Bypass rows that cannot be used: their children get their parent.

    Versions since 2.1 do that by themselves; those before fail to resume. The row stays in the file.
    """
    rows = draft.rows()
    usable = {row.uuid for row, _ in rows if row.usable}
    unusable = {row.uuid: row.parent for row, _ in rows if not row.usable and row.uuid and row.uuid not in usable}
    if not unusable:
        return 0
    ends = shorten(unusable)
    fixed = 0
    for row, place in rows:
        if row.usable and row.parent in unusable:
            data = draft.bytes_of(draft.pieces[place])
            draft.rewrite(place, set_members(data, {"parentUuid": ends[row.parent]}))
            fixed += 1
    return fixed


def fix_order(draft: Draft) -> int:
    """Move rows behind their parents. Lines change places; none is changed."""
    known = {
        piece.entry.uuid for piece in draft.pieces if piece.entry is not None and piece.is_row and piece.entry.uuid
    }
    written: set[str] = set()
    waiting: dict[str, list[Piece]] = {}
    pieces: list[Piece] = []
    moved = 0
    for piece in draft.pieces:
        entry = piece.entry
        parent = entry.parentUuid if entry is not None and piece.is_row and entry.parentUuid != entry.uuid else None
        if isinstance(parent, str) and parent in known and parent not in written:
            waiting.setdefault(parent, []).append(piece)
            moved += 1
            continue
        ready = [piece]
        while ready:
            now = ready.pop()
            pieces.append(now)
            uuid = now.entry.uuid if now.entry is not None and now.is_row else None
            if uuid:
                written.add(uuid)
                ready += reversed(waiting.pop(uuid, []))
    if waiting:  # a circle: not for this fix
        return 0
    draft.pieces = pieces
    return moved


_TICK: Final = 0.001


def fix_times(draft: Draft) -> int:
    """Give every row a time, and the last row of the conversation the latest: versions before 2.1 find it by that."""
    return _missing(draft) + _end(draft)


def _missing(draft: Draft) -> int:
    rows = [(row, place) for row, place in draft.rows() if row.type != "progress"]
    following = next((row.time for row, _ in rows if row.time is not None), 0.0)
    fixed = 0
    for row, place in rows:
        if row.time is not None:
            following = row.time
            continue
        data = draft.bytes_of(draft.pieces[place])
        draft.rewrite(place, set_members(data, {"timestamp": to_iso(following)}))
        fixed += 1
    return fixed


def _end(draft: Draft) -> int:
    thread = draft.thread()
    leaf = thread.leaf
    if leaf is None:
        return 0
    rows = draft.rows()
    end = next(((row, place) for row, place in reversed(rows) if row.uuid == leaf), None)
    newest = 0.0
    for row, _ in rows:
        if end is None or row.uuid == leaf or (row.message_id and row.message_id == end[0].message_id):
            continue
        if row.is_message and row.time is not None and thread.placements[row.index].status in (LIVE, PRECOMPACT):
            newest = max(newest, row.time)
    if end is None or end[0].time is None or end[0].time > newest or newest >= LATEST:
        return 0
    data = draft.bytes_of(draft.pieces[end[1]])
    draft.rewrite(end[1], set_members(data, {"timestamp": to_iso(newest + _TICK)}))
    return 1
