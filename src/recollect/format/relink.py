"""Rename the session, the rows and the files that a line refers to, for a copy of a session. Every other byte stays.

Lines are not decoded and encoded again. Lines that refer only to their parent and to the call that they answer are split into
members and joined (`names.renamed_lines`). In all other lines, and in lines not spelled as Claude Code does, members are replaced
one by one.

Renamed are `sessionId`, `uuid`, `parentUuid`, `logicalParentUuid`, `sourceToolAssistantUUID`, `forkedFrom`, the rows that a
compaction names, `messageId` of file-history lines, the "...Uuid" members of state lines, and the paths of long outputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from .entries import decode_exactly
from .file_history import FileSnapshot, parse_backup_name, parse_file_history_entry
from .json_edit import Edit, Member, apply_edits, decode_text, encode_text, members, string_tokens, values_of
from .names import Names, RowNames, renamed_lines

OUTPUTS_FOLDER: Final = b"tool-results"
"""The folder of a session's long outputs: a line without this name refers to none of them."""
_PERSISTED_KEY: Final = "persistedOutputPath"
_PERSISTED_START: Final = "<persisted-output>"
_SAVED: Final = re.compile(r"^(?:.* )?saved to: (?P<path>.+)$", re.MULTILINE)
_SAVED_WITHIN: Final = 8 << 10
_OUTPUT: Final = re.compile(r"[\\/](?P<session>[^\\/]+)[\\/]tool-results[\\/](?P<name>[^\\/]+)\Z")
_LINK: Final = re.compile(r"(?:uuid|Uuid|UUID)s?\Z")
_MESSAGE_LINKS: Final = frozenset({"messageId", "snapshotMessageId"})
#: Members of a row that refer to other rows than its parents.
_ROW_LINKS: Final = frozenset({"sourceToolAssistantUUID", "summarizedTurnPromptUuids", "retractedWireUuids"})
_PRESERVED: Final = frozenset({"preservedMessages", "preservedSegment"})
#: Subtypes of system rows that are known to refer to no other rows than their parent.
PLAIN_SYSTEM: Final = frozenset(
    {"turn_duration", "stop_hook_summary", "local_command", "informational", "api_error", "away_summary"}
)


def renamed_row(data: bytes, row: RowNames, names: Names, *, plain: bool = True) -> tuple[bytes, bool]:
    """Return the line of a row with its new names, and whether the fast path was taken (only the names in `row` changed).

    `plain` means that the row refers to no other rows: then the fast path is tried first.
    """
    if plain and row.timestamp is None and row.preserved is None:
        quick = _quickly(data, row, names)
        if quick is not None:
            return quick, True
    return _exactly(data, row, names), False


class _Alone(NamedTuple):
    """A single row in the form that `renamed_lines` expects."""

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
    """Return a state line with its new names."""
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
    """Return the rows to which a state line refers: the message of a file checkpoint, the leaf of a checkpoint or title."""
    value = decode_exactly(data)
    found: set[str] = set()
    for part in (value, value.get("snapshot")) if isinstance(value, dict) else ():
        if isinstance(part, dict):
            found.update(text for key in (*_MESSAGE_LINKS, "leafUuid") if isinstance(text := part.get(key), str))
    return found


def backups_named(data: bytes) -> set[str]:
    """Return the file names of the backups in `file-history/` that a file checkpoint names."""
    value = decode_exactly(data)
    entry = parse_file_history_entry(value) if isinstance(value, dict) else None
    if isinstance(entry, FileSnapshot):
        found = [backup.file_name for backup in entry.backups.values()]
    else:
        found = [entry.backup.file_name] if entry is not None and entry.backup is not None else []
    return {name for name in found if name is not None and parse_backup_name(name) is not None}


def _link_edits(data: bytes, found: Iterable[Member], names: Names) -> Iterator[Edit]:
    """Yield the edits that replace the uuids in members that are a uuid or a list of uuids."""
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
    """Yield the edits that rename the rows a compaction names. Rows no longer preserved are removed from its list."""
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
    """Replace the paths of long outputs in a line, in the structured result and in the text for the model."""
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
    """Return the members of an object by key; of several with the same key the last, which is the one that counts."""
    return {member.key: member for member in members(data, start) or ()}


def _text(data: bytes, member: Member) -> str | None:
    token = data[member.value_start : member.value_end]
    return decode_text(token) if token[:1] == b'"' else None


def subagent_name(session_id: str, name: str) -> dict[str, str]:
    """Build the entry with the name under which Claude Code shows a session: its title, unless another name was chosen."""
    return {"type": "agent-name", "agentName": name, "sessionId": session_id}


def custom_title_file(title: str) -> bytes:
    """Build the content of `custom-title.json`, in which Claude Code since 2.1.325 also writes the title."""
    return b'{"customTitle":' + encode_text(title) + b"}"
