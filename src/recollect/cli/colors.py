"""Decide whether output is coloured if the command line does not say so."""

from __future__ import annotations

import os
import sys


def are_wanted() -> bool:
    """Return whether stdout is a terminal with colours, and NO_COLOR is not set (no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and sys.stdout.isatty()
