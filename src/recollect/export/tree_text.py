"""Draw the branches of a session for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ..graph.rows import Row
from ..graph.session import Branch, Conversation
from .conversation_text import Style, no_style
from .formatting import local_minute, plural, seconds, title_line

Prompt = Callable[[Row | None], str | None]
"""Returns the text of a prompt in one line."""


def tree_lines(
    conversation: Conversation, prompt: Prompt, *, session_id: str, title: str | None, style: Style = no_style
) -> list[str]:
    """Draw the turns of a conversation with its compactions, and every branch at the turn after which it left."""
    return _Drawing(conversation, prompt, style).lines(session_id, title)


class _Drawing:
    def __init__(self, conversation: Conversation, prompt: Prompt, style: Style) -> None:
        self._conversation = conversation
        self._prompt = prompt
        self._style = style
        self._left: dict[str | None, list[Branch]] = {}
        """Branches that are not drawn yet, by the row after which they left."""
        for branch in conversation.branches:
            self._left.setdefault(branch.left_at if branch.status == "abandoned" else None, []).append(branch)

    def lines(self, session_id: str, title: str | None) -> list[str]:
        style, graph = self._style, self._conversation
        thread = graph.thread
        counts = Counter(place.status for place in thread.placements)
        statuses = ", ".join(f"{count} {status}" for status, count in counts.items()) or "no rows"
        lines = [
            style(title_line(title), bold=True),
            style(f"{session_id} · {statuses} · {thread.reachable_share:.0%} reachable", dim=True),
            "",
        ]
        live = {row.index for row in thread.chain}
        for turn in graph.turns(graph.full_history()):
            before = turn.rows[0].index not in live
            calls = plural(turn.tool_calls, "call") if turn.tool_calls else ""
            note = "  ".join(item for item in (local_minute(turn.rows[0].time), calls, seconds(turn.duration)) if item)
            if turn.prompt is not None or not any(row.is_boundary for row in turn.rows):
                mark = style("○" if before else "●", fg="yellow" if before else "green")
                lines.append(f"{mark} {style(self._words(turn.prompt))}  {style(note, dim=True)}")
            for row in turn.rows:
                if row.is_boundary:
                    lines.append(style("╪ compacted: what is above was replaced by a summary", fg="yellow"))
                for branch in self._left.pop(row.uuid, ()):
                    lines.extend(self._branch(branch, 1))
        for branch in self._left.pop(None, ()):
            lines.extend(self._branch(branch, 0))
        rest = [branch for branches in self._left.values() for branch in branches]
        self._left.clear()
        for branch in rest:
            lines.extend(self._branch(branch, 0))
        return lines

    def _words(self, prompt: Row | None) -> str:
        return self._prompt(prompt) or "(no prompt)"

    def _branch(self, branch: Branch, depth: int) -> list[str]:
        """Draw a branch, and below it the branches that left it."""
        lines: list[str] = []
        stack = [(branch, depth)]
        while stack:
            item, level = stack.pop()
            color = "red" if item.status == "unreachable" else "blue"
            words = f"├─ branch {item.number} ({item.status}, {plural(item.messages, 'message')})"
            head = self._style(words, fg=color)
            lines.append("│ " * (level - 1) + f"{head} {self._style(self._words(item.prompt))}")
            if item.status == "unreachable":
                lines.append("│ " * level + self._style(item.reason, dim=True))
            for row in reversed(item.rows):
                stack.extend((below, level + 1) for below in reversed(self._left.pop(row.uuid, [])))
        return lines
