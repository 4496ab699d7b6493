"""A line under new names: its session, its row, the rows it refers to, the files it leads to. Every other byte stays.

Lines are not decoded and written again. Those that name nothing but their own place are split into their members and joined
(`rename_lines`); of the others, and of those that are not as a client writes them, single bytes are changed, member by member.

Followed: `sessionId`, `uuid`, `parentUuid`, `logicalParentUuid`, `sourceToolAssistantUUID`, `forkedFrom`, the rows that a
compaction names, `messageId` of file-history lines, the "...Uuid" members of state lines, and the place of long outputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from .entries import decode_exactly
from .file_history import FileSnapshot, parse_backup_name, parse_file_history_entry
from .json_edit import Edit, Member, apply_edits, decode_text, encode_text, members, string_tokens, values_of
from .names import Names, RowNames
from .rename_lines import renamed_lines

OUTPUTS_FOLDER: Final = b"tool-results"
"""The folder of a session's long outputs: a line without its name leads to none of them."""
_PERSISTED_KEY: Final = "persistedOutputPath"
_PERSISTED_START: Final = "<persisted-output>"
_SAVED: Final = re.compile(r"^(?:.* )?saved to: (?P<path>.+)$", re.MULTILINE)
_SAVED_WITHIN: Final = 8 << 10
_OUTPUT: Final = re.compile(r"[\\/](?P<session>[^\\/]+)[\\/]tool-results[\\/](?P<name>[^\\/]+)\Z")
_LINK: Final = re.compile(r"(?:uuid|Uuid|UUID)s?\Z")
_MESSAGE_LINKS: Final = frozenset({"messageId", "snapshotMessageId"})
#: Members of a row that name other rows, beside its own place.
_ROW_LINKS: Final = frozenset({"sourceToolAssistantUUID", "summarizedTurnPromptUuids", "retractedWireUuids"})
_PRESERVED: Final = frozenset({"preservedMessages", "preservedSegment"})
#: Subtypes of system rows that are known to name no rows but their own place.
PLAIN_SYSTEM: Final = frozenset(
    {"turn_duration", "stop_hook_summary", "local_command", "informational", "api_error", "away_summary"}
)


def renamed_row(data: bytes, row: RowNames, names: Names, *, plain: bool = True) -> tuple[bytes, bool]:
    """The line of a row under its new names, and whether nothing but the names in `row` was to be changed.

    `plain` says that the row names no other rows: then the quick way is tried first.
    """
    if plain and row.timestamp is None and row.preserved is None:
        quick = _quickly(data, row, names)
        if quick is not None:
            return quick, True
    return _exactly(data, row, names), False


class _Alone(NamedTuple):
    """A row whose line stands alone."""

    length: int
    uuid: str | None
    parent: str | None
    session_id: str | None
    source_assistant: str | None
    offset: int = 0


def _quickly(data: bytes, row: RowNames, names: Names) -> bytes | None:
    if row.old_uuid is None:
        return None
    alone = _Alone(len(data), row.old_uuid, row.old_parent, row.old_session, row.source_assistant)
    line = renamed_lines(data, 0, [alone], [row.uuid], [row.parent], names)
    return None if line is None else line[:-1]


def _exactly(data: bytes, row: RowNames, names: Names) -> bytes:
    found = _by_key(data)
    edits: list[Edit] = []
    more: list[tuple[str, bytes]] = []

    def put(key: str, value: str | None) -> None:
        text = b"null" if value is None else encode_text(value)
        if key in found:
            edits.append(Edit(found[key].value_start, found[key].value_end, text))
        else:
            more.append((key, text))

    put("sessionId", names.session_id)
    if row.uuid != row.old_uuid:
        put("uuid", row.uuid)
    if row.parent != row.old_parent or "parentUuid" not in found:
        put("parentUuid", row.parent)
    if row.timestamp is not None:
        put("timestamp", row.timestamp)
    if "logicalParentUuid" in found:
        if row.logical_parent is not None:
            put("logicalParentUuid", row.logical_parent)
        else:
            edits += _link_edits(data, [found["logicalParentUuid"]], names)
    edits += _link_edits(data, (found[key] for key in _ROW_LINKS if key in found), names)
    for key in ("compactMetadata", "microcompactMetadata"):
        if key in found:
            edits += _compaction_edits(data, found[key], row.preserved, names)
    if not names.keep_uuids:
        uuid = found.get("uuid")
        spelled = b"null" if uuid is None or row.old_uuid is None else data[uuid.value_start : uuid.value_end]
        origin = b'{"sessionId":%b,"messageUuid":%b}' % (names.source_text, spelled)
        if "forkedFrom" in found:
            edits.append(Edit(found["forkedFrom"].value_start, found["forkedFrom"].value_end, origin))
        else:
            more.append(("forkedFrom", origin))
    if more:
        end = max(member.value_end for member in found.values())
        edits.append(Edit(end, end, b"".join(b"," + encode_text(key) + b":" + text for key, text in more)))
    return apply_edits(data, edits)


def renamed_state(data: bytes, names: Names) -> bytes:
    """The line of a state under its new names."""
    found = _by_key(data)
    edits: list[Edit] = []
    for key, member in found.items():
        if key == "sessionId" or (key == "parentSessionId" and _text(data, member) == names.source):
            edits.append(Edit(member.value_start, member.value_end, encode_text(names.session_id)))
        elif key in _MESSAGE_LINKS or _LINK.search(key):
            edits += _link_edits(data, [member], names)
        elif key == "snapshot":
            inner = _by_key(data, member.value_start)
            edits += _link_edits(data, (inner[name] for name in _MESSAGE_LINKS if name in inner), names)
    return apply_edits(data, edits)


def rows_named(data: bytes) -> set[str]:
    """The rows that a state line is about: the message of a file checkpoint, the last row of an old title's session."""
    value = decode_exactly(data)
    found: set[str] = set()
    for part in (value, value.get("snapshot")) if isinstance(value, dict) else ():
        if isinstance(part, dict):
            found.update(text for key in (*_MESSAGE_LINKS, "leafUuid") if isinstance(text := part.get(key), str))
    return found


def backups_named(data: bytes) -> set[str]:
    """File names of the backups in `file-history/` that a file checkpoint speaks of."""
    value = decode_exactly(data)
    entry = parse_file_history_entry(value) if isinstance(value, dict) else None
    if isinstance(entry, FileSnapshot):
        found = [backup.file_name for backup in entry.backups.values()]
    else:
        found = [entry.backup.file_name] if entry is not None and entry.backup is not None else []
    return {name for name in found if name is not None and parse_backup_name(name) is not None}


def _link_edits(data: bytes, found: Iterable[Member], names: Names) -> Iterator[Edit]:
    """New uuids in members that are a uuid or a list of them."""
    if names.keep_uuids:
        return
    for member in found:
        old = _text(data, member)
        if old is not None:
            yield Edit(member.value_start, member.value_end, encode_text(names.row(old)))
        elif data[member.value_start : member.value_start + 1] == b"[":
            for token in string_tokens(data[member.value_start : member.value_end]):
                start = member.value_start
                yield Edit(start + token.start, start + token.end, encode_text(names.row(token.text)))


def _compaction_edits(data: bytes, member: Member, preserved: Sequence[str] | None, names: Names) -> Iterator[Edit]:
    """The rows that a compaction names: all of them under new names, and of the preserved ones those that still are."""
    for key, part in _by_key(data, member.value_start).items():
        inner = _by_key(data, part.value_start)
        kept = frozenset(preserved or ())
        if key in _PRESERVED and preserved is not None and not preserved:
            yield Edit(part.value_start, part.value_end, b"null")
        elif key in _PRESERVED:
            ends = {"headUuid": preserved[0], "tailUuid": preserved[-1]} if preserved else {}
            for name, item in inner.items():
                if name in ends:
                    yield Edit(item.value_start, item.value_end, encode_text(names.row(ends[name])))
                elif preserved and data[item.value_start : item.value_start + 1] == b"[":
                    tokens = string_tokens(data[item.value_start : item.value_end])
                    texts = [encode_text(names.row(token.text)) for token in tokens if token.text in kept]
                    yield Edit(item.value_start, item.value_end, b"[" + b",".join(texts) + b"]")
                elif _LINK.search(name):
                    yield from _link_edits(data, [item], names)
        elif _LINK.search(key):
            yield from _link_edits(data, [part], names)


def with_new_outputs(data: bytes, names: Names) -> bytes:
    """The line with the places of long outputs followed: in the structured result, and where the model is told of them."""
    if not names.outputs or OUTPUTS_FOLDER not in data:
        return data
    edits: list[Edit] = []
    for token in values_of(data, _PERSISTED_KEY):
        new = _new_output(token.text, names)
        if new is not None:
            edits.append(Edit(token.start, token.end, encode_text(new)))
    if f'"{_PERSISTED_START}'.encode() in data:
        for token in string_tokens(data):
            match = _SAVED.search(token.text, 0, _SAVED_WITHIN) if token.text.startswith(_PERSISTED_START) else None
            new = _new_output(match["path"], names) if match else None
            if match is None or new is None:
                continue
            written = encode_text(match["path"])[1:-1]
            start = data.find(written, token.start, token.end)
            if start >= 0:
                edits.append(Edit(start, start + len(written), encode_text(new)[1:-1]))
    return apply_edits(data, edits) if edits else data


def _new_output(path: str, names: Names) -> str | None:
    match = _OUTPUT.search(path)
    if match is None or match["session"] != names.source or match["name"] not in names.outputs:
        return None
    names.outputs_met.add(match["name"])
    return names.outputs[match["name"]]


def _by_key(data: bytes, start: int = 0) -> dict[str, Member]:
    """Members by name; of several the last, which is the one that counts."""
    return {member.key: member for member in members(data, start) or ()}


def _text(data: bytes, member: Member) -> str | None:
    token = data[member.value_start : member.value_end]
    return decode_text(token) if token[:1] == b'"' else None


def subagent_name(session_id: str, name: str) -> dict[str, str]:
    """The name by which the client shows a session; it follows the title unless somebody chose another."""
    return {"type": "agent-name", "agentName": name, "sessionId": session_id}


def custom_title_file(title: str) -> bytes:
    """Content of `custom-title.json`, in which clients since 2.1.325 note a title once more."""
    return b'{"customTitle":' + encode_text(title) + b"}"
