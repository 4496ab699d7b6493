"""Show a value without giving it away: the beginning that all of its kind share, and its last two letters."""

from __future__ import annotations

from typing import Final

from .formats import formats

_LONG_ENOUGH: Final = 20
_LAST: Final = 2
_SHARE: Final = 4
"""At most one letter of four is shown."""


def masked(kind: str, value: str) -> str:
    """Return what may be shown of a value of this kind, such as `sk-ant-…AA`."""
    if len(value) < _LONG_ENOUGH:
        return "…"
    format = formats().get(kind)
    starts = (format.masked, *format.prefix) if format is not None and not format.before else ()
    prefix = next((item for item in starts if value.startswith(item)), "")
    last = "" if "\n" in value[-_LAST:] or value.startswith("-----BEGIN") else value[-_LAST:]
    prefix = prefix[: max(len(value) // _SHARE - len(last), 0)]
    return f"{prefix}…{last}"
