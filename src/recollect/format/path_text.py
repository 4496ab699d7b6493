"""Convert file names to text that can be stored, and back. On most systems a name is bytes, not necessarily UTF-8.

Python represents a byte that is not UTF-8 as a lone surrogate, which neither databases nor JSON accept. As text, such a byte is
a character of a private range instead. A character of that range in a name is written byte by byte, so that every name can
be converted back to its bytes.
"""

from __future__ import annotations

import re

_FIRST = 0xEF80
_STRANGE = re.compile("[\udc80-\udcff\uef80-\uefff]")
_WRITTEN = re.compile("[\uef80-\uefff]")
STRANGE_BYTES = re.compile("[\udc80-\udcff]")
"""Matches the lone surrogates by which Python represents bytes of a name that are not UTF-8."""
_LONE = re.compile("[\ud800-\udfff]")


def to_text(path: str) -> str:
    """Convert a path or name to text that can be stored and printed."""
    if path.isascii():
        return path
    return _LONE.sub("\ufffd", _STRANGE.sub(_as_text, path))


def to_path(text: str) -> str:
    """Convert text made by `to_text` back to the path or name, as Python's file functions expect it."""
    return text if text.isascii() else _WRITTEN.sub(lambda match: chr(ord(match[0]) - _FIRST + 0xDC80), text)


def _as_text(match: re.Match[str]) -> str:
    return "".join(chr(_FIRST + byte - 0x80) for byte in match[0].encode("utf-8", "surrogateescape"))
