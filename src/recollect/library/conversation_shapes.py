"""The JSON of a conversation's graph: every row as Claude Code would resume it, and the tree of turns and branches."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ..format.times import to_datetime
from ..graph.older import MEASURED as CLIENT_VERSIONS
from ..graph.older import find_thread_of, sent_as_user
from ..graph.thread import Thread
from .reading import prompt_words
from .shapes import BranchShape, branch_shapes, plain

if TYPE_CHECKING:
    from .session import Session

__all__ = ["CLIENT_VERSIONS", "ThreadShape", "TreeShape", "thread_shape", "tree_shape"]


class ThreadRow(Struct, kw_only=True):
    """A row of the file, and its place in the conversation that Claude Code would resume."""

    line: int
    uuid: str | None
    parent: str | None
    type: str
    subtype: str | None
    status: str
    reason: str
    sent: int | None
    """The position of the row among those that are sent to the model, from 1; None if it is not sent."""
    sent_as: str | None
    """The role under which the row is sent to the model: user or assistant."""
    repaired_to: str | None
    put_back: bool
    time: datetime | None


class ThreadShape(Struct, kw_only=True):
    """A conversation as a version of Claude Code would resume it."""

    session_id: str
    client: str
    found: bool
    cleared: bool
    leaf: str | None
    leaf_reason: str
    reachable_share: float
    sent: int
    counts: dict[str, int]
    rows: list[ThreadRow]

    def as_dict(self) -> dict[str, Any]:
        """Return the conversation as plain data for JSON."""
        return plain(self) | {"rows": [plain(row) for row in self.rows]}


class CompactionShape(Struct, kw_only=True):
    """A place at which the conversation was replaced by a summary."""

    uuid: str | None
    line: int
    trigger: str | None
    pre_tokens: int | None
    post_tokens: int | None
    preserved: list[str]
    rows_before: int
    summary: str | None


class TurnShape(Struct, kw_only=True):
    """A prompt, and what was done for it."""

    prompt: str | None
    uuid: str | None
    time: datetime | None
    rows: int
    tool_calls: int
    duration: float | None
    precompact: bool


class TreeShape(Struct, kw_only=True):
    """The turns of a conversation, its compactions, and every branch that left it."""

    session_id: str
    leaf: str | None
    leaf_reason: str
    reachable_share: float
    counts: dict[str, int]
    roots: list[str]
    orphans: list[str]
    circles: list[list[str]]
    compactions: list[CompactionShape]
    turns: list[TurnShape]
    branches: list[BranchShape]

    def as_dict(self) -> dict[str, Any]:
        """Return the tree as plain data for JSON, the branches under `rows`."""
        found = plain(self) | {
            "turns": [plain(turn) for turn in self.turns],
            "rows": [plain(branch) for branch in self.branches],
            "total": len(self.branches),
        }
        del found["branches"]
        return found


def thread_shape(session: Session, client: str = CLIENT_VERSIONS[0]) -> ThreadShape:
    """Return the conversation as a version of Claude Code would resume it, one of `CLIENT_VERSIONS`."""
    thread = session.thread if client == CLIENT_VERSIONS[0] else find_thread_of(session.transcript, client)
    return ThreadShape(
        session_id=session.id,
        client=client,
        found=thread.found,
        cleared=thread.cleared,
        leaf=thread.leaf,
        leaf_reason=thread.leaf_reason,
        reachable_share=round(thread.reachable_share, 6),
        sent=len(thread.sent),
        counts=_counts(thread),
        rows=_thread_rows(session, thread, client),
    )


def _counts(thread: Thread) -> dict[str, int]:
    return dict(Counter(place.status for place in thread.placements))


def _thread_rows(session: Session, thread: Thread, client: str) -> list[ThreadRow]:
    roles = {row.index: row.type for row in thread.sent} | {row.index: "user" for row in sent_as_user(thread, client)}
    position = {row.index: number for number, row in enumerate(thread.sent, 1)}
    return [
        ThreadRow(
            line=row.line,
            uuid=row.uuid,
            parent=row.parent,
            type=row.type,
            subtype=row.subtype,
            status=place.status,
            reason=place.reason,
            sent=position.get(row.index),
            sent_as=roles.get(row.index),
            repaired_to=thread.repaired_links.get(row.uuid or ""),
            put_back=row.uuid in thread.put_back,
            time=to_datetime(row.time),
        )
        for row, place in zip(session.transcript.rows, thread.placements, strict=True)
    ]


def tree_shape(session: Session) -> TreeShape:
    """Return the turns of the conversation with its compactions, and every branch."""
    graph = session.conversation
    thread = graph.thread
    live = {row.index for row in thread.chain}
    with session:
        return TreeShape(
            session_id=session.id,
            leaf=thread.leaf,
            leaf_reason=thread.leaf_reason,
            reachable_share=round(thread.reachable_share, 6),
            counts=_counts(thread),
            roots=graph.tree.roots,
            orphans=graph.tree.orphans,
            circles=graph.tree.circles,
            compactions=[
                CompactionShape(
                    uuid=item.boundary.uuid, line=item.boundary.line, trigger=item.trigger, pre_tokens=item.pre_tokens,
                    post_tokens=item.post_tokens, preserved=item.preserved, rows_before=item.rows_before,
                    summary=item.summary.uuid if item.summary is not None else None,
                )
                for item in graph.compactions
            ],
            turns=[
                TurnShape(
                    prompt=prompt_words(session, turn.prompt, 200),
                    uuid=turn.prompt.uuid if turn.prompt is not None else None, time=to_datetime(turn.rows[0].time),
                    rows=len(turn.rows), tool_calls=turn.tool_calls, duration=turn.duration,
                    precompact=turn.rows[0].index not in live,
                )
                for turn in graph.turns(graph.full_history())
            ],
            branches=branch_shapes(session),
        )  # fmt: skip
