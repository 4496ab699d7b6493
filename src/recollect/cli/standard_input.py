"""Read standard input, which may be closed (`<&-`): then it is not a terminal, and is empty."""

from __future__ import annotations

import sys


def is_terminal() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def read_bytes(limit: int) -> bytes:
    """Return at most `limit` bytes of standard input."""
    return b"" if sys.stdin is None or sys.stdin.closed else sys.stdin.buffer.read(limit)


def read_text() -> str:
    return "" if sys.stdin is None or sys.stdin.closed else sys.stdin.read()
