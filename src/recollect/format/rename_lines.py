"""Many lines under new names at once: those of rows that name nothing but their own place, in any order of their members.

Each line is split into its members, whose values stay the bytes they are; the names are set by their members' names, and all
lines are joined again. So a name cannot get into the wrong place, and no value changes. What else there is between the members
(blanks, a member that is there twice, letters of its name written as escapes) is lost by that, and then the outcome is shorter
than it has to be: nothing is given, and `relink` does the lines one by one, changing single bytes of them. Only that a control
character in a member's name was written with capital hex digits cannot be seen by the length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import msgspec
from msgspec import Struct

from .entries import REFUSED
from .names import Names


class PlainRow(Protocol):
    """A row as far as its line's names go; the names of the attributes are those of the graph."""

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
"""Of a line: values that stay are `msgspec.Raw`, names are texts."""

split_lines: Final[Callable[[bytes | memoryview], list[Members]]] = msgspec.json.Decoder(
    dict[str, msgspec.Raw]
).decode_lines
"""The lines of some bytes, line feeds between them. Raises `REFUSED` where one of them is no object."""
_join: Final = msgspec.json.Encoder().encode_lines

_MEMBER_ROOM: Final = len(',"forkedFrom":')
"""What that member takes beside its value."""


class NewNames(Struct, array_like=True, gc=False):
    """What the lines of some rows shall say, in the order of the lines."""

    session_id: str
    size: int
    """How long all of them are then, if nothing else of them changes (and none says already where it came from)."""
    first_parent: str | None
    parents: Sequence[str | None] | None = None
    """None where each row but the first hangs on the one before."""
    source: str = ""
    uuids: Sequence[str] | None = None
    """None where rows keep theirs; then there is nothing about where they came from, either."""
    links: Sequence[str | None] = ()
    """Of results: the call they belong to."""


def renamed_lines(
    block: bytes | bytearray,
    base: int,
    rows: Sequence[PlainRow],
    uuids: Sequence[str],
    parents: Sequence[str | None],
    names: Names,
) -> bytes | None:
    """The lines of rows under new names; None where one of them has to be looked at more closely.

    `block` holds the bytes of a file from `base` on, all these rows among them.
    """
    told = new_names(rows, uuids, parents, names)
    if told is None:
        return None
    try:
        lines = _lines_of(memoryview(block), base, rows)
    except REFUSED:
        return None
    return with_names(lines, told) if len(lines) == len(rows) else None


def new_names(
    rows: Sequence[PlainRow], uuids: Sequence[str], parents: Sequence[str | None], names: Names
) -> NewNames | None:
    """What the lines of these rows shall say; None where one of them has to be looked at more closely."""
    sessions = [row.session_id for row in rows if row.session_id is not None]
    if len(sessions) != len(rows):
        return None
    in_turn = parents[1:] == uuids[:-1]
    room = _room(uuids)
    size = sum([row.length for row in rows]) + len(rows)
    size += _room(parents[:1]) + room - _room(uuids[-1:]) if in_turn else _room(parents)
    size += len(rows) * len(names.session_id) - len("".join(sessions)) - _room([row.parent for row in rows])
    told = NewNames(names.session_id, size, parents[0], None if in_turn else parents)
    if names.keep_uuids:
        return told
    linked = [row.source_assistant for row in rows if row.source_assistant is not None]
    new_links = names.rows(linked)
    following = iter(new_links)
    # The old uuid stands in there instead of in its own place: the line grows by the new one.
    origin = _MEMBER_ROOM + len('{"sessionId":,"messageUuid":}') + len(names.source_text)
    told.size += len(rows) * origin + room + _room(new_links) - _room(linked)
    told.source, told.uuids = names.source, uuids
    told.links = [None if row.source_assistant is None else next(following) for row in rows]
    return told


def with_names(lines: Sequence[Members], told: NewNames) -> bytes | None:
    """The lines with these names, joined; None where one of them has to be looked at more closely. `lines` are changed."""
    size = told.size
    try:
        if told.uuids is None:
            _set_parents(lines, told)
        else:
            replaced = _set_names(lines, told, told.uuids)
            if replaced is None:
                return None
            size -= replaced
        made = _join(lines)
    except (*REFUSED, KeyError):  # a line without a uuid
        return None
    return made if len(made) == size else None


def _lines_of(block: memoryview, base: int, rows: Sequence[PlainRow]) -> list[Members]:
    """The lines of these rows and of no others, those that follow each other at once."""
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
    """How many bytes they take as JSON, if none of them needs an escape or is beyond ASCII (else it is more)."""
    texts = values if None not in values else [value for value in values if value is not None]
    return len("".join(texts)) + 2 * len(texts) + len("null") * (len(values) - len(texts))  # type: ignore[arg-type]


def _set_parents(lines: Sequence[Members], told: NewNames) -> None:
    session_id = told.session_id
    parents = told.parents
    if parents is None:
        parents = [told.first_parent, *[said["uuid"] for said in lines[:-1]]]
    for said, parent in zip(lines, parents, strict=True):
        said["sessionId"] = session_id
        said["parentUuid"] = parent


def _set_names(lines: Sequence[Members], told: NewNames, uuids: Sequence[str]) -> int | None:
    """All names, and where the line came from. How many bytes that replaces which said so before (in a fork of a fork);
    None where a line names other rows, too."""
    session_id, source = told.session_id, told.source
    parents = told.parents if told.parents is not None else [told.first_parent, *uuids[:-1]]
    replaced = 0
    for said, uuid, parent, link in zip(lines, uuids, parents, told.links, strict=True):
        if (  # by these `relink` follows other rows; asking for each is quicker than for all of them
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
