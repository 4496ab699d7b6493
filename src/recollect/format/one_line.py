"""Shorten a text to one line. A module of its own, so that commands that must start fast import nothing else."""

from __future__ import annotations


def one_line(text: str | None, width: int = 200) -> str | None:
    """Collapse the white space of a text, and cut it to `width` characters with an ellipsis at the end."""
    if text is None:
        return None
    line = " ".join(text.split())
    return line[: width - 1] + "…" if len(line) > width else line
