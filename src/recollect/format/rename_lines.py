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


class SaidNames(Struct, gc=False):
    """The names that a line says."""

    parentUuid: str | UnsetType | None = UNSET
    uuid: str | None = None
    sourceToolAssistantUUID: str | None = None
    sessionId: str | None = None


_PARENT: Final = b'{"parentUuid":"'
_UUID: Final = b'"uuid":"'
_LINK: Final = b'"sourceToolAssistantUUID":"'
_END: Final = b'"}}\n'

_read_all: Final = msgspec.json.Decoder(SaidNames).decode_lines


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
        start = row.offset - base
        end = start + row.length
        above = row.parent
        head = _head(above) if above is not last_old else _PARENT + last + b'"'
        rest = start + len(head)
        place = find(session_member, rest, end)
        if place < 0 or not starts(head, start):
            raise _SpelledOtherwise
        behind = place + len(session_member)
        new_head = _head(parent) if parent is not last_new else _PARENT + new_last + b'"'
        last_old, last_new = row.uuid or "", uuid
        last, new_last = last_old.encode(), uuid.encode()
        if keep:
            parts += (new_head, block[rest:place], new_session, block[behind:end], b"\n")
            continue
        own = rfind(_UUID + last, rest, end) + len(_UUID)
        if own < len(_UUID):
            raise _SpelledOtherwise
        own_end = own + len(last)
        if link is not None:
            edits = [(place, behind, new_session), (own, own_end, new_last), _link(block, row, link, rest, end)]
            edits.sort()
            (a, b, one), (c, d, two), (e, rest_of_line, three) = edits
            parts += (
                new_head, block[rest:a], one, block[b:c], two, block[d:e], three, block[rest_of_line : end - 1],
                origin, last, _END,
            )  # fmt: skip
        elif place < own:
            parts += (
                new_head, block[rest:place], new_session, block[behind:own], new_last, block[own_end : end - 1],
                origin, last, _END,
            )  # fmt: skip
        else:
            parts += (
                new_head, block[rest:own], new_last, block[own_end:place], new_session, block[behind : end - 1],
                origin, last, _END,
            )  # fmt: skip
    return parts


def _head(parent: str | None) -> bytes:
    return b'{"parentUuid":null' if parent is None else _PARENT + parent.encode() + b'"'


def _origin(names: Names) -> bytes:
    return b',"forkedFrom":{"sessionId":%b,"messageUuid":"' % names.source_text


def _link(block: bytes, row: PlainRow, link: str, start: int, end: int) -> tuple[int, int, bytes]:
    """Where the call is named that a result answers, and its new name."""
    old = (row.source_assistant or "").encode()
    place = block.rfind(_LINK + old, start, end) + len(_LINK)
    if place < len(_LINK):
        raise _SpelledOtherwise
    return place, place + len(old), link.encode()
