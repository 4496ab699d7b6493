"""Our session stores against the official SDK: its conformance suite, its fold of summaries, its types, its importer."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contracts.store_kinds import KINDS, Kind

from recollect.stores.folder import FolderSessionStore
from recollect.stores.memory import MemorySessionStore
from recollect.stores.sqlite import SqliteSessionStore
from recollect.stores.summary_fold import fold
from recollect.testing import sample_session
from recollect.testing.store_contract import CONTRACTS, ContractBroken, check_contract

if TYPE_CHECKING:
    from claude_agent_sdk import SessionStore

    # Our stores are what the SDK's own types ask for: a type checker would say so here if not.
    FITTING: list[SessionStore] = [MemorySessionStore(), FolderSessionStore("x"), SqliteSessionStore("x")]

sdk: Any = pytest.importorskip("claude_agent_sdk", reason="the official SDK is not installed")
pytestmark = pytest.mark.compat


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Kind:
    return Kind(request.param, tmp_path / "store")


def test_the_conformance_suite_of_the_sdk(kind: Kind) -> None:
    from claude_agent_sdk.testing import run_session_store_conformance

    make: Any = kind.maker()
    asyncio.run(run_session_store_conformance(make))


def test_our_exam_on_the_sdks_own_store() -> None:
    """It is a sketch for tests, as it says itself: these are the contracts that it does not keep."""

    async def broken() -> set[str]:
        found = set()
        for name in CONTRACTS:
            try:
                await check_contract(name, sdk.InMemorySessionStore)
            except ContractBroken:
                found.add(name)
        return found

    assert asyncio.run(broken()) == {"own-copy", "sent-again", "bad-keys"}


PROMPTS = st.sampled_from(
    [
        "Plain words", "  two\nlines ", "", " \n ", "x" * 199, "y" * 200, "z" * 201, "a " * 150, "<tick>", "<goal>do", "<tickle>",
        "<local-command-stdout>out", "a <tick>", "[Request interrupted by user]", "[Request interrupted by user for tool use] x",
        "[Request interrupted by user", "<ide_opened_file>a\nb</ide_opened_file>", "<ide_opened_file>a</ide_opened_file> more",
        "<ide_selection>s</ide_selection>\n", "<command-name>/clear</command-name>", "<command-name></command-name>",
        "see <command-name>/x</command-name> <command-name>/y</command-name>", "<session-start-hook>", "Grüße 🌍 \u2028",
    ]
)  # fmt: skip
BLOCKS = st.one_of(
    PROMPTS.map(lambda text: {"type": "text", "text": text}),
    st.sampled_from(
        [{"type": "tool_result", "content": "x"}, {"type": "image"}, {"type": "text", "text": 7}, "no block", None]
    ),
)
CONTENTS = st.one_of(PROMPTS, st.lists(BLOCKS, max_size=3), st.none(), st.just(7))
WORDS = st.sampled_from(["", "one", "two", None, 7])
TIMES = st.sampled_from(["2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05+02:00", "no time", "", None, 7])
ENTRIES = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "tag", "custom-title", "summary"])},
    optional={
        "message": st.one_of(st.fixed_dictionaries({}, optional={"content": CONTENTS}), st.just("text"), st.none()),
        "timestamp": TIMES,
        "isMeta": st.sampled_from([True, False, None, 1]),
        "isCompactSummary": st.sampled_from([True, False]),
        "isSidechain": st.sampled_from([True, False, 1]),
        **dict.fromkeys(("cwd", "customTitle", "aiTitle", "lastPrompt", "summary", "gitBranch", "tag"), WORDS),
    },
)


@given(st.lists(st.lists(ENTRIES, max_size=3), max_size=4))
def test_summaries_are_folded_as_the_sdk_folds_them(batches: list[list[dict[str, Any]]]) -> None:
    ours: dict[str, Any] = {}
    theirs = None
    for batch in batches:
        ours = fold(ours, batch)
        theirs = sdk.fold_session_summary(theirs, {"project_key": "p", "session_id": "s"}, batch)
    expected = dict(theirs["data"]) if theirs else {}
    # The SDK computes milliseconds with floating point and may cut one off.
    assert abs(ours.pop("created_at", 0) - expected.pop("created_at", 0)) <= 1
    assert ours == expected


def test_a_session_imported_twice_is_there_once(kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = sample_session()
    project = tmp_path / "claude" / "projects" / sdk.project_key_for_directory("/home/dev/orchard")
    project.mkdir(parents=True)
    (project / f"{sample.session_id}.jsonl").write_bytes(sample.to_bytes())
    subagent = project / sample.session_id / "subagents" / "agent-7.jsonl"
    subagent.parent.mkdir(parents=True)
    subagent.write_bytes(sample.to_bytes())
    subagent.with_suffix(".meta.json").write_text('{"agentType": "helper"}')
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))

    async def use() -> None:
        store = kind.open()
        for _ in range(2):
            await sdk.import_session_to_store(sample.session_id, store, directory="/home/dev/orchard")
        (listed,) = await sdk.list_sessions_from_store(store, "/home/dev/orchard")
        assert listed.first_prompt.startswith("Question 1")
        found = await sdk.get_session_messages_from_store(store, sample.session_id, "/home/dev/orchard")
        assert [message.uuid for message in found] == [
            message.uuid for message in sdk.get_session_messages(sample.session_id, "/home/dev/orchard")
        ]
        rows = await store.load({"project_key": project.name, "session_id": sample.session_id})
        uuids = [row["uuid"] for row in rows or [] if "uuid" in row]
        assert len(uuids) == len(set(uuids)) == sum('"uuid"' in json.dumps(entry) for entry in sample.entries)
        assert await sdk.list_subagents_from_store(store, sample.session_id, "/home/dev/orchard") == ["7"]
        await sdk.rename_session_via_store(store, sample.session_id, "A new name", "/home/dev/orchard")
        (renamed,) = await sdk.list_sessions_from_store(store, "/home/dev/orchard")
        assert renamed.custom_title == "A new name"
        forked = await sdk.fork_session_via_store(store, sample.session_id, "/home/dev/orchard")
        assert len(await sdk.list_sessions_from_store(store, "/home/dev/orchard")) == 2
        await sdk.delete_session_via_store(store, forked.session_id, "/home/dev/orchard")
        await sdk.delete_session_via_store(store, sample.session_id, "/home/dev/orchard")
        assert await sdk.list_sessions_from_store(store, "/home/dev/orchard") == []

    asyncio.run(use())
