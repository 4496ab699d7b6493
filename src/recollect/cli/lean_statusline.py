"""Print the status line with as few imports as possible: it runs again and again during work.

Whatever goes wrong, a line is printed and the exit code is 0: a status line must never be in the way. Each call indexes only
a part of what is new, so that the line stays within its time on a store that was never counted.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..library.status_figures import StatusFigures

#: Seconds of CPU time after which nothing more is indexed, and how many bytes of transcripts are read in one second.
_ENOUGH_SECONDS = 0.1
_BYTES_A_SECOND = 250 << 20
#: At least this much is read whatever the time, so that every line makes progress; and at most that much.
LEAST_BYTES, MOST_BYTES = 1 << 20, 6 << 20
#: Claude Code sends a few kilobytes: longer input is not from it.
MOST_INPUT = 1 << 20


def read_input() -> str:
    """Return the text on stdin; empty if stdin is closed, a terminal, or not text."""
    try:
        stream = sys.stdin
        if stream is None or stream.isatty():
            return ""
        text = stream.read(MOST_INPUT + 1)
    except (OSError, ValueError):
        return ""
    return (
        text.removeprefix("\ufeff") if len(text) <= MOST_INPUT else ""
    )  # some shells put a byte order mark before their output


def print_statusline(text: str, homes: list[str], timezone: str | None = None) -> None:
    """Print one line on stdout."""
    line = ""
    try:
        from ..export.status_line import status_line

        given = _given(text)
        line = status_line(given, _figures(given, homes, timezone))
    except Exception:  # whatever it is: Claude Code shows this line to somebody at work
        line = ""
    line = line or "recollect: no figures"
    try:
        try:
            sys.stdout.write(line + "\n")
        except UnicodeEncodeError:
            plain = line.replace("≥", ">=").encode("ascii", "replace").decode()
            sys.stdout.write(plain + "\n")
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):  # no reader, a full disk, or a closed stdout
        from .streams import discard_output

        with suppress(OSError, ValueError, AttributeError):
            discard_output()


def _given(text: str) -> dict[str, Any]:
    """Parse what Claude Code sent; empty if it is not an object."""
    try:
        value = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        value = {}
    return value if isinstance(value, dict) else {}


def _figures(given: dict[str, Any], homes: list[str], timezone: str | None) -> StatusFigures | None:
    """Count the figures; None if that fails (an index in use, a damaged home): then the line shows what Claude Code sent."""
    from ..library.library import open_library

    session = given.get("session_id")
    try:
        with open_library(homes) as library:
            return library.status_figures(
                session if isinstance(session, str) and session else None, timezone=timezone, most_bytes=_bytes_to_read
            )
    except Exception:
        return None


def _bytes_to_read() -> int:
    """Return how many bytes may be read in the remaining time, including the start of the interpreter."""
    left = int((_ENOUGH_SECONDS - time.process_time()) * _BYTES_A_SECOND)
    return min(max(left, LEAST_BYTES), MOST_BYTES)
