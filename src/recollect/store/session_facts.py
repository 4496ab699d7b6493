"""Derive facts of a session from its lines: title, prompt, project. One set of rules for lists, index and watch.

The index reads every line, `summary` the two ends of a file, and watch each new line; all of them ask this module what
a line says about its session. The summaries of the SDK's session stores follow the SDK's own rules instead
(`stores/summary_fold`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ..format.blocks import text_of
from ..format.entries import decode_loosely
from ..format.one_line import one_line
from ..format.project_key import repository_of, same_project_key

TITLE_SOURCES: Final = {"custom_title": "custom", "ai_title": "ai", "old_summary": "summary", "first_prompt": "prompt"}
"""The facts that can be a session's title, the preferred one first, and the name that users see for each."""
#: State lines: the fact, the member that holds it, and whether an empty value clears what an earlier line set.
_STATES: Final = {
    "custom-title": ("custom_title", "customTitle", True),
    "ai-title": ("ai_title", "aiTitle", True),
    "summary": ("old_summary", "summary", False),
    "tag": ("tag", "tag", True),
    "last-prompt": ("last_prompt", "lastPrompt", False),
    "relocated": ("relocated", "relocatedCwd", False),
    "agent-name": ("subagent_name", "agentName", True),
    "pr-link": ("pr_url", "prUrl", True),
}
#: Beginnings of prompts that nobody typed: wrappers of slash commands, shell mode, reminders, interruptions.
_NOT_TYPED: Final = re.compile(
    r"\s*(?:<(?:local-command-[a-z]+|command-[a-z]+|bash-(?:input|stdout|stderr)|system-reminder|task-notification|"
    r"user-memory-input|ide_[a-z_]+)\b|\[Request interrupted by user|Caveat: The messages below were generated)"
)
_COMMAND: Final = re.compile(r"<command-name>\s*(/?[^<]{1,200}?)\s*</command-name>")
_ARGUMENTS: Final = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)


def state_of(entry: Any) -> tuple[str, str | None] | None:
    """Return which fact of its session a state line sets, and its value; None for a line that sets none.

    Accepts any view of a line. Of several lines about a fact, the last one counts.
    """
    if entry.type == "worktree-state":
        worktree = decode_loosely(getattr(entry, "worktreeSession", b""))
        original = worktree.get("originalCwd") if isinstance(worktree, dict) else None
        return "worktree_of", original if isinstance(original, str) else None
    found = _STATES.get(entry.type or "")
    if found is None:
        return None
    fact, member, may_be_empty = found
    value = getattr(entry, member, None) or None
    return (fact, value) if value is not None or may_be_empty else None


def title_of(facts: Any) -> str | None:
    """Return the title from the facts of a session (any object with these attributes); a prompt is put on one line."""
    for name in TITLE_SOURCES:
        if value := getattr(facts, name):
            return one_line(value) if name == "first_prompt" else value
    return None


def project_of(relocated: str | None, cwds: Sequence[str], folder: str) -> str | None:
    """Return the project: where the session was relocated, else the cwd that fits its folder's name, else the first cwd."""
    if relocated is not None:
        return relocated
    fitting = (cwd for cwd in cwds if same_project_key(folder, cwd))
    return next(fitting, cwds[0] if cwds else None)


def repository_for(worktree_of: str | None, project: str | None) -> str | None:
    """Return the repository of which a session's project is a git worktree; None if it is not a worktree."""
    return repository_of(project) if worktree_of is None or worktree_of == project else worktree_of


def prompt_of(content: Any) -> tuple[str | None, str | None]:
    """Return (typed text, None) from a prompt's content, or (None, slash command) if nothing was typed."""
    text = typed_text(content)
    return (text, None) if text is not None else (None, command_text(content))


def typed_text(content: Any) -> str | None:
    """Return the text that a person typed in a prompt; None if Claude Code wrote all of it (wrapped commands, reminders)."""
    text = content if isinstance(content, str) else text_of(content)
    return None if not text.strip() or _NOT_TYPED.match(text) else text


def command_text(content: Any) -> str | None:
    """Return the slash command that a wrapped prompt stands for."""
    text = content if isinstance(content, str) else text_of(content)
    match = _COMMAND.search(text[:2000])
    if match is None:
        return None
    arguments = _ARGUMENTS.search(text[:10_000])
    return f"{match[1]} {arguments[1].strip()}".strip() if arguments else match[1]
