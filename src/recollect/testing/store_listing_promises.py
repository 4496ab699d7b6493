"""Check the contracts of a session store about lists, summaries and deleting."""

from __future__ import annotations

import asyncio
import json

from .store_trial import Trial, contract, expect, expect_entries, has_method, key, row, same


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
