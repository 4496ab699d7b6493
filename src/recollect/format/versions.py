"""Compare versions of Claude Code, and describe how its files changed from version to version."""

from __future__ import annotations

import re
from typing import Final

_NUMBERS = re.compile(r"(\d+)\.(\d+)\.(\d+)")

NEWEST_KNOWN: Final = (2, 1, 326)
"""The newest version whose files were measured. Files of newer versions are read all the same and counted as "future"."""

FIRST_PLACEHOLDERS: Final = (1, 0, 30)
"""From this version on, lines may be written before their output count is known."""


def parse_version(text: str | None) -> tuple[int, int, int] | None:
    """Parse ``"2.1.9"`` to (2, 1, 9); None where the text does not begin with a version."""
    match = _NUMBERS.match(text) if text else None
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def is_future(text: str | None) -> bool:
    version = parse_version(text)
    return version is not None and version > NEWEST_KNOWN


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
