"""Choose the new names in a copy of a session (session id, uuids of rows, paths of long outputs) and set them in its rows.

`renamed_lines` sets them in many lines in one step, in rows that refer only to their parent and to the call that they answer.
Each line is split into its members, whose values stay byte for byte; names are set by key, and the lines are joined again. So
a name cannot get into the wrong place, and no value changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

import msgspec
from msgspec import Struct

from .encode import spelled_as_uuid
from .entries import REFUSED
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


class PlainRow(Protocol):
    """The attributes of a row that are needed here, named as in the graph."""

    @property
    def offset(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def uuid(self) -> str | None: ...
    @property
    def parent(self) -> str | None: ...
    @property
    def session_id(self) -> str | None: ...
    @property
    def source_assistant(self) -> str | None: ...


Members = dict[str, Any]
"""The members of a line: unchanged values are `msgspec.Raw`, new names are strings."""

split_lines: Final[Callable[[bytes | memoryview], list[Members]]] = msgspec.json.Decoder(
    dict[str, msgspec.Raw]
).decode_lines
"""Split lines (with line feeds between them) into their members. Raises one of `REFUSED` where a line is not an object."""
_join: Final = msgspec.json.Encoder().encode_lines

_MEMBER_ROOM: Final = len(',"forkedFrom":')
"""How many bytes the member `forkedFrom` takes besides its value."""


class NewNames(Struct, array_like=True, gc=False):
    """The new names of some rows, in the order of their lines."""

    session_id: str
    size: int
    """The length of all lines together after renaming, if nothing else changes and no line has `forkedFrom` yet."""
    first_parent: str | None
    parents: Sequence[str | None] | None = None
    """None where the parent of each row but the first is the row before it."""
    source: str = ""
    uuids: Sequence[str] | None = None
    """None where rows keep their uuids; then `forkedFrom` is not written, either."""
    links: Sequence[str | None] = ()
    """For each row the new `sourceToolAssistantUUID`; None for rows without one."""


def renamed_lines(
    block: bytes | bytearray,
    base: int,
    rows: Sequence[PlainRow],
    uuids: Sequence[str],
    parents: Sequence[str | None],
    names: Names,
) -> bytes | None:
    """Return the lines of rows with new names; None where a line must be renamed by `relink` instead.

    `block` holds the bytes of a file from the offset `base` on, all these rows among them.
    """
    new = new_names(rows, uuids, parents, names)
    if new is None:
        return None
    try:
        lines = _lines_of(memoryview(block), base, rows)
    except REFUSED:
        return None
    return with_names(lines, new) if len(lines) == len(rows) else None


def new_names(
    rows: Sequence[PlainRow], uuids: Sequence[str], parents: Sequence[str | None], names: Names
) -> NewNames | None:
    """Return the new names for these rows; None where a row has no session id and must be renamed by `relink` instead."""
    sessions = [row.session_id for row in rows if row.session_id is not None]
    if len(sessions) != len(rows):
        return None
    in_turn = parents[1:] == uuids[:-1]
    room = _room(uuids)
    size = sum([row.length for row in rows]) + len(rows)
    size += _room(parents[:1]) + room - _room(uuids[-1:]) if in_turn else _room(parents)
    size += len(rows) * len(names.session_id) - len("".join(sessions)) - _room([row.parent for row in rows])
    new = NewNames(names.session_id, size, parents[0], None if in_turn else parents)
    if names.keep_uuids:
        return new
    linked = [row.source_assistant for row in rows if row.source_assistant is not None]
    new_links = names.rows(linked)
    following = iter(new_links)
    # The old uuid moves into `forkedFrom`, and the new one takes its place: the line grows by the new one.
    origin = _MEMBER_ROOM + len('{"sessionId":,"messageUuid":}') + len(names.source_text)
    new.size += len(rows) * origin + room + _room(new_links) - _room(linked)
    new.source, new.uuids = names.source, uuids
    new.links = [None if row.source_assistant is None else next(following) for row in rows]
    return new


def with_names(lines: Sequence[Members], new: NewNames) -> bytes | None:
    """Return the lines joined with their new names; None where a line must be renamed by `relink` instead.

    The members in `lines` are changed in place.
    """
    size = new.size
    try:
        if new.uuids is None:
            _set_parents(lines, new)
        else:
            replaced = _set_names(lines, new, new.uuids)
            if replaced is None:
                return None
            size -= replaced
        made = _join(lines)
    except (*REFUSED, KeyError):  # a line without a uuid
        return None
    return made if len(made) == size else None


def _lines_of(block: memoryview, base: int, rows: Sequence[PlainRow]) -> list[Members]:
    """Return the members of the lines of these rows only; adjacent lines are split in one step."""
    found: list[Members] = []
    start = end = rows[0].offset - base
    for row in rows:
        offset = row.offset - base
        if offset != end:
            found += split_lines(block[start : end - 1])
            start = offset
        end = offset + row.length + 1
    found += split_lines(block[start : end - 1])
    return found


def _room(values: Sequence[str | None]) -> int:
    """Return how many bytes the values take as JSON, if all are ASCII without escapes (else they take more)."""
    texts = values if None not in values else [value for value in values if value is not None]
    return len("".join(texts)) + 2 * len(texts) + len("null") * (len(values) - len(texts))  # type: ignore[arg-type]


def _set_parents(lines: Sequence[Members], new: NewNames) -> None:
    session_id = new.session_id
    parents = new.parents
    if parents is None:
        parents = [new.first_parent, *[said["uuid"] for said in lines[:-1]]]
    for said, parent in zip(lines, parents, strict=True):
        said["sessionId"] = session_id
        said["parentUuid"] = parent


def _set_names(lines: Sequence[Members], new: NewNames, uuids: Sequence[str]) -> int | None:
    """Set all names and `forkedFrom`. Return how many bytes of an older `forkedFrom` were replaced (in a fork of a fork).

    Return None where a line refers to other rows, too.
    """
    session_id, source = new.session_id, new.source
    parents = new.parents if new.parents is not None else [new.first_parent, *uuids[:-1]]
    replaced = 0
    for said, uuid, parent, link in zip(lines, uuids, parents, new.links, strict=True):
        if (  # members by which a row refers to other rows; single checks are faster than a set operation
            "logicalParentUuid" in said
            or "compactMetadata" in said
            or "microcompactMetadata" in said
            or "retractedWireUuids" in said
            or "summarizedTurnPromptUuids" in said
        ):
            return None
        if link is not None:
            said["sourceToolAssistantUUID"] = link
        elif "sourceToolAssistantUUID" in said:
            return None
        if "forkedFrom" in said:
            replaced += len(said["forkedFrom"]) + _MEMBER_ROOM
        said["forkedFrom"] = {"sessionId": source, "messageUuid": said["uuid"]}
        said["sessionId"] = session_id
        said["uuid"] = uuid
        said["parentUuid"] = parent
    return replaced
