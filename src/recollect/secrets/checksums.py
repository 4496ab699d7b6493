"""Check the last letters of tokens that are computed from the others.

The rules are from public descriptions. A description may leave open which letters count: then each reading of it is
accepted. That costs nothing, since a random text passes any of them once in billions.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable, Iterator
from typing import Final

_BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BASE36: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_BECH32: Final = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATORS: Final = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def is_valid(rule: str, value: str) -> bool:
    """Return whether the checksum of a value is right by the rule of this name."""
    return _RULES[rule](value)


def _in_digits(number: int, digits: str, length: int) -> str:
    out = ""
    while number:
        number, rest = divmod(number, len(digits))
        out = digits[rest] + out
    return out.rjust(length, digits[0])


def _crc32_base62(value: str) -> bool:
    """The last 6 letters are the CRC-32 of those between them and the prefix (GitHub, npm)."""
    if len(value) != 40:
        return True  # a later form, of which nothing is known
    body, last = value[4:-6], value[-6:]
    return any(_in_digits(zlib.crc32(part.encode()), _BASE62, 6) == last for part in (body, value[:-6]))


def _crc32_base36(value: str) -> bool:
    """The last 7 letters are the CRC-32 of what stands before them (GitLab)."""
    head, last = value[:-7], value[-7:]
    return any(_in_digits(zlib.crc32(part.encode()), _BASE36, 7) == last for part in _readings(head))


def _crc32_hex(value: str) -> bool:
    """The last 8 letters are the CRC-32 of what stands before them, in hexadecimal (Atlassian, Grafana)."""
    head, last = value[:-8], value[-8:].lower()
    for part in _readings(head):
        number = zlib.crc32(part.encode())
        if last in (f"{number:08x}", number.to_bytes(4, "little").hex()):
            return True
    return False


def _readings(head: str) -> Iterator[str]:
    """Yield what may be meant by the part before the checksum: with and without separator, length and prefix."""
    parts = {head, head[:-1], head[:-2].removesuffix("."), head.rpartition(".")[0] or head}
    for part in parts:
        yield part
        for mark in ("_", "-", "3"):
            yield part.partition(mark)[2] or part
        yield part[2:]


def _bech32(value: str) -> bool:
    prefix, _, data = value.lower().rpartition("1")
    if not data or any(letter not in _BECH32 for letter in data):
        return False
    check = 1
    expanded = [ord(letter) >> 5 for letter in prefix] + [0] + [ord(letter) & 31 for letter in prefix]
    for number in expanded + [_BECH32.index(letter) for letter in data]:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ number
        for bit, generator in enumerate(_GENERATORS):
            check ^= generator if (top >> bit) & 1 else 0
    return check == 1


def _discord_id(value: str) -> bool:
    """The first part is the number of the bot in base64."""
    first = value.partition(".")[0]
    try:
        text = base64.urlsafe_b64decode(first + "=" * (-len(first) % 4))
    except (binascii.Error, ValueError):
        return False
    return text.isdigit() and 17 <= len(text) <= 20


_RULES: Final[dict[str, Callable[[str], bool]]] = {
    "crc32-base62": _crc32_base62,
    "crc32-base36": _crc32_base36,
    "crc32-hex-after-equals": _crc32_hex,
    "crc32-hex-after-underscore": _crc32_hex,
    "bech32": _bech32,
    "discord-id": _discord_id,
}
