"""Lines of a call that lack its model: they belong to the call of the same message and request that has one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from .call_packs import MODEL
from .file_calls import joined_rows

M = TypeVar("M", str, int)


def names_of(keys: Iterable[tuple[str, str, M]], nameless: M) -> dict[tuple[str, str, M], tuple[str, str, M]]:
    """Keys without a model, each with the first key that has one; those of which no line names a model are left out."""
    keys = list(keys)
    pairs = {key[:2] for key in keys if key[2] == nameless}
    found: dict[tuple[str, str, M], tuple[str, str, M]] = {}
    for key in keys:
        if key[2] != nameless and key[:2] in pairs:
            found.setdefault((key[0], key[1], nameless), key)
    return found


def named(calls: dict[tuple[str, str, M], Any], nameless: M) -> dict[tuple[str, str, M], Any]:
    """Calls of one file, in order, by message, request and model: the same ones where there is nothing to join."""
    names = names_of(calls, nameless)
    if not names:
        return calls
    wanted = set(names.values())
    found: dict[tuple[str, str, M], Any] = {}
    for key, call in calls.items():
        name = names.get(key, key)
        if name not in wanted:
            found[key] = call
            continue
        before: Sequence[Any] | None = found.get(name)
        joined = list(call if before is None else joined_rows(tuple(before), tuple(call)))
        joined[MODEL] = calls[name][MODEL]
        found[name] = joined
    return found
