"""Prepare what surrounds a conversation: branches, subagents, facts, the minimap, and notices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..export.formatting import local_minute, number, plural, seconds, size
from ..export.rendering import plain
from ..library.service import Service
from ..library.session import Session
from ..library.shapes import BranchShape
from .reading import PageReading, PageView

ACTIONS: Final = (
    ("rename", "Rename"), ("tag", "Tag"), ("fork", "Fork"), ("delete", "Delete"),
)  # fmt: skip
KEPT_ACTIONS: Final = (("restore", "Restore from the vault"),)
TABS: Final = (
    ("", "Conversation"), ("/tokens", "Tokens"), ("/files", "Files"), ("/tasks", "Tasks"), ("/findings", "Findings"),
)  # fmt: skip
MINIMAP_UNITS: Final = 1000
TURNS_SHOWN: Final = 600


@dataclass
class SideBranch:
    number: int
    status: str
    words: str
    messages: int
    left_at: str | None
    depth: int


@dataclass
class SideSubagent:
    id: str
    words: str
    kind: str
    rows: int
    depth: int


@dataclass
class Bar:
    """A turn on the minimap."""

    y: float
    height: float
    width: float
    kind: str
    href: str
    words: str


def around(service: Service, session: Session, tab: str) -> dict[str, Any]:
    """Return what every page of a session shows at the top."""
    own = session.redacted_from or session
    return {
        "session": session, "summary": session.summary, "running": service.is_running(session.id), "tabs": TABS, "tab": tab,
        "actions": ACTIONS if own.home.kept_from is None else KEPT_ACTIONS, "notices": notices(session), "own": own,
    }  # fmt: skip


def notices(session: Session) -> list[tuple[str, str, str | None]]:
    """List notices on a session as (kind, text, address with more)."""
    found: list[tuple[str, str, str | None]] = []
    if session.redaction is not None:
        found.append(("warn", session.redaction.in_words(), None))
    place = f"/sessions/{session.id}/findings"
    if session.summary.problem:
        found.append(("bad", session.summary.problem, None))
    share = session.thread.reachable_share
    if share < 1:
        found.append(("bad", f"Only {share:.0%} of this conversation is in reach of a resume.", place))
    if session.damage:
        found.append(("warn", f"{plural(len(session.damage), 'damaged place')} in the file.", place))
    if session.thread.cleared:
        found.append(("warn", "The conversation was rewound to before its first prompt.", None))
    return found


def branches_of(session: Session) -> list[SideBranch]:
    """Return the branches as a tree: each below the one it left, in file order."""
    below: dict[int, list[BranchShape]] = {}
    for branch in session.branches:
        below.setdefault(branch.parent_branch, []).append(branch)
    found: list[SideBranch] = []
    stack = [(branch, 0) for branch in reversed(below.get(0, []))]
    while stack:
        branch, depth = stack.pop()
        words = plain(branch.prompt or "(no prompt)")[:80]
        found.append(SideBranch(branch.number, branch.status, words, branch.messages, branch.left_at, min(depth, 6)))
        stack.extend((item, depth + 1) for item in reversed(below.get(branch.number, [])))
    return found


def subagents_of(session: Session) -> list[SideSubagent]:
    """Return the subagents, each below the one that started it."""
    return [
        SideSubagent(
            item.subagent_id, plain(item.description or item.subagent_id)[:80], plain(item.kind or "")[:40], item.rows,
            min(item.depth - 1, 6),
        )
        for item in session.subagents
    ]  # fmt: skip


def facts_of(session: Session) -> list[tuple[str, str]]:
    """Return the facts of a session as label and text."""
    facts = session.facts
    begun, last = facts.first, facts.last
    calls, errors = facts.tool_calls, facts.tool_errors
    found = [
        ("Project", session.project or ""),
        ("Begun", local_minute(begun)),
        ("Last message", local_minute(last)),
        ("Took", seconds((last - begun).total_seconds()) if begun and last and last > begun else ""),
        ("Messages", number(facts.messages)),
        ("Tool calls", number(calls)),
        ("Failed calls", number(errors) if calls else ""),
        ("Compactions", number(facts.compactions) if facts.compactions else ""),
        ("Models", ", ".join(facts.models[:4])),
        ("Claude Code", ", ".join(facts.versions) if len(facts.versions) < 4 else session.summary.version or ""),
        ("Lines", number(facts.lines)),
        ("Size", size(session.file.size)),
        ("Reachable", f"{facts.reachable_share:.0%}"),
        ("Rows", ", ".join(f"{count:,} {status}" for status, count in facts.statuses.items())),
        ("Pull request", session.summary.pr_url or ""),
        ("File", str((session.redacted_from or session).file.path)),
    ]
    return [(words, value[:400]) for words, value in found if value]


def minimap(reading: PageReading, page: int) -> list[Bar]:
    """Return a bar for each turn: its height is its share of the messages, its width its calls. Long sessions are merged."""
    turns = reading.page_turns
    total = sum(max(turn.messages, 1) for turn in turns) or 1
    most = max((turn.calls for turn in turns), default=0) or 1
    step = max(len(turns) // 300, 1)
    prefix = f"?{reading.wanted.query}{'&' if reading.wanted.query else ''}"
    found: list[Bar] = []
    y = 0.0
    for start in range(0, len(turns), step):
        group = turns[start : start + step]
        first = group[0]
        height = sum(max(turn.messages, 1) for turn in group) * MINIMAP_UNITS / total
        width = 35 + 65 * max(turn.calls for turn in group) / most
        kind = "before" if first.compacted else ("here" if first.page == page else "turn")
        href = f"{prefix}page={first.page}#m-{first.uuid or ''}"
        found.append(Bar(round(y, 2), round(max(height - 1, 1), 2), round(width, 1), kind, href, first.words))
        y += height
    return found


def ways_of(session: Session, wanted: PageView) -> list[tuple[str, str, str, bool]]:
    """Return (query, label, explanation, chosen) for each view in the switch above the conversation."""
    plain_view = wanted.branch is None and wanted.subagent is None
    ways = {
        "conversation": ("", "Conversation", "The conversation with everything before its compactions"),
        "resumed": ("view=resumed", "As resumed", "Only what Claude Code would load again"),
        "all": ("view=all", "Every row", "All rows of the file in file order, branches and all"),
    }
    return [(query, words, title, plain_view and wanted.view == view) for view, (query, words, title) in ways.items()]


def where_words(session: Session, wanted: PageView) -> str | None:
    if wanted.subagent is not None:
        subagent = next((item for item in session.conversation.subagents if item.subagent_id == wanted.subagent), None)
        return f"This is the conversation of the subagent {(subagent and subagent.description) or wanted.subagent}."
    if wanted.branch is not None:
        branch = session.conversation.branches[wanted.branch - 1]
        return f"This is branch {wanted.branch} ({branch.status}: {branch.reason})."
    return None
