"""Convert paths to names and text: text that can be stored, the names of project folders, the spelling of uuids.

On most systems a file name is bytes, not necessarily UTF-8. Python represents a byte that is not UTF-8 as a lone surrogate, which
neither databases nor JSON accept. As text, such a byte is a character of a private range instead. A character of that range in a
name is written byte by byte, so that every name can be converted back to its bytes.

The name of a project folder was measured on 2.1.325 (Linux): every UTF-16 code unit outside ``[A-Za-z0-9]`` becomes ``-``; a name
above 200 units is cut there and gets ``-`` and a base-36 hash of the whole path. Versions before about 2.1.50 neither cut nor
hashed, and some native builds in between used another hash, so long names are compared by their first 200 characters
(`same_project_key`). The mapping cannot be reversed: the path of a project is the ``cwd`` in its lines, never the folder name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

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


_CUT = 200
_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"


def project_key(path: str) -> str:
    """Return the name of the folder below ``projects/`` for sessions started in `path` (an absolute, resolved path)."""
    units = _utf16_units(path)
    key = "".join(chr(unit) if unit < 128 and chr(unit) in _SAFE else "-" for unit in units)
    if len(key) <= _CUT:
        return key
    return f"{key[:_CUT]}-{_base36(abs(_int32_hash(units)))}"


@lru_cache(maxsize=4096)
def same_project_key(folder: str, path: str) -> bool:
    """Return whether `folder` may be the project folder of `path` in any version of Claude Code."""
    key = project_key(path)
    if folder == key:
        return True
    return len(key) > _CUT and folder[:_CUT] == key[:_CUT]


def repository_of(path: str | None) -> str | None:
    """Return the repository of a worktree that Claude Code made (``<repo>/.claude/worktrees/<name>``), else None."""
    if path is None:
        return None
    for mark in ("/.claude/worktrees/", "\\.claude\\worktrees\\"):
        before, found, _ = path.partition(mark)
        if found and before:
            return before
    return None


def _utf16_units(text: str) -> list[int]:
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[i] | data[i + 1] << 8 for i in range(0, len(data), 2)]


def _int32_hash(units: list[int]) -> int:
    value = 0
    for unit in units:
        value = (value * 31 + unit) & 0xFFFFFFFF
    return value - 0x1_0000_0000 if value & 0x8000_0000 else value


def _base36(number: int) -> str:
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = _BASE36[digit] + digits
        if not number:
            return digits


UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
