"""Whether what is printed may have colours, where nobody said so on the command line."""

from __future__ import annotations

import os
import sys


def are_wanted() -> bool:
    """On a terminal that knows them, unless NO_COLOR is set to something (no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and sys.stdout.isatty()
