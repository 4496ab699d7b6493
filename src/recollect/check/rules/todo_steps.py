"""Check how to-do items went from state to state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...format.row_edit import todos_written
from ..rule import INFO, Finding, Rule
from ..subject import SessionSubject

TOOL: Final = "TodoWrite"
#: From state to state; staying is always right. `cancelled` never existed in a client, but old notes speak of it.
STEPS: Final = {
    "pending": {"in_progress", "cancelled"},
    "in_progress": {"completed", "cancelled"},
    "completed": set[str](),
    "cancelled": set[str](),
}

RULE: Final = Rule(
    "todo-transition", INFO, "A to-do item skipped a state, or went back.", "Does not enforce the order.",
    "Nothing to do.", fold=True,
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    before: dict[str, str] = {}
    for row in subject.rows:
        if not any(name == TOOL for _, name in row.tool_uses) or row.sidechain:
            continue
        now = {item.content: item.status for item in todos_written(subject.value(row)) if item.content and item.status}
        for content, status in now.items():
            old = before.get(content)
            if old is not None and old != status and status not in STEPS.get(old, ()):
                yield subject.finding(RULE, row, f"{old} to {status}: {content[:80]}")
        before = now
