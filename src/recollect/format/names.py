"""Choose the new names in a copy of a session: the session id, the uuids of its rows, the paths of its long outputs."""

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
"""Places of the version and variant digits of a uuid, with the bits of each that may change."""
_TO_SHAPE: Final = bytes(0x2D if code == 0x2D else 0x68 if code in _DIGITS else 0x78 for code in range(256))
_TO_VALUES: Final = bytes(_DIGITS.find(code) & 0xFF if code != 0x2D else 0x10 for code in range(256))
_TO_DIGITS: Final = bytes(_DIGITS[code] if code < 0x10 else 0x2D for code in range(256))


class Remapping:
    """Map old uuids to new ones by XOR of each digit with a key that is derived from a secret of the copy.

    Different uuids stay different, and a uuid is mapped to the same one in every file of the copy. Many uuids are mapped in one
    step, which saves noticeable time in a long session.
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
        # A text that is not a uuid in Claude Code's spelling cannot be mapped digit by digit.
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
    """Return the uuids joined, as bytes; None where a text is not a uuid in Claude Code's spelling."""
    if not {_LENGTH}.issuperset(map(len, texts)):
        return None
    joined = "".join(texts)
    if not joined.isascii():
        return None
    digits = joined.encode("ascii")
    return digits if digits.translate(_TO_SHAPE) == _SHAPE * len(texts) else None


@dataclass
class Names:
    """The new names of a session that is copied from `source` to `session_id`."""

    source: str
    session_id: str
    keep_uuids: bool = False
    outputs: dict[str, str] = field(default_factory=dict)
    """New absolute paths of the source's long outputs, by file name."""
    outputs_met: set[str] = field(default_factory=set)
    """File names of the long outputs to which the lines renamed so far refer."""

    def __post_init__(self) -> None:
        self.source_text = encode_text(self.source)
        self._rows = Remapping(self.session_id)

    def row(self, old: str) -> str:
        """Return the new uuid of a row, which is the same in every file of the copy."""
        return old if self.keep_uuids else self._rows.one(old)

    def rows(self, old: Sequence[str]) -> Sequence[str]:
        """Return the new uuids of many rows."""
        return old if self.keep_uuids else self._rows.many(old)


class RowNames(NamedTuple):
    """The names on the line of a row before and after the copy."""

    old_uuid: str | None
    uuid: str
    old_parent: str | None
    parent: str | None
    old_session: str | None
    source_assistant: str | None
    """`sourceToolAssistantUUID` before the copy."""
    timestamp: str | None = None
    """The timestamp to set; None keeps the old one."""
    logical_parent: str | None = None
    """The new `logicalParentUuid` for a boundary that has one; None maps the old one as any other uuid."""
    preserved: tuple[str, ...] | None = None
    """Old uuids of the rows that a compaction still preserves; None for all that its line names."""
