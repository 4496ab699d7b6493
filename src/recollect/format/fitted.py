"""Read plain data of any shape into a struct: the patient way, for lines that a typed decoder refuses.

The typed decoders of this package refuse a line where any field has an unexpected type. Such a line is decoded into plain data
(`entries.decode_loosely`), and what fits is taken from it here: one mechanism for every struct, so that a field is listed once,
in the struct itself.
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
"""Makes a whole number of a value that may be none, given the largest that is allowed."""
_UNFIT: Final = object()


def fitted(value: Any, kind: type[S], whole: Whole | None = None) -> S | None:
    """Make a struct of this kind of what fits in a value; None where that is no object.

    A field of another type is left out, and an item of a list that fits nowhere becomes an empty one.
    """
    found = _fit(value, _type_of(kind), whole)
    return None if found is _UNFIT else cast("S", found)


def view_of(entry: Entry, kind: type[S]) -> S:
    """Make another view of an entry: fields of the same name are taken over, and what an entry has as raw JSON is read."""
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
    """The value as this type has it; `_UNFIT` where it is of another."""
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
    """The JSON of a value; empty where there is none, or none can be written."""
    if value is None:
        return Raw()
    try:
        return Raw(msgspec.json.encode(value))
    except (UnicodeEncodeError, RecursionError, TypeError, ValueError):
        return Raw()
