"""Our session stores: the exam for all of them, and what they promise beyond it."""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.store_kinds import (
    KEY,
    KINDS,
    LASTING,
    SESSION,
    SUBAGENT,
    Kind,
    loaded,
    row,
)

from recollect.errors import Refused
from recollect.testing.store_contract import CONTRACTS, check_contract


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Kind:
    return Kind(request.param, tmp_path / "store")


@pytest.fixture(params=LASTING)
def lasting(request: pytest.FixtureRequest, tmp_path: Path) -> Kind:
    return Kind(request.param, tmp_path / "store")


@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_exam(kind: Kind, contract: str) -> None:
    checked = asyncio.run(check_contract(contract, kind.maker(), reopen=kind.reopener()))
    assert checked or (kind.name == "memory" and contract == "reopened")


BAD_NAMES = [
    "",
    ".",
    "..",
    "../x",
    "/x",
    "x/y",
    "x\\y",
    "x\x00",
    "x\n",
    "C:x",
    "x.",
    "x ",
    "\ud800",
    "x" * 300,
    None,
    7,
]
BAD_SUBPATHS: list[Any] = [
    "", ".", "..", "../x", "x/../y", "x/..", "./x", "/x", "x/", "x//y", "x\\..\\y", "\\\\host\\x", "x\x00y", "C:x", "x/C:y",
    "x\u0085"[:-1] + "\x7f", "\udfff", "x" * 300, "/".join("x" * 40), "y/" * 600 + "x", "x.jsonl/y", 7, b"x",
]  # fmt: skip


BAD_KEYS: dict[str, list[Any]] = {
    "project_key": [{**KEY, "project_key": name} for name in BAD_NAMES],
    "session_id": [{**KEY, "session_id": name} for name in [*BAD_NAMES, "x.jsonl"]],
    "subpath": [{**KEY, "subpath": subpath} for subpath in BAD_SUBPATHS],
    "no key at all": [{}, "text", None, []],
}


@pytest.mark.parametrize("wrong", BAD_KEYS)
def test_keys_that_lead_elsewhere_are_refused_by_every_method(kind: Kind, wrong: str) -> None:
    async def use() -> None:
        store = kind.open()
        for key in BAD_KEYS[wrong]:
            calls: list[Coroutine[Any, Any, Any]] = [store.append(key, [row(1)]), store.load(key), store.delete(key)]
            if wrong != "subpath":
                calls.append(store.list_subkeys(key))
            if wrong == "project_key":
                calls += [store.list_sessions(key[wrong]), store.list_session_summaries(key[wrong])]
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
            assert [getattr(outcome, "slug", outcome) for outcome in outcomes] == ["bad-store-key"] * len(calls), ascii(
                key
            )

    asyncio.run(use())
    assert list(kind.place.parent.iterdir()) == []


NOT_JSON: dict[str, Any] = {
    "nan": row(1, x=math.nan),
    "infinity": row(1, x=-math.inf),
    "tuple": row(1, x=(1, 2)),
    "number as key": row(1, x={1: "one"}),
    "none as key": {"type": "x", None: 1},
    "bytes": row(1, x=b"bytes"),
    "set": row(1, x={1, 2}),
    "both halves of a pair": row(1, x="\ud83d\ude00"),
    "more digits than python reads": row(1, x=10**5000),
    "object": row(1, x=object()),
    "text": "text",
    "nothing": None,
    "list": ["list"],
    "number": 7,
}


@pytest.mark.parametrize("name", NOT_JSON)
def test_what_json_cannot_carry_is_refused_before_anything_is_stored(kind: Kind, name: str) -> None:
    async def use() -> None:
        store = kind.open()
        await store.append(KEY, [row(0)])
        with pytest.raises(Refused, match="entry 2 of the batch is not JSON data"):
            await store.append(KEY, [row(5), NOT_JSON[name], row(6)])
        assert await loaded(store) == [row(0)]

    asyncio.run(use())


def test_nesting_deeper_than_json_goes_is_refused(kind: Kind) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]

    async def use() -> None:
        with pytest.raises(Refused):
            await kind.open().append(KEY, [row(1, deep=deep)])

    asyncio.run(use())


def test_reading_creates_nothing(lasting: Kind) -> None:
    async def use() -> None:
        store = lasting.open()
        assert await store.load(KEY) is None
        assert await store.list_sessions("-p") == await store.list_session_summaries("-p") == []
        assert await store.list_subkeys({"project_key": "-p", "session_id": SESSION}) == []
        await store.delete(KEY)

    asyncio.run(use())
    assert list(lasting.place.parent.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_nobody_else_may_read_it(lasting: Kind) -> None:
    async def use() -> None:
        store = lasting.open(lasting.place / "deeper" / "store")
        await store.append(KEY, [row(1)])
        await store.append(SUBAGENT, [row(1), {"type": "agent_metadata", "agentType": "x"}])
        modes = {path: path.stat().st_mode & 0o777 for path in lasting.place.rglob("*")}
        # The parents of a place are made by mkdir's own rules, which follow the umask alone.
        del modes[lasting.place / "deeper"]
        assert {path.name: oct(mode) for path, mode in modes.items() if mode & 0o077} == {}
        assert len(modes) > 1 or lasting.name == "sqlite"

    old = os.umask(0)
    try:
        asyncio.run(use())
    finally:
        os.umask(old)


def test_a_cancelled_append_does_not_hold_up_the_others(lasting: Kind) -> None:
    async def use() -> None:
        store = lasting.open()
        tasks = [asyncio.create_task(store.append(KEY, [row(number)])) for number in range(40)]
        await asyncio.sleep(0)
        for task in tasks[5::3]:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        found = [entry["n"] for entry in await loaded(store) or []]
        kept = [number for number, outcome in enumerate(outcomes) if outcome is None]
        assert set(kept) <= set(found) and found == sorted(found)
        assert len(kept) < 40

    asyncio.run(use())


def test_one_store_serves_loops_in_several_threads(kind: Kind) -> None:
    store = kind.open()

    def loop(name: str) -> None:
        async def use() -> None:
            for number in range(20):
                await store.append(KEY, [{"type": name, "uuid": f"{name}{number}", "n": number}])
                await store.load(KEY)

        asyncio.run(use())

    async def use() -> None:
        await asyncio.gather(*(asyncio.to_thread(loop, name) for name in ("a", "b", "c")))
        found = await loaded(store) or []
        for name in ("a", "b", "c"):
            assert [entry["n"] for entry in found if entry["type"] == name] == list(range(20))

    asyncio.run(use())


def test_the_stores_need_nothing_of_the_sdk() -> None:
    names = ("memory", "folder", "sqlite", "protocol")
    imports = "; ".join(f"import recollect.stores.{name}" for name in names)
    script = f"import sys; sys.modules['claude_agent_sdk'] = None; {imports}; import recollect.testing.store_contract"
    subprocess.run([sys.executable, "-c", script], check=True)
