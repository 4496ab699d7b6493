"""Many lines under new names at once: those of rows that name nothing but their own place, as the client itself spells them.

A line costs a search or two and a few slices. The outcome is decoded once, in one go, and says by its names whether each was
put where it belongs; where that is not so, or a line is spelled otherwise, nothing is given and `relink` does them one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec
from msgspec import UNSET, Struct, UnsetType

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


class _SaidNames(Struct, gc=False):
    """The names that a line says."""

    parentUuid: str | UnsetType | None = UNSET
    uuid: str | None = None
    sourceToolAssistantUUID: str | None = None
    sessionId: str | None = None


_PARENT: Final = b'{"parentUuid":"'
_UUID: Final = b'"uuid":"'
_LINK: Final = b'"sourceToolAssistantUUID":"'
_END: Final = b'"}}\n'

_read_all: Final = msgspec.json.Decoder(_SaidNames).decode_lines


def renamed_lines(
    block: bytes, base: int, rows: Sequence[PlainRow], uuids: Sequence[str], parents: Sequence[str | None], names: Names
) -> bytes | None:
    """The lines of rows under new names; None where one of them has to be looked at more closely.

    `block` holds the bytes of a file from `base` on, all these rows among them. No row has been forked before.
    """
    links = [row.source_assistant for row in rows]
    if not names.keep_uuids:
        renamed = iter(names.rows([link for link in links if link is not None]))
        links = [None if link is None else next(renamed) for link in links]
    try:
        lines = b"".join(_parts(block, base, rows, uuids, parents, links, names))
        said = _read_all(lines)
    except (_SpelledOtherwise, UnicodeEncodeError, *REFUSED):
        return None
    fits = (
        [item.uuid for item in said] == list(uuids)
        and [item.parentUuid for item in said] == list(parents)
        and [item.sourceToolAssistantUUID for item in said] == links
        and {item.sessionId for item in said} == {names.session_id}
    )
    return lines if fits else None


class _SpelledOtherwise(Exception):
    pass


def _parts(
    block: bytes,
    base: int,
    rows: Sequence[PlainRow],
    uuids: Sequence[str],
    parents: Sequence[str | None],
    links: Sequence[str | None],
    names: Names,
) -> list[bytes]:
    """The pieces of all lines. Each name is replaced once: if the line says it afterwards, it was the right place."""
    find, rfind, starts = block.find, block.rfind, block.startswith
    keep, new_session, origin = names.keep_uuids, names.session_member, _origin(names)
    session: str | None = None
    session_member = b'"sessionId":null'
    # The row before is what most rows hang on, before and after: its names need not be made into bytes again.
    last_old = last_new = ""
    last = new_last = b""
    parts: list[bytes] = []
    for row, uuid, parent, link in zip(rows, uuids, parents, links, strict=True):
        if row.session_id != session:
            session = row.session_id
            session_member = b'"sessionId":"%b"' % (session or "").encode()
        rest = row.offset - base
        end = rest + row.length
        above = row.parent
        head = _head(above) if above is not last_old else _PARENT + last + b'"'
        new_head = _head(parent) if parent is not last_new else _PARENT + new_last + b'"'
        last_old, last_new = row.uuid or "", uuid
        last, new_last = last_old.encode(), uuid.encode()
        edits: list[tuple[int, int, bytes]] = []  # of names that most lines do not have, or have at their beginning
        if starts(head, rest):
            rest += len(head)
            parts.append(new_head)
        else:
            edits.append(_edit(block, head[1:], new_head[1:], rest, end))
        place = find(session_member, rest, end)
        own = rfind(_UUID + last, rest, end) + len(_UUID) if not keep else end
        if place < 0 or own < len(_UUID):
            raise _SpelledOtherwise
        behind, own_end = place + len(session_member), own + len(last)
        if link is not None and not keep:
            old_link = _LINK + (row.source_assistant or "").encode()
            edits.append(_edit(block, old_link, _LINK + link.encode(), rest, end))
        if edits:
            edits.append((place, behind, new_session))
            if not keep:
                edits.append((own, own_end, new_last))
            for first, after, text in sorted(edits):
                parts += (block[rest:first], text)
                rest = after
            parts.append(block[rest : end if keep else end - 1])
        elif keep:
            parts += (block[rest:place], new_session, block[behind:end])
        elif place < own:
            parts += (block[rest:place], new_session, block[behind:own], new_last, block[own_end : end - 1])
        else:
            parts += (block[rest:own], new_last, block[own_end:place], new_session, block[behind : end - 1])
        parts += (b"\n",) if keep else (origin, last, _END)
    return parts


def _head(parent: str | None) -> bytes:
    return b'{"parentUuid":null' if parent is None else _PARENT + parent.encode() + b'"'


def _origin(names: Names) -> bytes:
    return b',"forkedFrom":{"sessionId":%b,"messageUuid":"' % names.source_text


def _edit(block: bytes, old: bytes, new: bytes, start: int, end: int) -> tuple[int, int, bytes]:
    """From where to where a name stands, and what comes there."""
    place = block.rfind(old, start, end)
    if place < 0:
        raise _SpelledOtherwise
    return place, place + len(old), new
