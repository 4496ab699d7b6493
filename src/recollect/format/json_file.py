"""Decode a small JSON file of another program. Damage of any kind is reported in the result, never raised.

msgspec is fast but refuses a BOM, lone surrogates and NaN, which other programs write and accept; for those the standard
library is used. Invalid UTF-8 is read as U+FFFD, as Claude Code does, and reported.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

BOM = b"\xef\xbb\xbf"


class JsonFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a JSON file. `problem` describes what is wrong; `value` is then None or what could be decoded."""

    value: Any = None
    problem: str | None = None

    @property
    def mapping(self) -> dict[str, Any]:
        """The top-level object, or an empty one."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list[Any]:
        """The top-level list, or an empty one."""
        return self.value if isinstance(self.value, list) else []


def decode_json_file(data: bytes, *, expect: type[dict[Any, Any]] | type[list[Any]] | None = None) -> JsonFile:
    """Decode `data`. With `expect`, a value of another type than an object (dict) or a list is a problem, but is kept."""
    if not data.strip(b"\x00 \t\r\n" + BOM):
        return JsonFile(problem="the file is empty" if not data else "the file holds only blanks or NUL bytes")
    try:
        value = msgspec.json.decode(data)
        problem = None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value, problem = _decode_leniently(data.removeprefix(BOM))
    if problem is None and expect is not None and not isinstance(value, expect):
        wanted = "an object" if expect is dict else "a list"
        problem = f"expected {wanted}, found {kind_of(value)}"
    return JsonFile(value=value, problem=problem)


def _decode_leniently(data: bytes) -> tuple[Any, str | None]:
    problem = None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        problem = f"invalid UTF-8 at byte {error.start}"
    try:
        return json.loads(text), problem
    except RecursionError:
        return None, "nested too deeply"
    except ValueError as error:  # JSONDecodeError, and integers of more digits than Python converts
        place = f" at character {error.pos}" if isinstance(error, json.JSONDecodeError) else ""
        return None, f"not JSON{place}"


def kind_of(value: object) -> str:
    """Return the JSON name of a value's type, with its article."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case Mapping():
            return "an object"
        case _:
            return f"a {type(value).__name__}"
