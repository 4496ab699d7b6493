"""Convert plain data of any shape to a struct, for lines that a typed decoder refuses.

The typed decoders of this package refuse a line where any field has an unexpected type. Such a line is decoded into plain data
(`entries.decode_loosely`), and the fields that fit are copied here: one mechanism for every struct, so that a field is listed
once, in the struct itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import Raw, Struct, inspect

from .entries import Entry, decode_loosely

S = TypeVar("S", bound=Struct)
Whole = Callable[[Any, int | None], int | None]
"""Converts a value to an integer not above the given maximum; None where the value is not a whole number."""
_UNFIT: Final = object()


def fitted(value: Any, kind: type[S], whole: Whole | None = None) -> S | None:
    """Build a struct of this kind from the members of a value that fit; None where the value is not an object.

    A member of another type is left out, and a list item of another type becomes an empty one.
    """
    found = _fit(value, _type_of(kind), whole)
    return None if found is _UNFIT else cast("S", found)


def view_of(entry: Entry, kind: type[S]) -> S:
    """Convert an entry to another struct: fields of the same name are copied, and raw JSON is decoded where needed."""
    values: dict[str, Any] = {}
    for field in _type_of(kind).fields:
        value = getattr(entry, field.name, _UNFIT)
        if isinstance(value, Raw) and not isinstance(field.type, inspect.RawType):
            value = _fit(decode_loosely(value), field.type, None)
        if value is not _UNFIT:
            values[field.name] = value
    return kind(**values)


@cache
def _type_of(kind: type[Struct]) -> inspect.StructType:
    return cast("inspect.StructType", inspect.type_info(kind))


def _fit(value: Any, kind: inspect.Type, whole: Whole | None) -> Any:
    """Return the value converted to this type; `_UNFIT` where it is of another type."""
    match kind:
        case inspect.UnionType():
            found = (_fit(value, inner, whole) for inner in kind.types)
            return next((item for item in found if item is not _UNFIT), _UNFIT)
        case inspect.StructType():
            return _fit_struct(value, kind, whole) if isinstance(value, dict) else _UNFIT
        case inspect.ListType():
            return [_fit_item(item, kind.item_type, whole) for item in value] if isinstance(value, list) else _UNFIT
        case inspect.IntType() if whole is not None and value is not None:
            number = whole(value, kind.le)
            return _UNFIT if number is None else number
        case inspect.RawType():
            return raw_of(value)
    return value if isinstance(value, _PLAIN.get(type(kind), ())) else _UNFIT


_PLAIN: Final[dict[type, type | tuple[type, ...]]] = {
    inspect.StrType: str, inspect.BoolType: bool, inspect.NoneType: type(None), inspect.DictType: dict,
    inspect.AnyType: object,
}  # fmt: skip


def _fit_struct(value: dict[str, Any], kind: inspect.StructType, whole: Whole | None) -> Struct:
    values = {}
    for field in kind.fields:
        if field.name in value and (found := _fit(value[field.name], field.type, whole)) is not _UNFIT:
            values[field.name] = found
    return kind.cls(**values)


def _fit_item(item: Any, kind: inspect.Type, whole: Whole | None) -> Any:
    found = _fit(item, kind, whole)
    if found is _UNFIT:
        return kind.cls() if isinstance(kind, inspect.StructType) else None
    return found


def raw_of(value: Any) -> Raw:
    """Return the JSON of a value; empty where the value is None or cannot be encoded."""
    if value is None:
        return Raw()
    try:
        return Raw(msgspec.json.encode(value))
    except (UnicodeEncodeError, RecursionError, TypeError, ValueError):
        return Raw()
