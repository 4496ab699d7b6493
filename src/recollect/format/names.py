"""The new names that a copy of a session has: its own, those of its rows, and the places of its long outputs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from .encode import spelled_as_uuid
from .json_edit import encode_text

NIL_UUID: Final = "00000000-0000-0000-0000-000000000000"

_DIGITS: Final = b"0123456789abcdef"
_SHAPE: Final = b"hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh"
_LENGTH: Final = len(_SHAPE)
_KEPT: Final = {14: 0, 19: 3}
"""Places of the digits that say what kind of uuid it is, and how much of each may change."""
_TO_SHAPE: Final = bytes(0x2D if code == 0x2D else 0x68 if code in _DIGITS else 0x78 for code in range(256))
_TO_VALUES: Final = bytes(_DIGITS.find(code) & 0xFF if code != 0x2D else 0x10 for code in range(256))
_TO_DIGITS: Final = bytes(_DIGITS[code] if code < 0x10 else 0x2D for code in range(256))


class Remapping:
    """New uuids for old ones: each digit is changed by a digit of a secret that only one copy has.

    Different uuids stay different, and the same one becomes the same in every file of the copy. Many are changed at once: in
    a long session that is felt.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._key = bytes(
            0 if digit == "-" else int(digit, 16) & _KEPT.get(place, 15) for place, digit in enumerate(_hashed(secret))
        )

    def one(self, old: str) -> str:
        if old == NIL_UUID:
            return old
        digits = _digits([old])
        # What is no uuid as clients spell it has too few digits to change, or other ones.
        return _hashed(f"{self._secret}/{old}") if digits is None else self._changed(digits)[0]

    def many(self, old: Sequence[str]) -> list[str]:
        digits = None if NIL_UUID in old else _digits(old)
        return [self.one(item) for item in old] if digits is None else self._changed(digits)

    def _changed(self, digits: bytes) -> list[str]:
        size = len(digits)
        values = int.from_bytes(digits.translate(_TO_VALUES), "big")
        changed = (values ^ int.from_bytes(self._key * (size // _LENGTH), "big")).to_bytes(size, "big")
        text = changed.translate(_TO_DIGITS).decode("ascii")
        return [text[start : start + _LENGTH] for start in range(0, size, _LENGTH)]


def _hashed(text: str) -> str:
    return spelled_as_uuid(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest())


def _digits(texts: Sequence[str]) -> bytes | None:
    """All of them, one after the other; None where one is no uuid as clients spell it."""
    if not {_LENGTH}.issuperset(map(len, texts)):
        return None
    joined = "".join(texts)
    if not joined.isascii():
        return None
    digits = joined.encode("ascii")
    return digits if digits.translate(_TO_SHAPE) == _SHAPE * len(texts) else None


@dataclass
class Names:
    """The new names of a session that is copied."""

    source: str
    session_id: str
    keep_uuids: bool = False
    outputs: dict[str, str] = field(default_factory=dict)
    """Long outputs of the source by file name, with their new absolute paths."""
    outputs_met: set[str] = field(default_factory=set)
    """Those of them that the lines renamed so far lead to."""

    def __post_init__(self) -> None:
        self.source_text = encode_text(self.source)
        self._rows = Remapping(self.session_id)

    def row(self, old: str) -> str:
        """The new uuid of a row. The same row has the same one in every file of the copy."""
        return old if self.keep_uuids else self._rows.one(old)

    def rows(self, old: Sequence[str]) -> Sequence[str]:
        """The same for many."""
        return old if self.keep_uuids else self._rows.many(old)


class RowNames(NamedTuple):
    """What a row's line says now, and what it shall say."""

    old_uuid: str | None
    uuid: str
    old_parent: str | None
    parent: str | None
    old_session: str | None
    source_assistant: str | None
    """`sourceToolAssistantUUID` as it stands."""
    timestamp: str | None = None
    """A time to set; None leaves it alone."""
    logical_parent: str | None = None
    """A new `logicalParentUuid` for a boundary that has one; None leaves it to the general rule."""
    preserved: tuple[str, ...] | None = None
    """Old uuids of the rows that a compaction still preserves; None for all that it names."""
