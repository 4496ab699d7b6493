"""Where Recollect differs from the client or from the official SDK on purpose, with the reason.

A test fails when an exception listed here no longer differs.
"""

from __future__ import annotations

CRAFTED: dict[str, str] = {}
"""Crafted session to why `recollect thread` does not give what the client sends."""
