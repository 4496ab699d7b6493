"""Compare versions of Claude Code, and describe how its files changed from version to version."""

from __future__ import annotations

import re
from typing import Final

_NUMBERS = re.compile(r"(\d+)\.(\d+)\.(\d+)")

NEWEST_KNOWN: Final = (2, 1, 326)
"""The newest version whose files were measured. Files of newer versions are read all the same and counted as "future"."""

FIRST_PLACEHOLDERS: Final = (1, 0, 30)
"""From this version on, lines may be written before their output count is known."""

#: Versions that changed the files on disk, newest last, each with what changed.
AGES: Final[tuple[tuple[tuple[int, int, int], str], ...]] = (
    ((0, 2, 126), "whole message per line, costUSD, summary titles, todos/<session>.json"),
    ((1, 0, 30), "a line per content block, requestId, todos/<session>-agent-<subagent>.json"),
    ((2, 0, 26), "subagents inside the main file, debug/, session-env/"),
    ((2, 0, 28), "subagents in agent-<id>.jsonl beside the session"),
    ((2, 1, 9), "<session>/subagents/ and tool-results/"),
    ((2, 1, 50), "long subagent ids, progress rows, hashed long project names"),
    ((2, 1, 70), "subagent meta files, last-prompt checkpoints, ai-title"),
    ((2, 1, 98), "true output tokens on every line"),
    ((2, 1, 100), "attachment rows, sessions/<pid>.json, memory/"),
    ((2, 1, 325), "request log, prompt snapshots, cost-state, preserved messages"),
    ((2, 1, 326), "copied answers name the session that asked for them (requestSessionId)"),
)


def parse_version(text: str | None) -> tuple[int, int, int] | None:
    """Parse ``"2.1.9"`` to (2, 1, 9); None where the text does not begin with a version."""
    match = _NUMBERS.match(text) if text else None
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def is_future(text: str | None) -> bool:
    version = parse_version(text)
    return version is not None and version > NEWEST_KNOWN


def age_of(text: str | None) -> str | None:
    """Return in words how the files of this version of Claude Code look; None where the text is not a version."""
    version = parse_version(text)
    if version is None:
        return None
    found = AGES[0][1]
    for first, words in AGES:
        if version >= first:
            found = words
    return found


def is_placeholder(version: object, stop_reason: object) -> bool:
    """Return whether the output count of a line may be a placeholder from the start of the stream.

    Claude Code 1.0.30 to 2.1.96 wrote lines before the response ended, without a stop reason. Later versions still do so for
    subagents, and add a line with the stop reason and the final count unless they are stopped before. Older versions wrote
    whole responses. A line without a version may come from any of them.
    """
    if stop_reason is not None:
        return False
    client = parse_version(version) if isinstance(version, str) else None
    return client is None or client >= FIRST_PLACEHOLDERS
