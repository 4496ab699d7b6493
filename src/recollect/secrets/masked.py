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
    shown = format.masked if format is not None else ""
    prefix = shown if shown and value.startswith(shown) else _common_start(value, shown)
    last = "" if "\n" in value[-_LAST:] or value.startswith("-----BEGIN") else value[-_LAST:]
    prefix = prefix[: max(len(value) // _SHARE - len(last), 0)]
    return f"{prefix}…{last}"


def _common_start(value: str, shown: str) -> str:
    """Return as much of the shown prefix as the value has: `gh` of `ghs_` where `ghp_` may be shown."""
    count = 0
    while count < min(len(value), len(shown)) and value[count] == shown[count]:
        count += 1
    return value[:count]
