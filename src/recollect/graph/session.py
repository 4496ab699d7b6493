"""The conversation of a whole session: the main transcript, its subagents, and views of them computed on first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from msgspec import Struct

from .branches import Branch, find_branches
from .gc_pause import gc_paused
from .leaf import Leaf
from .messages import Message, join_responses
from .parallel import put_back
from .rows import Row, Transcript
from .subagents import Subagent, collect_links, hang_subagents, inside_subagents
from .thread import Thread, as_written, find_thread, walk_up
from .tool_calls import ToolPairs, pair_tools
from .tree import Tree, build_tree
from .turns import Turn, split_turns

__all__ = ["Conversation", "Leaf"]


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
