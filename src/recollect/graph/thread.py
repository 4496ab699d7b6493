"""Find the thread (the rows with which Claude Code resumes a session) and give every row a status with a reason.

Follows Claude Code 2.1.326 rule by rule: load the file (`client_state`), choose the leaf (`leaf`), walk up along the parents
and replace missing ones by a row at most five seconds older, put parallel calls and results back (`parallel`), cut after the
last compaction boundary, clean up as for a request (`request`).
"""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter
from typing import Final, NamedTuple

from msgspec import Struct

from .client_state import ClientState, Parents, load_as_client, shorten
from .leaf import choose_leaf
from .parallel import put_back
from .request import is_dropped_error, rows_sent
from .rows import SPOKEN, Row, Transcript, gc_paused

MENDING_SECONDS: Final = 5.0

LIVE: Final = "live"
ABANDONED: Final = "abandoned"
SUBAGENT: Final = "subagent"
PRECOMPACT: Final = "precompact"
BRIDGED: Final = "bridged"
UNREACHABLE: Final = "unreachable"
STATUSES: Final = (LIVE, ABANDONED, SUBAGENT, PRECOMPACT, BRIDGED, UNREACHABLE)


class Placement(NamedTuple):
    """The status of a row (one of `STATUSES`) and the reason for it."""

    status: str
    reason: str


class Thread(Struct, eq=False):
    """The conversation with which Claude Code resumes a session."""

    leaf: str | None
    leaf_reason: str
    cleared: bool
    """Whether the conversation is empty: the user rewound to before the first prompt, or there are no messages."""
    chain: list[Row]
    """All rows since the last compaction in order, attachments and system rows among them."""
    sent: list[Row]
    """The user and assistant rows whose content is sent to the model."""
    repaired_links: dict[str, str]
    """For rows whose parent is missing, the row that replaces it, at most five seconds older, by uuid."""
    put_back: frozenset[str]
    summarised: list[Row]
    """Rows before the last compaction, oldest first."""
    _rows: list[Row]
    _state: ClientState | None
    """What Claude Code holds in memory; None once `_placements` is computed."""
    _placements: list[Placement] = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thread) and self._told() == other._told()

    def _told(self) -> tuple[object, ...]:
        """Return everything by which two threads are compared."""
        return (
            self.leaf, self.leaf_reason, self.cleared, self.chain, self.sent, self.repaired_links, self.put_back, self.summarised,
            self.placements,
        )  # fmt: skip

    @property
    def found(self) -> bool:
        """Whether Claude Code finds a conversation in the file, even an empty one."""
        return self.leaf is not None or self.cleared

    @property
    def placements(self) -> list[Placement]:
        """Status and reason of each row, by row index. Computed on first use."""
        if self._state is not None:
            with gc_paused():
                self._placements = _place_all(self, self._rows, self._state)
            self._state = None
        return self._placements

    @property
    def reachable_share(self) -> float:
        """The share of the main conversation's messages that are reachable: in the thread, or summarised before it.

        Messages that the user left by rewinding and messages of subagents are not counted. 1.0 where there are no messages.
        """
        reached, lost = self._messages_in(LIVE, PRECOMPACT), self.lost_messages
        return 1.0 if reached + lost == 0 else reached / (reached + lost)

    @property
    def lost_messages(self) -> int:
        """The number of messages of the main conversation that Claude Code cannot reach."""
        return self._messages_in(UNREACHABLE)

    def _messages_in(self, *statuses: str) -> int:
        pairs = zip(self._rows, self.placements, strict=True)
        return sum([row.type in SPOKEN and place.status in statuses for row, place in pairs])


def find_thread(transcript: Transcript) -> Thread:
    """Return the thread of a transcript by the rules of Claude Code 2.1.326."""
    with gc_paused():
        return resume(transcript, load_as_client(transcript))


def resume(transcript: Transcript, state: ClientState) -> Thread:
    """Return the thread of a transcript that is already loaded into `state`."""
    leaf = choose_leaf(state)
    repaired_links: dict[str, str] = {}
    seen: set[str] = set()
    chain: list[Row] = []
    added: frozenset[str] = frozenset()
    if leaf.uuid is not None:
        walked = walk_up(state, leaf.uuid, seen, repaired_links)
        chain = put_back(state, list(walked), seen)
        _add_trailing(state, leaf.uuid, chain, seen)
        if len(chain) > len(walked):
            added = frozenset(row.uuid or "" for row in chain).difference([row.uuid or "" for row in walked])
    cut = after_last_boundary(chain)
    live = chain[cut:]
    sent = rows_sent(live)
    if added and cut:
        added = added.intersection(row.uuid or "" for row in live)
    summarised = before_compaction(chain, cut, transcript)
    return Thread(
        leaf.uuid, leaf.why, leaf.cleared, live, sent, repaired_links, added, summarised, transcript.rows, state
    )


def walk_up(
    state: ClientState,
    start: str,
    seen: set[str],
    repaired_links: dict[str, str],
    link_repair: _LinkRepair | None = None,
) -> list[Row]:
    """Return the rows from the root to `start`.

    A parent that is missing or was already passed is replaced by the row before in time, if that is at most five seconds older
    (see `repaired_links`).
    """
    chain: list[Row] = []
    rows, changed = state.rows, state.parents.changed
    row = rows[start]
    uuid = start
    # A walk to ever earlier rows cannot pass a row twice: passed rows are added to `seen` only when the walk turns back.
    lowest, noted, before = row.index, 0, bool(seen)
    while True:
        chain.append(row)
        parent = changed[uuid] if changed and uuid in changed else row.parent
        if not parent:
            break
        above = rows.get(parent)
        if above is not None and above.index < lowest and not (before and parent in seen):
            lowest = above.index
        else:
            seen.update([item.uuid or "" for item in chain[noted:]])
            noted = len(chain)
            if above is None or parent in seen:
                link_repair = link_repair or _LinkRepair(state)
                parent = link_repair.row_before(row, seen)
                if parent is None:
                    break
                repaired_links[uuid] = parent
                above = rows[parent]
            lowest = min(lowest, above.index)
        uuid, row = parent, above
    seen.update([item.uuid or "" for item in chain[noted:]] if noted or len(chain) < len(rows) else rows)
    chain.reverse()
    return chain


class _LinkRepair:
    """Find the row that replaces a missing parent: the previous one in time with the same `isSidechain`."""

    def __init__(self, state: ClientState) -> None:
        self.state = state
        self.sides: dict[bool | None, tuple[list[float], list[str], list[int]]] = {}

    def row_before(self, row: Row, seen: set[str]) -> str | None:
        if row.time is None:
            return None
        if row.side not in self.sides:
            timed = [
                (item.time, -place, uuid)
                for place, (uuid, item) in enumerate(self.state.rows.items())
                if item.side == row.side
                and item.time is not None
                and uuid not in seen
                and not (item.type == "system" and item.subtype == "file_snapshot")
            ]
            timed.sort()
            self.sides[row.side] = ([t for t, _, _ in timed], [u for _, _, u in timed], list(range(len(timed))))
        times, uuids, before = self.sides[row.side]
        start = place = bisect_right(times, row.time) - 1
        while place >= 0:  # skip rows already in the chain; path compression keeps many repairs linear
            if before[place] != place:
                place = before[place]
            elif uuids[place] in seen:
                before[place] = place - 1
                place -= 1
            else:
                break
        while start > place:
            following = before[start]
            before[start] = place
            start = following
        if place < 0 or row.time - times[place] > MENDING_SECONDS:
            return None
        return uuids[place]


def after_last_boundary(chain: list[Row]) -> int:
    """Return the index behind the last compaction boundary of the chain, 0 where there is none."""
    for place in range(len(chain) - 1, -1, -1):
        row = chain[place]
        if row.type == "system" and row.is_boundary:
            return place + 1
    return 0


def _add_trailing(state: ClientState, leaf: str, chain: list[Row], seen: set[str]) -> None:
    """Add attachments and system rows below the leaf to the chain: they belong to the conversation too."""
    if len(seen) >= len(state.rows):
        return
    below: dict[str, list[Row]] = {}
    for uuid, row in state.rows.items():
        if uuid not in seen and not row.is_message:
            parent = state.parents[uuid]
            if parent:
                below.setdefault(parent, []).append(row)
    queue = [leaf]
    found: list[Row] = []
    for uuid in queue:
        for row in below.get(uuid, ()):
            if row.uuid is not None and row.uuid not in seen:
                seen.add(row.uuid)
                found.append(row)
                queue.append(row.uuid)
    found.sort(key=lambda row: row.timestamp or "")
    chain.extend(found)


def _place_all(thread: Thread, rows: list[Row], state: ClientState) -> list[Placement]:
    places: list[Placement | None] = [None] * len(rows)
    sent = {row.index for row in thread.sent}
    shared: dict[str, Placement] = {}
    is_sent = Placement(LIVE, "sent to the model")
    for row in thread.chain:
        if row.index in sent:
            places[row.index] = is_sent
        else:
            why = _why_live(row)
            places[row.index] = shared.get(why) or shared.setdefault(why, Placement(LIVE, why))
    was_summarised = Placement(PRECOMPACT, "before the last compaction, which summarised it")
    for row in thread.summarised:
        if places[row.index] is None:
            places[row.index] = was_summarised
    if None in places:
        for row in rows:
            if places[row.index] is None:
                places[row.index] = _simple_place(row, state)
        uuids = {row.uuid: row.index for row in rows if row.uuid is not None and row.index not in state.superseded}
        _place_branches(rows, places, uuids, thread, state)
    return [item or Placement(UNREACHABLE, "not connected to the conversation") for item in places]


def _why_live(row: Row) -> str:
    if not row.is_message:
        return "part of the conversation"
    if is_dropped_error(row):
        return "an API error, not sent"
    if row.tool_uses:
        return "a call that was never answered, not sent"
    if row.tool_results:
        return "a result without its call, not sent"
    return "thoughts without an answer, not sent"


def _simple_place(row: Row, state: ClientState) -> Placement | None:
    if not row.client_reads:
        return Placement(UNREACHABLE, "on a line that Claude Code cannot read")
    if row.sidechain:
        return Placement(SUBAGENT, "written by a subagent")
    if row.type == "progress":
        return Placement(BRIDGED, "progress rows are passed over")
    if row.uuid is None:
        return Placement(UNREACHABLE, "has no uuid")
    if row.index in state.superseded:
        return Placement(BRIDGED, "a later line with the same uuid counts")
    if not row.usable:
        return Placement(BRIDGED, "has no usable content")
    return None


def before_compaction(chain: list[Row], cut: int, transcript: Transcript) -> list[Row]:
    """Return the rows that compactions summarised, following `logicalParentUuid` from each boundary to the earlier ones."""
    if cut == 0:
        return []
    original, rows = as_written(transcript), transcript.rows
    segments = [chain[:cut]]
    boundaries = _boundaries(chain[:cut])
    seen: set[str] = {row.uuid or "" for row in chain[:cut]}
    link_repair = _LinkRepair(original)
    while boundaries:
        start = _last_before(boundaries.pop(), original, rows)
        if start is None or start in seen:
            continue
        walked = walk_up(original, start, seen, {}, link_repair)
        segments.append(walked)
        boundaries += _boundaries(walked)
    segments.reverse()
    joined = put_back(original, [row for segment in segments for row in segment], seen)
    return sorted({row.index: row for row in joined}.values(), key=attrgetter("index"))


def _boundaries(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.type == "system" and row.is_boundary]


def as_written(transcript: Transcript) -> ClientState:
    """Return all readable rows with the links they were written with: no compaction applied.

    Only progress rows and rows without usable content are bridged.
    """
    others = [transcript.rows[index] for index in transcript.others]
    readable = transcript.by_uuid
    if not all(row.client_reads for row in others):
        readable = {row.uuid: row for row in transcript.rows if row.uuid is not None and row.client_reads}
    bridges = {
        row.uuid: row.parent
        for row in others
        if row.uuid is not None and (row.type == "progress" or not row.usable) and readable.get(row.uuid) is row
    }
    if not bridges:
        links = Parents(readable, {})
        return ClientState(readable, links, links, set())
    ends = shorten(bridges)
    kept = dict(readable)
    for uuid in bridges:
        del kept[uuid]
    bridged = [row for row in kept.values() if row.parent in ends]
    links = Parents(kept, {row.uuid: ends[row.parent] for row in bridged if row.uuid is not None and row.parent})
    return ClientState(kept, links, links, set())


def _last_before(boundary: Row, state: ClientState, rows: list[Row]) -> str | None:
    """Return the row that a boundary names in `logicalParentUuid` or, where that is missing, the last one before it."""
    named = boundary.logical_parent
    if named is not None and named in state.rows:
        return named
    for index in range(boundary.index - 1, -1, -1):
        row = rows[index]
        if row.uuid is not None and row.uuid in state.rows and not row.sidechain:
            return row.uuid
    return None


def _place_branches(
    rows: list[Row], places: list[Placement | None], uuids: dict[str, int], thread: Thread, state: ClientState
) -> None:
    """Set the status of the remaining rows: abandoned on a branch that leaves the conversation, or unreachable."""
    starts = _new_starts(rows, state.withdrawals)
    last_start = max(starts, default=-1)
    for row in rows:
        if places[row.index] is not None:
            continue
        path: list[int] = []
        on_path: set[int] = set()
        index: int | None = row.index
        end: Placement | None = None
        while index is not None and places[index] is None:
            if index in on_path:
                end = Placement(UNREACHABLE, "its parents form a circle")
                break
            path.append(index)
            on_path.add(index)
            parent = rows[index].parent
            if parent is None:
                end = _root_place(index, index in starts, last_start, thread, state)
                break
            if parent not in uuids:
                end = Placement(UNREACHABLE, f"its parent {parent} is not in the file")
                break
            index = uuids[parent]
        if end is None and index is not None:
            above = places[index]
            end = _below(above, rows[index]) if above is not None else None
        for item in path:
            places[item] = end


def _new_starts(rows: list[Row], withdrawals: list[int]) -> set[int]:
    """Return the indexes of the roots at which the user started again, after taking back everything said before.

    A root counts where nothing had been answered yet (Esc on the first prompt leaves no other trace), or where a withdrawal
    (see `ClientState.withdrawals`) stands between the last message before the root and the first answer after it. The
    withdrawal may stand behind the root, because Claude Code 2.1.326 writes in batches.
    """
    found: set[int] = set()
    waiting: list[tuple[int, int]] = []  # roots without an answer so far, each with the last message before it
    last, answered, begun = -1, False, False
    for row in rows:
        if row.sidechain or not row.client_reads or row.type == "progress":
            continue
        if row.type == "assistant":
            found.update(root for root, before in waiting if _any_between(withdrawals, before, row.index))
            waiting, answered = [], True
        elif row.parent is None and begun and not row.is_boundary and not row.tool_results:
            if answered:
                waiting.append((row.index, last))
            else:
                found.add(row.index)
        begun = True
        if row.is_message:
            last = row.index
    return found.union(root for root, before in waiting if _any_between(withdrawals, before, len(rows)))


def _any_between(places: list[int], after: int, until: int) -> bool:
    """Return whether one of the sorted `places` is greater than `after` and at most `until`."""
    first = bisect_right(places, after)
    return first < len(places) and places[first] <= until


def _root_place(root: int, is_start: bool, last_start: int, thread: Thread, state: ClientState) -> Placement:
    if thread.leaf is None and not state.cleared:
        return Placement(UNREACHABLE, f"Claude Code finds no conversation: {thread.leaf_reason}")
    if thread.leaf is None or last_start > root:
        return Placement(ABANDONED, "left by a rewind to the start")
    if is_start and state.rows[thread.leaf].index < root:
        return Placement(ABANDONED, "left by going back to what was said before")
    return Placement(UNREACHABLE, "hangs on another root than the conversation")


def _below(above: Placement, row: Row) -> Placement:
    if above.status in (LIVE, PRECOMPACT):
        return Placement(ABANDONED, f"on a branch that left the conversation at {row.uuid}")
    if above.status == BRIDGED:
        return Placement(UNREACHABLE, "hangs on a row that is passed over")
    if above.status == SUBAGENT:
        return Placement(UNREACHABLE, "hangs on a subagent's row")
    return above
