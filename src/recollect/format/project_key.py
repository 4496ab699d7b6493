"""Compute the name of the project folder that Claude Code uses for a path.

Measured on 2.1.325 (Linux): every UTF-16 code unit outside ``[A-Za-z0-9]`` becomes ``-``; a name above 200 units is cut
there and gets ``-`` and a base-36 hash of the whole path. Versions before about 2.1.50 neither cut nor hashed, and some
native builds in between used another hash, so long names are compared by their first 200 characters (`same_project_key`).
The mapping cannot be reversed: the path of a project is the ``cwd`` in its lines, never the folder name.
"""

from __future__ import annotations

from functools import lru_cache

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
