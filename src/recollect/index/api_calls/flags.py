"""Names of the flags and the counts of an API call."""

from __future__ import annotations

from typing import Final

#: Bits of a call's `flags`.
LOWER_BOUND: Final = 1
ODD: Final = 2
PROGRESS: Final = 4
ADVISOR: Final = 8
COPIED: Final = 16
PARTIAL: Final = 32
"""No line of the call has both an input and an output count."""
ZONELESS: Final = 64

FOR_ALL: Final = LOWER_BOUND | PARTIAL
"""Flags that a call has only if every copy of it has them."""

#: The counts of a call, in the order of every tuple of counts.
COUNTS: Final = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read", "thinking", "web_searches")
