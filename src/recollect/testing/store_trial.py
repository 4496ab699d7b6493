"""Define trials and contracts for the checks of session stores, and compare JSON values."""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from ..stores.protocol import SessionKey, SessionStore

Make = Callable[[], SessionStore | Awaitable[SessionStore]]
Reopen = Callable[[SessionStore], SessionStore | Awaitable[SessionStore]]


class ContractBroken(AssertionError):
    """A store breaks a contract; the message says which and how."""


@dataclass(frozen=True)
class Trial:
    """Provides a check with empty stores, and a way to open one again."""

    make: Make
    reopen: Reopen | None = None

    async def fresh(self) -> SessionStore:
        made = self.make()
        return await made if inspect.isawaitable(made) else made

    async def opened_again(self, store: SessionStore) -> SessionStore:
        if self.reopen is None:
            raise ContractBroken("this contract needs `reopen`")
        made = self.reopen(store)
        return await made if inspect.isawaitable(made) else made


Check = Callable[[Trial], Coroutine[Any, Any, None]]


@dataclass(frozen=True)
class Contract:
    name: str
    promise: str
    needs: frozenset[str]
    """Methods beyond `append` and `load`, and `reopen`, that the check needs."""
    check: Check


CONTRACTS: dict[str, Contract] = {}


def contract(*needs: str) -> Callable[[Check], Check]:
    """Register a check as a contract under its own name; its docstring is the promise."""

    def enter(check: Check) -> Check:
        name = check.__name__.replace("_", "-")
        CONTRACTS[name] = Contract(name, inspect.getdoc(check) or name, frozenset(needs), check)
        return check

    return enter


async def has_method(trial: Trial, method: str) -> bool:
    """Return whether a store has an optional method, which may be missing or raise NotImplementedError."""
    store = await trial.fresh()
    found = getattr(store, method, None)
    if found is None:
        return False
    try:
        await found("nothing" if method.startswith("list_session") else key("nothing"))
    except NotImplementedError:
        return False
    except Exception:
        return True  # there, but broken: a contract will report how
    return True


def key(session_id: str = "session", subpath: str | None = None, project_key: str = "project") -> SessionKey:
    made: SessionKey = {"project_key": project_key, "session_id": session_id}
    if subpath is not None:
        made["subpath"] = subpath
    return made


def row(number: int, **more: Any) -> dict[str, Any]:
    """Make an entry with an id, as most entries have."""
    return {"type": "user", "uuid": f"row-{number}", "n": number, **more}


def expect(held: bool, what: str) -> None:
    if not held:
        raise ContractBroken(what)


async def expect_entries(store: SessionStore, place: SessionKey, entries: list[dict[str, Any]] | None) -> None:
    loaded = await store.load(place)
    if not same(loaded, entries):
        raise ContractBroken(f"load({place}) gave {_shown(loaded)}\n  instead of {_shown(entries)}")


def same(one: Any, other: Any) -> bool:
    """Compare JSON values: 1, 1.0 and true are three different values; the order of keys does not matter."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    return type(one) is type(other) and bool(one == other)


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 400 else f"{text[:200]} … {text[-200:]}"
