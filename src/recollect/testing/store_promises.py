"""Check the contracts of a session store: appending and loading, lists, summaries and deleting."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import math
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from ..stores.protocol import SessionKey, SessionStore

# Define trials and contracts for the checks of session stores, and compare JSON values.

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


# Check the contracts of a session store about lists, summaries and deleting.


@contract("list_sessions")
async def list_sessions(trial: Trial) -> None:
    """Sessions are listed by project, once, with the time of the last append; what is below them is not listed."""
    store = await trial.fresh()
    await store.append(key("a"), [row(1)])
    await store.append(key("b"), [row(1)])
    await store.append(key("b", "subagents/agent-1"), [row(1)])
    await store.append(key("only-below", "subagents/agent-1"), [row(1)])
    await store.append(key("c", project_key="other"), [row(1)])
    first = {found["session_id"]: found["mtime"] for found in await store.list_sessions("project")}
    expect(sorted(first) == ["a", "b"], f"listed were {sorted(first)}")
    expect(len(await store.list_sessions("project")) == 2, "a session is listed twice")
    expect(await store.list_sessions("never-written") == [], "a project without sessions has some")
    expect(all(mtime > 10**12 for mtime in first.values()), f"times are milliseconds since 1970, not {first}")
    await asyncio.sleep(0.03)
    await store.append(key("a"), [row(2)])
    second = {found["session_id"]: found["mtime"] for found in await store.list_sessions("project")}
    expect(
        second["a"] > second["b"] == first["b"], f"the session written last is not the newest: {first}, then {second}"
    )


@contract("list_subkeys")
async def list_subkeys(trial: Trial) -> None:
    """The subpaths of a session are listed as they were given, and no others."""
    store = await trial.fresh()
    subpaths = ["subagents/agent-1", "subagents/agent-10", "subagents/deep/er/agent-2", "x", "x.jsonl", "x/y", "ünder"]
    await store.append(key(), [row(1)])
    expect(await store.list_subkeys(key()) == [], "a session with nothing below it has subpaths")
    for subpath in subpaths:
        await store.append(key(subpath=subpath), [row(1)])
    await store.append(key("session2", "other"), [row(1)])
    found = sorted(await store.list_subkeys(key()))
    expect(found == sorted(subpaths), f"listed were {found}")
    expect(await store.list_subkeys(key("never-written")) == [], "a session never written has subpaths")


@contract("list_session_summaries")
async def summaries(trial: Trial) -> None:
    """Every session has one summary that follows its appends, and nothing below the session enters into it."""
    store = await trial.fresh()
    prompt = {"type": "user", "uuid": "u", "timestamp": "2026-01-02T03:04:05.678Z", "cwd": "/p"}
    await store.append(key(), [{**prompt, "message": {"content": "The first prompt"}}])
    await store.append(key(), [{"type": "custom-title", "customTitle": "One"}])
    (before,) = await store.list_session_summaries("project")
    await store.append(key(subpath="below"), [{"type": "custom-title", "customTitle": "Below"}])
    (after,) = await store.list_session_summaries("project")
    expect(before["session_id"] == "session" and before["mtime"] > 10**12, f"not a summary: {before}")
    expect(same(before["data"], after["data"]), "a transcript below the session changed its summary")
    expect(json.loads(json.dumps(before["data"])) == before["data"], "a summary is JSON data")
    await store.append(key(), [{"type": "custom-title", "customTitle": "Two"}])
    (last,) = await store.list_session_summaries("project")
    expect("Two" in json.dumps(last["data"]), "a new title is not in the summary")
    expect(await store.list_session_summaries("never-written") == [], "a project without sessions has summaries")


@contract("list_session_summaries", "list_sessions")
async def summaries_are_fresh(trial: Trial) -> None:
    """A summary is never older than the session, or the SDK reads the whole session instead."""
    store = await trial.fresh()
    for number in range(5):
        await store.append(key(), [row(number)])
        (summary,) = await store.list_session_summaries("project")
        (listed,) = await store.list_sessions("project")
        expect(summary["mtime"] >= listed["mtime"], f"summary {summary['mtime']}, session {listed['mtime']}")


@contract("delete")
async def delete_session(trial: Trial) -> None:
    """A session is deleted with all that is below it, and nothing else is; then its name is free again."""
    store = await trial.fresh()
    gone = [key(), key(subpath="subagents/agent-1"), key(subpath="x/y/z"), key(subpath="x")]
    kept = [
        key("session2"),
        key("sessio"),
        key("session2", "x"),
        key(project_key="other"),
        key("session", "x", "other"),
    ]
    for place in (*gone, *kept):
        await store.append(place, [row(1)])
    await store.delete(key())
    for place in gone:
        await expect_entries(store, place, None)
    for place in kept:
        await expect_entries(store, place, [row(1)])
    await store.delete(key())
    await store.delete(key("never-written"))
    await store.append(key(), [row(1), row(2)])
    await expect_entries(store, key(), [row(1), row(2)])
    await expect_entries(store, key(subpath="x"), None)


@contract("delete")
async def delete_below(trial: Trial) -> None:
    """With a subpath, that one transcript is deleted: not the session, nor what is beside or below it."""
    store = await trial.fresh()
    for place in (key(), key(subpath="x"), key(subpath="x/y"), key(subpath="x1")):
        await store.append(place, [row(1)])
    await store.delete(key(subpath="x"))
    await expect_entries(store, key(subpath="x"), None)
    for place in (key(), key(subpath="x/y"), key(subpath="x1")):
        await expect_entries(store, place, [row(1)])


@contract("delete", "list_sessions", "list_subkeys")
async def delete_is_seen(trial: Trial) -> None:
    """What was deleted is not listed any more."""
    store = await trial.fresh()
    for place in (key("a"), key("a", "x"), key("b"), key("b", "x"), key("b", "y")):
        await store.append(place, [row(1)])
    await store.delete(key("a"))
    await store.delete(key("b", "x"))
    expect(
        [found["session_id"] for found in await store.list_sessions("project")] == ["b"], "a deleted session is listed"
    )
    expect(await store.list_subkeys(key("a")) == [], "something is left below a deleted session")
    expect(await store.list_subkeys(key("b")) == ["y"], "a deleted subpath is listed, or another one is not")
    if await has_method(trial, "list_session_summaries"):
        summaries = await store.list_session_summaries("project")
        expect([found["session_id"] for found in summaries] == ["b"], "a deleted session has a summary")
