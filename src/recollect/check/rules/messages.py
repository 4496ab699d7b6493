"""Check what messages hold: content that can be used, calls and results, thinking, pictures, long outputs, to-do items."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from ...format.row_edit import persisted_output, refused_images, todos_written, unsigned_thoughts
from ...graph.rows import Row
from ...graph.thread import LIVE
from ..rule import ERROR, IMAGE, INFO, LONG_OUTPUT, WARNING, Finding, Rule, SessionSubject

UNUSABLE_MESSAGE: Final = Rule(
    "unusable-message", WARNING, "A message has no content that could be used.",
    "Passes over the row: what hangs on it hangs on its parent; 2.0.77 fails to resume.",
    "`recollect repair --rule unusable-message` hangs what follows on the row before; the row stays as it is.", "bridges",
)  # fmt: skip
MESSAGE_WITHOUT_MODEL: Final = Rule(
    "message-without-model", WARNING, "An answer does not say which model gave it.",
    "Nothing; 2.1.197 hangs.", "`recollect repair --rule message-without-model` takes the model of the answers around it.",
    "shape", fold=True,
)  # fmt: skip


def check_shape(subject: SessionSubject) -> Iterator[Finding]:
    """Find messages whose shape some version of Claude Code cannot use."""
    for row in subject.rows:
        if not row.is_message:
            continue
        if not row.usable:
            yield subject.finding(UNUSABLE_MESSAGE, row, milder=None if row.uuid in subject.parents else INFO)
        elif row.model is None and row.type == "assistant":
            yield subject.finding(MESSAGE_WITHOUT_MODEL, row)


TOOL_USE_WITHOUT_RESULT: Final = Rule(
    "tool-use-without-result", WARNING, "A tool call has no result.",
    "Leaves the call out, or makes up a result where the talk broke off; older versions fail on every turn.",
    "`recollect repair` adds a result that says so.", "results",
)  # fmt: skip
TOOL_RESULT_WITHOUT_USE: Final = Rule(
    "tool-result-without-use", WARNING, "A result answers a call that is not in the file.",
    "Sends `(no content)` in its place; older versions fail on every turn.",
    "`recollect repair` turns the result into plain words.", "results",
)  # fmt: skip
DUPLICATE_TOOL_RESULT: Final = Rule(
    "duplicate-tool-result", WARNING, "A call was answered more than once.",
    "Takes the first result that follows the call; older versions fail on every turn.",
    "`recollect repair` turns the later ones into plain words.", "results",
)  # fmt: skip
DUPLICATE_TOOL_USE: Final = Rule(
    "duplicate-tool-use", WARNING, "Two rows make a call of the same id.",
    "Sends the first one.", "Nothing to do; copies of rows have other remedies.",
)  # fmt: skip


def check_tool_pairs(subject: SessionSubject) -> Iterator[Finding]:
    """Check that each tool call has one result, and each result a call."""
    tools = subject.tools
    last = next((row for row in reversed(subject.rows) if row.is_message and not row.sidechain), None)
    live = subject.thread.placements if subject.is_main else []

    def milder(row: Row) -> str | None:
        return None if live and live[row.index].status == LIVE else INFO

    for call in tools.calls:
        row = call.call
        if call.result is None:
            # A turn that is broken off, or still going on, is not damage.
            ends_there = last is not None and (row is last or row.message_id == last.message_id is not None)
            yield subject.finding(
                TOOL_USE_WITHOUT_RESULT, row, f"{call.name} {call.id}", INFO if ends_there else milder(row)
            )
        for extra in call.extra_results:
            in_the_way = extra.uuid in subject.parents and milder(extra) is None
            yield subject.finding(DUPLICATE_TOOL_RESULT, extra, call.id, None if in_the_way else INFO)
    for ident, row in tools.orphan_results:
        yield subject.finding(TOOL_RESULT_WITHOUT_USE, row, ident, milder(row))
    seen: dict[str, str | None] = {}
    for row in subject.rows:
        for ident, _ in row.tool_uses:
            if ident not in seen:
                seen[ident] = row.uuid
            elif seen[ident] != row.uuid:
                yield subject.finding(DUPLICATE_TOOL_USE, row, ident)


THINKING_WITHOUT_SIGNATURE: Final = Rule(
    "thinking-without-signature", ERROR, "A thinking block has no signature.",
    "Sends it while the model stays the same: the API answers 400 on every turn.",
    "`recollect repair` takes the block out; its words are kept in the side file.", "thinking",
)  # fmt: skip


def check_thinking(subject: SessionSubject) -> Iterator[Finding]:
    """Find thoughts without a signature, which the API refuses."""
    for row in subject.rows:
        if "thinking" in row.block_types and unsigned_thoughts(subject.value(row)):
            live = subject.is_main and row.index in subject.live
            yield subject.finding(THINKING_WITHOUT_SIGNATURE, row, milder=None if live else INFO)


IMAGE_TOO_LARGE: Final = Rule(
    "image-too-large", ERROR, "A picture has more than 5 MB, or a side of more than 8,000 pixels.",
    "Sends it: the API refuses this turn and every later one.",
    "`recollect repair` puts a line of words in its place; the picture is kept in the side file.", "images",
)  # fmt: skip


def check_images(subject: SessionSubject) -> Iterator[Finding]:
    """Find pictures that are too large for the API: one is enough to make every further turn fail."""
    for row in subject.rows_with(IMAGE):
        for words in refused_images(subject.value(row)):
            live = subject.is_main and row.index in subject.live
            yield subject.finding(IMAGE_TOO_LARGE, row, words, None if live else INFO)


MISSING_TOOL_RESULT_FILE: Final = Rule(
    "missing-tool-result-file", INFO, "A long output was written to a file that is gone.",
    "Sends the preview and names the file; the model cannot read it.", "Bring it back from a copy.", fold=True,
)  # fmt: skip


def check_long_outputs(subject: SessionSubject) -> Iterator[Finding]:
    """Find long outputs that the transcript names and whose files are missing."""
    for row in subject.rows_with(LONG_OUTPUT):
        path = persisted_output(subject.value(row))
        if path is not None and not os.path.lexists(path):
            yield subject.finding(MISSING_TOOL_RESULT_FILE, row, path)


_TODO_TOOL: Final = "TodoWrite"
#: From state to state; staying is always right. `cancelled` never existed in Claude Code, but old notes speak of it.
_TODO_STEPS: Final = {
    "pending": {"in_progress", "cancelled"},
    "in_progress": {"completed", "cancelled"},
    "completed": set[str](),
    "cancelled": set[str](),
}

TODO_TRANSITION: Final = Rule(
    "todo-transition", INFO, "A to-do item skipped a state, or went back.", "Does not enforce the order.",
    "Nothing to do.", fold=True,
)  # fmt: skip


def check_todo_steps(subject: SessionSubject) -> Iterator[Finding]:
    """Check how to-do items went from state to state."""
    before: dict[str, str] = {}
    for row in subject.rows:
        if not any(name == _TODO_TOOL for _, name in row.tool_uses) or row.sidechain:
            continue
        now = {item.content: item.status for item in todos_written(subject.value(row)) if item.content and item.status}
        for content, status in now.items():
            old = before.get(content)
            if old is not None and old != status and status not in _TODO_STEPS.get(old, ()):
                yield subject.finding(TODO_TRANSITION, row, f"{old} to {status}: {content[:80]}")
        before = now
