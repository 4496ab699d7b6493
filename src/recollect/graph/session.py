"""The conversation of a whole session: the main transcript, its subagents, its branches, and views computed on first use.

A row with several children is nearly always fan-out of tools or hooks, not a branch. A branch consists of rows off the thread
and holds at least one message. It begins at the first row that is not on the thread, or at a further prompt with the same
parent.

Subagents are found in every layout, and each is linked to the call that started it, at any depth. The layouts by age: rows with
`isSidechain` inside the main file (to 2.0.26), a file beside it (2.0.28 - 2.1.8), a file in ``<session>/subagents/`` (since
2.1.9, with a meta file since 2.1.70). A meta file names the call (`toolUseId`) and the subagent that made the call
(`parentAgentId`). Before 2.1.70 the result of the call, or progress rows, name the subagent. In the oldest files the call can be
recognised only by its prompt.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from msgspec import Struct

from .messages import Message, ToolPairs, Turn, join_responses, pair_tools, split_turns
from .parallel import put_back
from .rows import Row, Transcript, gc_paused
from .thread import ABANDONED, UNREACHABLE, Thread, as_written, find_thread, walk_up
from .tree import Tree, build_tree

SUBAGENT_TOOLS = frozenset({"Task", "Agent"})


class Subagent(Struct):
    subagent_id: str
    layout: str
    """"inside", "beside", "subagents", or "mentioned" (known only from a result or progress rows)."""
    rows: list[Row]
    file: int = 0
    tool_use_id: str | None = None
    parent_subagent: str | None = None
    """The subagent whose call started this one; None where the main conversation did."""
    kind: str | None = None
    description: str | None = None
    workflow: str | None = None
    linked_by: str | None = None
    """How the call was found: "meta", "result", "progress", "prompt", "order"."""
    depth: int = 1
    children: list[str] = []

    @property
    def first_time(self) -> float | None:
        return next((row.time for row in self.rows if row.time is not None), None)

    @property
    def last_time(self) -> float | None:
        return next((row.time for row in reversed(self.rows) if row.time is not None), None)


class Links(Struct):
    """The links between calls and subagents that the rows of a session state."""

    by_result: dict[str, tuple[str, str | None]]
    """From results: subagent id -> (call id, subagent that made the call)."""
    by_progress: dict[str, tuple[str, str | None]]
    """From progress rows: subagent id -> (call id, subagent that made the call)."""
    calls: list[tuple[str, Row, str | None]]
    """Calls of subagent tools: (call id, row, subagent that made the call)."""


def inside_subagents(rows: list[Row]) -> list[Subagent]:
    """Return the subagents whose rows stand in the main file, grouped by `agentId` or, without one, by their root row."""
    subagents: dict[str, Subagent] = {}
    root_of: dict[str, str] = {}
    for row in rows:
        if row.side is not True or row.type == "progress":
            continue
        if row.subagent_id:
            name = row.subagent_id
        else:
            above = root_of.get(row.parent) if row.parent else None
            name = above or f"sidechain-{(row.uuid or str(row.line))[:8]}"
        if row.uuid is not None:
            root_of[row.uuid] = name
        subagents.setdefault(name, Subagent(name, "inside", [])).rows.append(row)
    return list(subagents.values())


def collect_links(groups: list[tuple[str | None, list[Row]]]) -> Links:
    """Collect the links that rows state. `groups` holds (subagent that wrote the rows or None, rows)."""
    links = Links({}, {}, [])
    for owner, rows in groups:
        for row in rows:
            if not row.tool_uses and row.result_subagent is None:
                continue
            writer = owner if owner is not None else (row.subagent_id if row.sidechain else None)
            for ident, name in row.tool_uses:
                if name in SUBAGENT_TOOLS:
                    links.calls.append((ident, row, writer))
            if row.result_subagent is not None:
                if row.type == "progress":
                    if row.source_tool_use:
                        links.by_progress.setdefault(row.result_subagent, (row.source_tool_use, writer))
                elif row.tool_results:
                    links.by_result.setdefault(row.result_subagent, (row.tool_results[0], writer))
    return links


def hang_subagents(subagents: list[Subagent], links: Links, prompts: Callable[[Row], str | None]) -> list[Subagent]:
    """Link each subagent to its call. `prompts` returns the text of a prompt row, or the prompt in the call of a call's row."""
    used: set[str] = set()
    for subagent in subagents:
        if subagent.tool_use_id is None:
            for how, table in (("result", links.by_result), ("progress", links.by_progress)):
                if subagent.subagent_id in table:
                    subagent.tool_use_id, writer = table[subagent.subagent_id]
                    subagent.parent_subagent = subagent.parent_subagent or writer
                    subagent.linked_by = how
                    break
        else:
            subagent.linked_by = "meta"
        if subagent.tool_use_id:
            used.add(subagent.tool_use_id)
    owner = {ident: writer for ident, _, writer in links.calls}
    loose = [subagent for subagent in subagents if subagent.tool_use_id is None and subagent.rows]
    if loose:
        _match_by_prompt(loose, [call for call in links.calls if call[0] not in used], prompts)
    for subagent in subagents:
        if subagent.parent_subagent is None and subagent.tool_use_id is not None:
            subagent.parent_subagent = owner.get(subagent.tool_use_id)
        if subagent.parent_subagent == subagent.subagent_id:
            subagent.parent_subagent = None
    _nest(subagents)
    return subagents


def _match_by_prompt(
    subagents: list[Subagent], calls: list[tuple[str, Row, str | None]], prompts: Callable[[Row], str | None]
) -> None:
    waiting: dict[str, list[tuple[str, Row, str | None]]] = {}
    for call in calls:
        words = prompts(call[1])
        if words is not None:
            waiting.setdefault(words.strip(), []).append(call)
    left = {call[0] for call in calls}
    for subagent in subagents:
        words = prompts(subagent.rows[0])
        same = waiting.get(words.strip()) if words else None
        if same:
            ident, _, writer = same.pop(0)
            subagent.tool_use_id, subagent.parent_subagent, subagent.linked_by = ident, writer, "prompt"
            left.discard(ident)
    for subagent in subagents:
        if subagent.tool_use_id is not None or subagent.layout != "inside":
            continue
        before = [c for c in calls if c[0] in left and c[1].index < subagent.rows[0].index and not c[1].sidechain]
        if before:  # no prompt matches: take the last call before the subagent that is not linked to another one
            ident, _, writer = before[-1]
            subagent.tool_use_id, subagent.parent_subagent, subagent.linked_by = ident, writer, "order"
            left.discard(ident)


def _nest(subagents: list[Subagent]) -> None:
    by_id = {subagent.subagent_id: subagent for subagent in subagents}
    for subagent in subagents:
        subagent.children = []
    for subagent in subagents:
        parent = by_id.get(subagent.parent_subagent or "")
        if parent is not None:
            parent.children.append(subagent.subagent_id)
        seen = {subagent.subagent_id}
        depth, step = 1, parent
        while step is not None and step.subagent_id not in seen:
            seen.add(step.subagent_id)
            depth += 1
            step = by_id.get(step.parent_subagent or "")
        subagent.depth = depth


class Branch(Struct):
    number: int
    """Counts from 1 in file order; 0 is the thread itself."""
    status: str
    """"abandoned" or "unreachable"."""
    left_at: str | None
    """The uuid of the row after which the branch begins; None where its first row has no parent in the file."""
    parent_branch: int
    """The number of the branch from which this one leaves, 0 for the thread."""
    rows: list[Row]
    reason: str = ""

    @property
    def prompt(self) -> Row | None:
        """The first prompt of the branch."""
        return next((row for row in self.rows if row.is_prompt), None)

    @property
    def leaf(self) -> Row:
        return next((row for row in reversed(self.rows) if row.is_message), self.rows[-1])

    @property
    def messages(self) -> int:
        return sum(1 for row in self.rows if row.is_message)


def find_branches(rows: list[Row], thread: Thread) -> list[Branch]:
    """Return all branches off the thread that hold at least one message, in file order."""
    if not any(place.status in (ABANDONED, UNREACHABLE) for place in thread.placements):
        return []
    by_uuid = {row.uuid: row for row in rows if row.uuid is not None}
    number_of: dict[int, int] = {}
    branches: list[Branch] = []
    taken: set[str] = set()  # rows of a branch that already have a prompt as a child
    for row in rows:
        placement = thread.placements[row.index]
        if placement.status not in (ABANDONED, UNREACHABLE):
            continue
        parent = by_uuid.get(row.parent) if row.parent else None
        above = number_of.get(parent.index) if parent is not None else None
        if above is not None and parent is not None:
            fork = row.is_prompt and (parent.uuid or "") in taken
            if row.is_prompt:
                taken.add(parent.uuid or "")
            if not fork:
                branches[above].rows.append(row)
                number_of[row.index] = above
                continue
        left_at = parent.uuid if parent is not None and parent.index != row.index else None
        number_of[row.index] = len(branches)
        start = 0 if above is None else above + 1
        branches.append(Branch(len(branches), placement.status, left_at, start, [row], placement.reason))
    return _numbered([branch for branch in branches if branch.messages])


def _numbered(branches: list[Branch]) -> list[Branch]:
    new_numbers = {branch.number + 1: place for place, branch in enumerate(branches, 1)}
    for place, branch in enumerate(branches, 1):
        branch.number = place
        branch.parent_branch = new_numbers.get(branch.parent_branch, 0)
    return branches


class Conversation:
    """The conversation graph of one session.

    `subagents` are the subagents with files of their own; those inside the main transcript are found here.
    """

    def __init__(
        self,
        transcript: Transcript,
        subagents: list[Subagent] | None = None,
        prompts: Callable[[Row], str | None] = lambda _: None,
    ) -> None:
        self.transcript = transcript
        self._own_files = subagents or []
        self._prompts = prompts

    @property
    def rows(self) -> list[Row]:
        return self.transcript.rows

    @cached_property
    def tree(self) -> Tree:
        """The rows of the main transcript with their parent links as written."""
        with gc_paused():
            return build_tree(self.transcript.by_uuid)

    @cached_property
    def thread(self) -> Thread:
        """The rows that Claude Code sends to the model on resume."""
        return find_thread(self.transcript)

    @cached_property
    def branches(self) -> list[Branch]:
        with gc_paused():
            return find_branches(self.rows, self.thread)

    @cached_property
    def compactions(self) -> list[Compaction]:
        with gc_paused():
            return find_compactions(self.rows)

    @cached_property
    def tools(self) -> ToolPairs:
        """Tool calls with their results, of the main transcript and of all subagent files."""
        with gc_paused():
            return pair_tools(
                [row for rows in (self.rows, *(subagent.rows for subagent in self._own_files)) for row in rows]
            )

    @cached_property
    def subagents(self) -> list[Subagent]:
        """All subagents, in every layout, linked to the calls that started them."""
        with gc_paused():
            return self._all_subagents()

    def _all_subagents(self) -> list[Subagent]:
        own = {subagent.subagent_id for subagent in self._own_files}
        subagents = [
            *self._own_files,
            *(subagent for subagent in inside_subagents(self.rows) if subagent.subagent_id not in own),
        ]
        groups: list[tuple[str | None, list[Row]]] = [(None, self.rows)]
        groups.extend((subagent.subagent_id, subagent.rows) for subagent in self._own_files)
        links = collect_links(groups)
        known = {subagent.subagent_id for subagent in subagents}
        for table in (links.by_result, links.by_progress):
            for subagent_id in table:
                if subagent_id not in known:
                    known.add(subagent_id)
                    subagents.append(Subagent(subagent_id, "mentioned", []))
        return hang_subagents(subagents, links, self._prompts)

    def messages(self, rows: list[Row] | None = None) -> list[Message]:
        """Return the thread (or other rows) as messages; lines of one response are joined."""
        with gc_paused():
            return join_responses(self.thread.chain if rows is None else rows)

    def turns(self, rows: list[Row] | None = None) -> list[Turn]:
        with gc_paused():
            return split_turns(self.thread.chain if rows is None else rows)

    def full_history(self) -> list[Row]:
        """Return the thread with everything that its compactions summarised, oldest first."""
        live = {row.index for row in self.thread.chain}
        return [*(row for row in self.thread.summarised if row.index not in live), *self.thread.chain]

    def branch_rows(self, branch: Branch) -> list[Row]:
        """Return a branch from the start of the conversation: the rows before it, and its own rows."""
        state = as_written(self.transcript)
        leaf = branch.leaf.uuid
        if leaf is None or leaf not in state.rows:
            return branch.rows
        seen: set[str] = set()
        chain = walk_up(state, leaf, seen, {})
        own = {row.uuid for row in branch.rows}
        outside = {row.uuid for row in self.rows if row.uuid is not None} - own - seen
        return [row for row in put_back(state, chain, seen) if row.uuid not in outside or row.uuid in seen]


class Compaction(Struct):
    boundary: Row
    summary: Row | None
    trigger: str | None
    pre_tokens: int | None
    post_tokens: int | None
    preserved: list[str]
    """Uuids of the messages that the compaction preserved."""
    rows_before: int
    """Number of user and assistant rows of the main conversation since the previous compaction (or the start)."""


def find_compactions(rows: list[Row]) -> list[Compaction]:
    """Return all compactions of the main conversation, in file order."""
    if not any(row.compact is not None or row.is_boundary for row in rows if row.type == "system"):
        return []
    found: list[Compaction] = []
    before = 0
    waiting: Compaction | None = None
    for row in rows:
        if row.is_boundary and not row.sidechain:
            data = row.compact if isinstance(row.compact, dict) else {}
            kept = data.get("preservedMessages")
            uuids = kept.get("uuids") if isinstance(kept, dict) else None
            waiting = Compaction(
                row, None, _text(data.get("trigger")), _number(data.get("preTokens")), _number(data.get("postTokens")),
                [item for item in uuids if isinstance(item, str)] if isinstance(uuids, list) else [], before,
            )  # fmt: skip
            found.append(waiting)
            before = 0
        elif row.is_message and not row.sidechain:
            if waiting is not None and waiting.summary is None and row.is_compact_summary:
                waiting.summary = row
            else:
                before += 1
    return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
