"""Cut a text to one line, as titles and prompts are shown."""

from __future__ import annotations


def one_line(text: str | None, width: int = 200) -> str | None:
    """Fold white space, and cut the text to at most so many characters; None stays None."""
    if text is None:
        return None
    line = " ".join(text.split())
    return line[: width - 1] + "…" if len(line) > width else line
