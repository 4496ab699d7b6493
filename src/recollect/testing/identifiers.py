"""Make names and times that look like Claude Code's own but depend only on their arguments."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

NIL_UUID = "00000000-0000-0000-0000-000000000000"
"""The uuid that Claude Code writes into a checkpoint to withdraw the previous one."""

DEFAULT_START = "2026-03-02T09:00:00.000Z"

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def hex_id(length: int, *parts: object) -> str:
    """Return `length` hexadecimal digits that depend on `parts` only."""
    seed = "\x1f".join(str(part) for part in parts)
    return hashlib.shake_256(seed.encode("utf-8", "surrogatepass")).hexdigest((length + 1) // 2)[:length]


def uuid_from(*parts: object) -> str:
    """Return a version 4 uuid that depends on `parts` only."""
    digits = hex_id(32, "uuid", *parts)
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def _base62(length: int, *parts: object) -> str:
    number = int(hex_id(length * 2, *parts), 16)
    digits = []
    for _ in range(length):
        number, digit = divmod(number, 62)
        digits.append(_BASE62[digit])
    return "".join(digits)


def message_id(*parts: object) -> str:
    return "msg_01" + _base62(22, "message", *parts)


def request_id(*parts: object) -> str:
    return "req_011C" + _base62(20, "request", *parts)


def tool_use_id(*parts: object) -> str:
    return "toolu_01" + _base62(22, "tool", *parts)


def subagent_id(length: int, *parts: object) -> str:
    """Return `a` and hexadecimal digits: 7 characters up to 2.1.9, 17 since 2.1.50."""
    return "a" + hex_id(length - 1, "subagent", *parts)


def parse_time(value: str | datetime) -> datetime:
    """Parse a moment in UTC; a text without a zone is in UTC."""
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def timestamp(moment: datetime) -> str:
    """Write a moment as Claude Code does: milliseconds and a `Z`."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def milliseconds(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
