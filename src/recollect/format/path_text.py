"""Names of files as text. On most systems a name is bytes, and nothing says that these are UTF-8.

Inside, such a name is what Python makes of it: every strange byte a lone surrogate, which no database and no JSON takes. As
text it is a character of a private range instead; what a name has of that range is written byte by byte, so that every name
comes back as the bytes that it was.
"""

from __future__ import annotations

import re

_FIRST = 0xEF80
_STRANGE = re.compile("[\udc80-\udcff\uef80-\uefff]")
_WRITTEN = re.compile("[\uef80-\uefff]")
STRANGE_BYTES = re.compile("[\udc80-\udcff]")
"""What Python makes of bytes in a name that are no UTF-8."""
_LONE = re.compile("[\ud800-\udfff]")


def to_text(path: str) -> str:
    """A path or name as text that can be stored and printed."""
    if path.isascii():
        return path
    return _LONE.sub("\ufffd", _STRANGE.sub(_as_text, path))


def to_path(text: str) -> str:
    """The path or name that `to_text` made this text of, as the system takes it."""
    return text if text.isascii() else _WRITTEN.sub(lambda match: chr(ord(match[0]) - _FIRST + 0xDC80), text)


def _as_text(match: re.Match[str]) -> str:
    return "".join(chr(_FIRST + byte - 0x80) for byte in match[0].encode("utf-8", "surrogateescape"))
