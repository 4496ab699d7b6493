"""What a sync did, and how it tells while it is at it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .left_out import LeftOut


@dataclass(slots=True)
class SyncReport:
    """What a sync did."""

    files: int = 0
    """Files that were read."""
    gone: int = 0
    lines: int = 0
    """Lines that were parsed."""
    bytes: int = 0
    entries: int = 0
    documents: int = 0
    """Entries whose words were added."""
    threaded: int = 0
    """Sessions whose statuses were renewed."""
    unreadable: list[str] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)
    """Rows that could not be taken in."""
    seconds: float = 0.0


Progress = Callable[[int, int], None]
"""Told now and then: bytes done, bytes in all."""
