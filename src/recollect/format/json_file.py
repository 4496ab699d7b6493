"""Decode a small JSON file of another program. Damage of any kind is reported in the result, never raised.

msgspec is fast but refuses a BOM, lone surrogates and NaN, which other programs write and accept; for those the standard
library is used. Invalid UTF-8 is read as U+FFFD, as Claude Code does, and reported.

Every parser of such a file takes its fields by one rule (`Fields`): a field that is known *and* of the expected type becomes
an attribute; everything else (unknown fields, known fields of another type, nulls) stays in `rest`, so that nothing is lost.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final, TypeVar

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


S = TypeVar("S", bound=msgspec.Struct)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Fields:
    """A JSON object from which fields are taken one by one; `rest` holds the fields that were not taken."""

    __slots__ = ("rest",)

    def __init__(self, source: object) -> None:
        self.rest: dict[str, Any] = dict(source) if isinstance(source, Mapping) else {}

    def text(self, key: str) -> str | None:
        value = self.rest.get(key)
        if isinstance(value, str):
            del self.rest[key]
            return value
        return None

    def identifier(self, key: str) -> str | None:
        """Take a text that some versions of Claude Code write as a number (todo and task ids)."""
        value = self.rest.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            del self.rest[key]
            return str(value)
        return self.text(key)

    def whole(self, key: str) -> int | None:
        value = self.rest.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            del self.rest[key]
            return value
        return None

    def number(self, key: str) -> float | None:
        """Take an integer or a float. NaN, infinity and integers beyond the range of a float stay in `rest`."""
        number = _finite(self.rest.get(key))
        if number is not None:
            del self.rest[key]
        return number

    def flag(self, key: str) -> bool | None:
        value = self.rest.get(key)
        if isinstance(value, bool):
            del self.rest[key]
            return value
        return None

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of strings; a list with anything else in it stays in `rest`."""
        value = self.rest.get(key)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            del self.rest[key]
            return tuple(value)
        return ()

    def mapping(self, key: str) -> dict[str, Any]:
        value = self.rest.get(key)
        if isinstance(value, dict):
            del self.rest[key]
            return value
        return {}

    def items(self, key: str) -> list[Any]:
        value = self.rest.get(key)
        if isinstance(value, list):
            del self.rest[key]
            return value
        return []

    def moment_ms(self, key: str) -> datetime | None:
        """Take a time in milliseconds since 1970, one of the two forms of Claude Code."""
        value = self.rest.get(key)
        moment = moment_of_ms(value)
        if moment is not None and isinstance(value, int):
            del self.rest[key]  # floats stay in `rest` too, because a datetime may lose a fraction of a millisecond
        return moment

    def moment_iso(self, key: str) -> datetime | None:
        """Take a time as an ISO 8601 string; without a zone it is read as UTC, in which Claude Code writes."""
        moment = moment_of_iso(self.rest.get(key))
        if moment is not None:
            del self.rest[key]
        return moment

    def moment(self, key: str) -> datetime | None:
        """Take a time in either form: an ISO 8601 string, or milliseconds since 1970."""
        return self.moment_iso(key) if isinstance(self.rest.get(key), str) else self.moment_ms(key)

    def objects(self, key: str) -> dict[str, dict[str, Any]]:
        """Take the objects of a mapping; values that are not objects stay in `rest` under the same key."""
        mapping = self.mapping(key)
        strange = {name: value for name, value in mapping.items() if not isinstance(value, dict)}
        if strange:
            self.rest[key] = strange
        return {name: value for name, value in mapping.items() if isinstance(value, dict)}

    def build(self, kind: type[S], names: Mapping[str, str] | None = None, **given: Any) -> S:
        """Build a struct: take each of its fields that is not `given` by its type, and put what is left into `extra`.

        In JSON a field has its name in camel case (`session_id` is `sessionId`), or the one in `names`.
        """
        for field, key, take in _taken(kind):
            if field not in given:
                given[field] = take(self, names.get(field, key) if names else key)
        return kind(**given, extra=self.rest)


#: How a field is taken, by the type with which its struct declares it.
_TAKE: Final[dict[str, Callable[[Fields, str], Any]]] = {
    "str | None": Fields.text, "int | None": Fields.whole, "float | None": Fields.number, "bool | None": Fields.flag,
    "tuple[str, ...]": Fields.texts, "dict[str, Any]": Fields.mapping, "datetime | None": Fields.moment,
}  # fmt: skip


@cache
def _taken(kind: type[msgspec.Struct]) -> list[tuple[str, str, Callable[[Fields, str], Any]]]:
    found = []
    for field, declared in kind.__annotations__.items():
        if declared in _TAKE and field not in ("extra", "problem"):
            first, *others = field.split("_")
            take = Fields.identifier if field == "id" else _TAKE[declared]
            found.append((field, first + "".join(map(str.capitalize, others)), take))
    return found


def read_struct(data: bytes, kind: type[S], names: Mapping[str, str] | None = None) -> S:
    """Parse a file that is one JSON object into a struct; a value of another type is kept in `extra`."""
    file = decode_json_file(data, expect=dict)
    if not isinstance(file.value, dict):
        return kind(extra={} if file.value is None else {"value": file.value}, problem=file.problem)
    return Fields(file.value).build(kind, names, problem=file.problem)


def _finite(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def moment_of_ms(value: object) -> datetime | None:
    number = _finite(value)
    try:
        return None if number is None else EPOCH + timedelta(milliseconds=number)
    except OverflowError:
        return None


def moment_of_iso(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
