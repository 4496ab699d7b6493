"""Read and change details of a row's line that are rarely needed: images, signatures, long outputs, single members.

What reads works on an entry decoded to plain data and skips values of an unexpected shape. What changes works on the line of
another program: members that are not named stay byte for byte, in their order and spelling.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from .entries import decode_exactly
from .json_edit import Edit, Member, apply_edits, encode_value, members
from .todos import Todo, parse_todo

IMAGE_BYTES: Final = 5 << 20
"""The API refuses an image whose encoded data is longer."""
IMAGE_SIDE: Final = 8000
_HEAD: Final = 64 << 10
_JPEG_SIZES: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})


def content_blocks(entry: dict[str, Any]) -> list[Any]:
    """Return the blocks of a message; an empty list where the content is a text."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def is_unsigned_thought(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "thinking" and not block.get("signature")


def unsigned_thoughts(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the thinking blocks without a signature."""
    return [block for block in content_blocks(entry) if is_unsigned_thought(block)]


def refused_images(entry: dict[str, Any]) -> list[str]:
    """Return, for each image that the API would refuse, the reason in words."""
    found = (refused_image(block) for block in nested_blocks(entry))
    return [words for words in found if words is not None]


def nested_blocks(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the blocks of a message and the blocks inside its tool results."""
    for block in content_blocks(entry):
        if not isinstance(block, dict):
            continue
        yield block
        inner = block.get("content") if block.get("type") == "tool_result" else None
        if isinstance(inner, list):
            yield from (item for item in inner if isinstance(item, dict))


def refused_image(block: dict[str, Any]) -> str | None:
    """Return why the API would refuse the image of this block; None where it would not, or there is no image."""
    source = block.get("source") if block.get("type") == "image" else None
    data = source.get("data") if isinstance(source, dict) else None
    if not isinstance(data, str):
        return None
    kind = source.get("media_type") if isinstance(source, dict) else None
    if len(data) > IMAGE_BYTES:
        return f"{kind}, {len(data):,} bytes encoded"
    sides = image_sides(data)
    if sides is not None and max(sides) > IMAGE_SIDE:
        return f"{kind}, {sides[0]:,} x {sides[1]:,} pixels"
    return None


def image_sides(data: str) -> tuple[int, int] | None:
    """Return width and height of a base64 image from its first bytes; None where they cannot be determined."""
    try:
        head = base64.b64decode(data[:_HEAD])
    except (binascii.Error, ValueError):
        return None
    if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) >= 24:
        return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    if head[:4] == b"GIF8" and len(head) >= 10:
        return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    if head[:2] == b"\xff\xd8":
        return _jpeg_sides(head)
    return None


def _jpeg_sides(head: bytes) -> tuple[int, int] | None:
    place = 2
    while place + 9 <= len(head) and head[place] == 0xFF:
        if head[place + 1] in _JPEG_SIZES:
            return int.from_bytes(head[place + 7 : place + 9]), int.from_bytes(head[place + 5 : place + 7])
        place += 2 + int.from_bytes(head[place + 2 : place + 4])
    return None


def persisted_output(entry: dict[str, Any]) -> str | None:
    """Return the path of the file that holds a long output; None where there is none."""
    result = entry.get("toolUseResult")
    path = result.get("persistedOutputPath") if isinstance(result, dict) else None
    return path if isinstance(path, str) else None


def todos_written(entry: dict[str, Any]) -> list[Todo]:
    """Return the to-do items of the last TodoWrite call on a row."""
    for block in reversed(content_blocks(entry)):
        given = block.get("input") if isinstance(block, dict) and block.get("name") == "TodoWrite" else None
        items = given.get("todos") if isinstance(given, dict) else None
        if isinstance(items, list):
            return [parse_todo(item) for item in items if isinstance(item, dict)]
    return []


def role_of(entry: Any) -> str | None:
    """Return the role of an entry's message, user or assistant; None where it has no content or another role."""
    message = entry.get("message") if isinstance(entry, dict) else None
    if not isinstance(message, dict) or "content" not in message:
        return None
    role = message.get("role")
    return role if role in ("user", "assistant") else None


def says_side_plainly(data: bytes) -> bool:
    """Return whether `isSidechain` on the line is a boolean."""
    if b'"isSidechain":true' in data:
        return True
    value = decode_exactly(data)
    return isinstance(value, dict) and isinstance(value.get("isSidechain"), bool)


def as_words(block: dict[str, Any]) -> list[dict[str, Any]]:
    """Convert a tool result without its call to plain blocks: a note about the call, then its text and images."""
    head = f"[Result of a tool call that is not in this transcript: {block.get('tool_use_id')}]"
    content = block.get("content")
    if isinstance(content, list):
        return [text_block(head), *(item for item in content if isinstance(item, dict))]
    return [text_block(f"{head}\n{content}" if isinstance(content, str) and content else head)]


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def missing_result(tool_use_id: str) -> dict[str, Any]:
    """Build a tool result for a call that has none; its text says so."""
    words = "[No result was recorded for this call: the session was interrupted.]"
    return {"tool_use_id": tool_use_id, "type": "tool_result", "content": words, "is_error": True}


def persisted_preview(content: str, path: str) -> str:
    """Build the text that replaces a long output in a message: the path of its file, and a preview."""
    return (
        f"<persisted-output>\nOutput too large ({len(content):,} characters). Full output saved to: {path}\n\n"
        f"Preview (first 2,000 characters):\n{content[:2000]}\n</persisted-output>"
    )


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


def fixed_text(data: bytes) -> bytes:
    """Repair JSON so that every version of Claude Code reads it. Sound text stays byte for byte.

    Invalid UTF-8, half surrogate pairs and NULs become U+FFFD, raw control characters become escapes, NaN and Infinity null.
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        data = data.decode("utf-8", "replace").encode()
    return _STRING_OR_WORD.sub(_fixed_token, data)


def _fixed_token(match: re.Match[bytes]) -> bytes:
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
