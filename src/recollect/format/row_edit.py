"""Change single members of an entry's line, and repair text that Claude Code cannot read.

Used on lines of other programs: members that are not named stay byte for byte, in their order and spelling.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from .entries import decode_exactly
from .json_edit import Edit, Member, apply_edits, members

_STRING_OR_WORD: Final = re.compile(
    rb'"[^"\\]*(?:\\.[^"\\]*)*"|-?\bInfinity\b|\bNaN\b', re.DOTALL
)  # what may need repair: strings, and numbers that JSON does not have
_ESCAPE: Final = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_BLANK: Final = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\r\n]+', re.DOTALL)
_CONTROL: Final = re.compile(rb"[\x00-\x1f]")
_REPLACEMENT: Final = rb"\ufffd"


def on_one_line(data: bytes) -> bytes:
    """Remove the blanks between the parts of an object, as Claude Code writes it: old versions search for that spelling."""
    return _BLANK.sub(lambda match: match[1] or b"", data)


def set_members(data: bytes, values: Mapping[str, Any], start: int = 0) -> bytes:
    """Set members of the object that begins at `start`; members that it does not have are added at its end."""
    found = {member.key: member for member in members(data, start) or ()}
    edits: list[Edit] = []
    added: list[bytes] = []
    for key, value in values.items():
        text = encode_value(value)
        if key in found:
            edits.append(Edit(found[key].value_start, found[key].value_end, text))
        else:
            added.append(encode_value(key) + b":" + text)
    if added:
        edits.append(_behind_the_last(data, found, start, b",".join(added)))
    return apply_edits(data, edits)


def _behind_the_last(data: bytes, found: Mapping[str, Member], start: int, text: bytes) -> Edit:
    if found:
        end = max(member.value_end for member in found.values())
        return Edit(end, end, b"," + text)
    end = data.index(b"{", start) + 1
    return Edit(end, end, text)


def set_in_message(data: bytes, values: Mapping[str, Any]) -> bytes:
    """Set members of the `message` of a line; a line whose message is not an object stays as it is."""
    message = next((item for item in reversed(members(data) or []) if item.key == "message"), None)
    if message is None or data[message.value_start : message.value_start + 1] != b"{":
        return data
    return set_members(data, values, message.value_start)


def change_blocks(data: bytes, change: Callable[[Any], list[Any]]) -> bytes:
    """Replace each block of the line's message by the blocks that `change` returns for it."""
    entry = decode_exactly(data)
    message = entry.get("message") if isinstance(entry, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return data
    changed = [new for block in content for new in change(block)]
    return data if changed == content else set_in_message(data, {"content": changed})


def encode_value(value: Any) -> bytes:
    """Encode JSON as Claude Code does: compact, with plain characters, but half surrogate pairs as escapes."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def mended_text(data: bytes) -> bytes:
    """Repair JSON so that every version of Claude Code reads it. Sound text stays byte for byte.

    Invalid UTF-8, half surrogate pairs and NULs become U+FFFD, raw control characters become escapes, NaN and Infinity null.
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        data = data.decode("utf-8", "replace").encode()
    return _STRING_OR_WORD.sub(_mended_token, data)


def _mended_token(match: re.Match[bytes]) -> bytes:
    token = match.group()
    if token[:1] != b'"':
        return b"null"
    token = _CONTROL.sub(_escaped, token)
    if b"\\u" in token:
        token = _without_halves(token)
    return token


def _escaped(match: re.Match[bytes]) -> bytes:
    code = match.group()[0]
    return _REPLACEMENT if code == 0 else b"\\u%04x" % code


def _without_halves(token: bytes) -> bytes:
    parts: list[bytes] = []
    place = 0
    high: tuple[int, int] | None = None  # the place of the first half of a pair that still waits for the second
    bad: list[tuple[int, int]] = []
    for escape in _ESCAPE.finditer(token):
        code = int(escape[1], 16) if escape[1] else -1
        if high is not None and not (0xDC00 <= code <= 0xDFFF and escape.start() == high[1]):
            bad.append(high)
            high = None
        if 0xD800 <= code <= 0xDBFF:
            high = escape.span()
        elif 0xDC00 <= code <= 0xDFFF:
            if high is None:
                bad.append(escape.span())
            high = None
        elif code == 0:
            bad.append(escape.span())
    if high is not None:
        bad.append(high)
    for start, end in sorted(bad):
        parts += (token[place:start], _REPLACEMENT)
        place = end
    return b"".join([*parts, token[place:]])
