"""The exam itself: it lets good stores pass, finds every kind of bad one, and says what is wrong."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from recollect.stores.memory import MemorySessionStore
from recollect.stores.protocol import SessionKey
from recollect.testing.store_contract import CONTRACTS, ContractBroken, run_store_contract


class Minimal:
    """A good store of the two methods that the protocol asks for."""

    def __init__(self) -> None:
        self._inner = MemorySessionStore()

    async def append(self, key: SessionKey, entries: Any) -> None:
        await self._inner.append(key, entries)

    async def load(self, key: SessionKey) -> Any:
        return await self._inner.load(key)


class Backwards(MemorySessionStore):
    async def append(self, key: SessionKey, entries: Any) -> None:
        await super().append(key, list(reversed(entries)))


class Forgetful(MemorySessionStore):
    """Keeps the first five hundred of a batch."""

    async def append(self, key: SessionKey, entries: Any) -> None:
        await super().append(key, entries[:500])


class Shallow(MemorySessionStore):
    """Hands out what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: dict[str, list[Any]] = {}

    async def append(self, key: SessionKey, entries: Any) -> None:
        await super().append(key, entries)
        self.given.setdefault(str(key), []).extend(entries)

    async def load(self, key: SessionKey) -> Any:
        return self.given.get(str(key))


class Flat(MemorySessionStore):
    """Takes the last name of a subpath for the whole of it."""

    def flat(self, key: SessionKey) -> SessionKey:
        return {**key, "subpath": key["subpath"].split("/")[-1]} if "subpath" in key else key

    async def append(self, key: SessionKey, entries: Any) -> None:
        await super().append(self.flat(key), entries)

    async def load(self, key: SessionKey) -> Any:
        return await super().load(self.flat(key))


class Racing(MemorySessionStore):
    """Reads, waits, and writes back what it read."""

    async def append(self, key: SessionKey, entries: Any) -> None:
        before = await self.load(key) or []
        await asyncio.sleep(0)
        await self.delete(key)
        await super().append(key, [*before, *entries])


class Overtaking(MemorySessionStore):
    async def append(self, key: SessionKey, entries: Any) -> None:
        await asyncio.sleep(0.002 if entries and entries[0].get("n") == 3 else 0)
        await super().append(key, entries)


class Echoing(MemorySessionStore):
    """Stores a row again when it comes again."""

    def __init__(self) -> None:
        super().__init__()
        self.serial = 0

    async def append(self, key: SessionKey, entries: Any) -> None:
        self.serial += 1
        await super().append(key, [{**entry, "serial": self.serial} for entry in entries])

    async def load(self, key: SessionKey) -> Any:
        found: Any = await super().load(key)
        return found and [{name: value for name, value in entry.items() if name != "serial"} for entry in found]


class Resolving(MemorySessionStore):
    """Follows dots in names."""

    async def append(self, key: SessionKey, entries: Any) -> None:
        await super().append({**key, "session_id": key["session_id"].split("/")[-1]}, entries)


class Seconds(MemorySessionStore):
    async def list_sessions(self, project_key: str) -> Any:
        return [{**found, "mtime": found["mtime"] // 1000} for found in await super().list_sessions(project_key)]


class Stale(MemorySessionStore):
    async def list_session_summaries(self, project_key: str) -> Any:
        return [{**found, "mtime": found["mtime"] - 1} for found in await super().list_session_summaries(project_key)]


class Mixing(MemorySessionStore):
    """Lets subagents change the summary of the session."""

    async def append(self, key: SessionKey, entries: Any) -> None:
        await super().append(key, entries)
        if "subpath" in key:
            for session in self._transcripts.values():
                session.summary["custom_title"] = "below"


class Orphaning(MemorySessionStore):
    async def delete(self, key: SessionKey) -> None:
        self._transcripts = {
            place: kept
            for place, kept in self._transcripts.items()
            if (place.project_key, place.session_id, place.subpath_text)
            != (key["project_key"], key["session_id"], key.get("subpath", ""))
        }


class Sweeping(MemorySessionStore):
    """Deletes by how names begin."""

    async def delete(self, key: SessionKey) -> None:
        name = "/".join((key["project_key"], key["session_id"], key.get("subpath", ""))).rstrip("/")
        self._transcripts = {
            place: kept
            for place, kept in self._transcripts.items()
            if not "/".join((place.project_key, place.session_id, place.subpath_text)).startswith(name)
        }


class Grave(MemorySessionStore):
    """Cannot delete what was never there."""

    async def delete(self, key: SessionKey) -> None:
        if await self.load(key) is None:
            raise KeyError(key["session_id"])
        await super().delete(key)


BAD: list[tuple[type[MemorySessionStore], set[str]]] = [
    (Backwards, {"order", "large-entries", "order-of-calls"}),
    (Forgetful, {"large-entries"}),
    (Shallow, {"own-copy"}),
    (Flat, {"apart", "list-subkeys"}),
    (Racing, {"same-time", "order-of-calls"}),
    (Overtaking, {"order-of-calls"}),
    (Echoing, {"sent-again"}),
    (Resolving, {"bad-keys"}),
    (Seconds, {"list-sessions"}),
    (Stale, {"summaries-are-fresh"}),
    (Mixing, {"summaries"}),
    (Orphaning, {"delete-session", "delete-is-seen"}),
    (Sweeping, {"delete-session", "delete-below"}),
    (Grave, {"delete-session"}),
]


@pytest.mark.parametrize(("store", "contracts"), BAD, ids=lambda value: getattr(value, "__name__", ""))
def test_bad_stores_are_found(store: type[MemorySessionStore], contracts: set[str]) -> None:
    with pytest.raises(ContractBroken) as found:
        asyncio.run(run_store_contract(store))
    broken = {line.split(":")[0] for line in str(found.value).splitlines() if line.split(":")[0] in CONTRACTS}
    assert contracts <= broken


def test_a_store_of_two_methods_passes_what_it_can() -> None:
    checked = asyncio.run(run_store_contract(Minimal))  # type: ignore[arg-type]
    left_out = {name for name, was_checked in checked.items() if not was_checked}
    assert left_out == {name for name, contract in CONTRACTS.items() if contract.needs}
    assert len(checked) - len(left_out) >= 11


def test_contracts_can_be_skipped_by_name_and_only_by_their_names() -> None:
    checked = asyncio.run(run_store_contract(Echoing, skip=["sent-again"]))
    assert checked["sent-again"] is False and checked["order"] is True
    with pytest.raises(ValueError, match="no such contract: nonsense"):
        asyncio.run(run_store_contract(MemorySessionStore, skip=["nonsense"]))


def test_stores_may_be_made_asynchronously() -> None:
    async def make() -> MemorySessionStore:
        return MemorySessionStore()

    assert asyncio.run(run_store_contract(make))["order"]
