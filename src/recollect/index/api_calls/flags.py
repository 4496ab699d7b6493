"""What is known of a call beside its counts, as bits; and the names of the counts."""

from __future__ import annotations

from typing import Final

#: What `flags` say of a call.
LOWER_BOUND: Final = 1
ODD: Final = 2
PROGRESS: Final = 4
ADVISOR: Final = 8
COPIED: Final = 16
PARTIAL: Final = 32
"""No line of the call has both its input and its output."""
ZONELESS: Final = 64

FOR_ALL: Final = LOWER_BOUND | PARTIAL
"""Flags that hold for a call only as long as they hold for each copy of it."""

#: The counts of a call, in the order in which every tuple of counts has them.
COUNTS: Final = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read", "thinking", "web_searches")
