"""Check the contracts of a session store about appending and loading."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

from ..stores.protocol import SessionKey
from .store_trial import Trial, contract, expect, expect_entries, key, row


@contract()
async def order(trial: Trial) -> None:
    """Entries come back in the order in which they were appended, over all batches."""
    store = await trial.fresh()
    await store.append(key(), [row(3), row(1)])
    await store.append(key(), [row(9)])
    await store.append(key(), [row(2), row(8), row(5)])
    await expect_entries(store, key(), [row(number) for number in (3, 1, 9, 2, 8, 5)])


@contract()
async def never_written(trial: Trial) -> None:
    """What was never written loads as None: sessions, subpaths, projects; and loading does not create it."""
    store = await trial.fresh()
    await expect_entries(store, key(), None)
    await store.append(key(), [row(1)])
    for place in (key("other"), key(subpath="below"), key(project_key="elsewhere"), key("other", "below")):
        await expect_entries(store, place, None)
        await expect_entries(store, place, None)


@contract()
async def empty_batch(trial: Trial) -> None:
    """An empty batch changes nothing."""
    store = await trial.fresh()
    await store.append(key(), [])
    expect(not await store.load(key()), "an empty batch became a session")
    await store.append(key(), [row(1)])
    await store.append(key(), [])
    await expect_entries(store, key(), [row(1)])


@contract()
async def json_edges(trial: Trial) -> None:
    """Whatever JSON can say comes back equal, and of the same kind."""
    store = await trial.fresh()
    deep: Any = "the bottom"
    for _level in range(60):
        deep = {"in": [deep]}
    texts = [
        "", "\x00", "\x1f\x7f\x85\u2028\u2029", "\r\n", "\ufeff", "\\u0041 \\n", '"', "Grüße, 世界 🌍", "e\u0301 é",
        "\ud83d alone", "alone \ude00", "\ufffd", "\uffff", "'; DROP TABLE entries; --", "%s {0} $HOME",
    ]  # fmt: skip
    numbers = [0, -1, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 2**70, 10**400, 0.1, 1.0, -0.0, 1e-7, 1e308, 5e-324]
    entries: list[dict[str, Any]] = [
        {"type": "x", "texts": texts, **{f"key {text}": text for text in texts}},
        {"type": "x", "numbers": numbers},
        {"type": "x", "kinds": [None, True, False, [], {}, [[]], 0, 0.0, "", "null", "0"], "": {"": ""}},
        {"type": "x", "deep": deep},
        {
            "type": "unheard-of",
            "uuid": "\ud800",
            "subpath": "..",
            "session_id": "?",
            "timestamp": 7,
            "message": "no object",
        },
    ]
    await store.append(key(), entries)
    await expect_entries(store, key(), entries)


@contract()
async def large_entries(trial: Trial) -> None:
    """An entry of some megabytes, and a batch of a thousand, come back whole."""
    store = await trial.fresh()
    large = row(0, text="0123456789 äöü 🌍\n" * 150_000)
    many = [row(number) for number in range(1, 1001)]
    await store.append(key(), [large])
    await store.append(key(), many)
    await expect_entries(store, key(), [large, *many])


@contract()
async def own_copy(trial: Trial) -> None:
    """What a caller does with its own objects, before or after, does not change what is stored."""
    store = await trial.fresh()
    given = [row(1, list=[1], dict={"a": 1})]
    before = copy.deepcopy(given)
    await store.append(key(), given)
    given[0]["list"].append(2)
    given[0]["dict"]["a"] = 2
    given.append(row(2))
    await expect_entries(store, key(), before)
    loaded: Any = await store.load(key())
    loaded[0]["list"].append(3)
    loaded.clear()
    await expect_entries(store, key(), before)


@contract()
async def apart(trial: Trial) -> None:
    """Every key has its own transcript, however much the names look alike."""
    store = await trial.fresh()
    places = [
        key("b-c", project_key="a"), key("c", project_key="a-b"), key("s"), key("s1"), key("s_"), key("s%"),
        key("s", "x"), key("s", "x/y"), key("s", "y"), key("s", "x-y"), key("s", "s"), key("s1", "x"), key("s", "x/y/z"),
        key("s", "x.y"),
        key("s", "subagents/agent-1"), key("s", "subagents/agent-10"), key("s", "subagents/agent-1.meta"),
        key("s", project_key="projec"), key("s", project_key="project1"), key("ß"), key("ss"),
        key("s", "x.jsonl"), key("s", "main"), key("s", "index"), key("s", "ünder wegs"),
    ]  # fmt: skip
    for number, place in enumerate(places):
        await store.append(place, [row(number)])
    for number, place in enumerate(places):
        await store.append(place, [row(number + 1000)])
    for number, place in enumerate(places):
        await expect_entries(store, place, [row(number), row(number + 1000)])


@contract()
async def same_time(trial: Trial) -> None:
    """Tasks that append at the same time lose nothing, and each one's entries keep their order."""
    store = await trial.fresh()

    async def task(name: str, place: SessionKey) -> None:
        for number in range(25):
            await store.append(place, [{"type": name, "uuid": f"{name}-{number}", "n": number}])

    await asyncio.gather(task("one", key()), task("two", key()), task("three", key(subpath="below")))
    both: Any = await store.load(key()) or []
    expect(len(both) == 50, f"{len(both)} of 50 entries are there")
    for name in ("one", "two"):
        numbers = [entry["n"] for entry in both if entry["type"] == name]
        expect(numbers == list(range(25)), f"the entries of task {name} came back as {numbers}")
    below: Any = await store.load(key(subpath="below")) or []
    expect([entry["n"] for entry in below] == list(range(25)), "the transcript below the session is not whole")


@contract()
async def order_of_calls(trial: Trial) -> None:
    """Calls made one after the other without waiting are kept in the order in which they were made."""
    store = await trial.fresh()
    await asyncio.gather(*(store.append(key(), [row(number), row(number + 100)]) for number in range(30)))
    await expect_entries(store, key(), [row(n) for number in range(30) for n in (number, number + 100)])


@contract()
async def sent_again(trial: Trial) -> None:
    """A batch that comes again (the SDK repeats after a fault) does not double rows with an id; state lines are news."""
    store = await trial.fresh()
    title = {"type": "custom-title", "customTitle": "Again"}
    await store.append(key(), [row(1), title, row(2)])
    await store.append(key(), [row(1), title, row(2), row(3)])
    await expect_entries(store, key(), [row(1), title, row(2), title, row(3)])
    await store.append(key(), [row(1, changed=True)])
    await expect_entries(store, key(), [row(1), title, row(2), title, row(3), row(1, changed=True)])
    await store.append(key(subpath="below"), [row(1)])
    await expect_entries(store, key(subpath="below"), [row(1)])


@contract()
async def bad_keys(trial: Trial) -> None:
    """A key that would lead elsewhere as a path is refused, or is a name like any other: nobody else's data changes."""
    store = await trial.fresh()
    neighbours = [key("victim"), key("session", "below"), key("victim", project_key="other")]
    for number, place in enumerate(neighbours):
        await store.append(place, [row(number)])
    tricks = [
        key("../victim"), key(".."), key("session/../victim"), key("/victim"), key("victim\x00x"), key("victim.jsonl/x"),
        key("session", "../../victim"), key("session", "../victim"), key("session", "x/../below"), key("session", "/below"),
        key("session", "./below"), key("session", "x//below"), key("session", "below\x00"), key("session", "..\\victim"),
        key("victim", project_key="../other"), key("victim", project_key="project/../other"), key("victim", project_key=".."),
        key("project/victim", project_key=""), key("session", "C:below"), key("session", "\ud800"),
    ]  # fmt: skip
    for trick in tricks:
        try:
            await store.append(trick, [row(99)])
        except Exception:
            continue  # refused
        await expect_entries(store, trick, [row(99)])
    for number, place in enumerate(neighbours):
        await expect_entries(store, place, [row(number)])


@contract("reopen")
async def reopened(trial: Trial) -> None:
    """What was appended is there for the next store object over the same data."""
    store = await trial.fresh()
    await store.append(key(), [row(1), row(2)])
    await store.append(key(subpath="a/b"), [row(3)])
    again = await trial.opened_again(store)
    await expect_entries(again, key(), [row(1), row(2)])
    await expect_entries(again, key(subpath="a/b"), [row(3)])
    await again.append(key(), [row(2), row(4)])
    await expect_entries(store, key(), [row(1), row(2), row(4)])
