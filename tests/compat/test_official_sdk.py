"""Listing, messages and subagents against the official SDK, on what real clients wrote and on our own builders' homes.

Where the two differ on purpose, the test says how and why; where they differ about a conversation, the client decides.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.compat import clients, reader, stores
from tests.compat.told import Store

from recollect.testing import ALL_AGES, build_age, build_demo_home

sdk: Any = pytest.importorskip("claude_agent_sdk", reason="the official SDK is not installed")

HOMES = [
    *("captured " + version for version in (clients.NEWEST, *clients.OLDER)),
    *("built " + age for age in ALL_AGES),
    "demo",
]
pytestmark = [pytest.mark.compat, pytest.mark.timeout(900), pytest.mark.parametrize("home", HOMES, indirect=True)]

SPOKEN = {"user", "assistant", "tool", "summary", "error"}
FILES_THE_SDK_KNOWS = "subagents"
"""The SDK lists only the newest layout of subagents; older ones, and those without a file, are ours alone."""


@pytest.fixture
def home(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    captured: Callable[[str], Store],
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    kind, _, version = str(request.param).partition(" ")
    if kind == "captured":
        config = captured(version).config
    elif kind == "built":
        build_age(tmp_path / "claude", version)
        config = tmp_path / "claude"
    else:
        config = tmp_path / "demo"
        build_demo_home(config, now=datetime(2026, 11, 1, tzinfo=UTC))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(config))
    return config


def listed_by_us(config: Path) -> dict[str, dict[str, Any]]:
    return {row["session_id"]: row for row in reader.recollect(config, "list", "--json").json()["rows"]}


def listed_by_sdk() -> dict[str, Any]:
    return {info.session_id: info for info in sdk.list_sessions()}


def spoken_rows(config: Path, session: str, *more: str) -> list[str]:
    """The uuids of what `recollect show` shows, as far as somebody said it: no meta, system or attachment rows."""
    rows = reader.recollect(config, "show", session, "--json", *more).json()["rows"]
    return [uuid for row in rows if row["role"] in SPOKEN for uuid in row["uuids"]]


def words(text: str | None) -> str:
    return " ".join((text or "").split())


def milliseconds(stamp: str) -> int:
    return round(datetime.fromisoformat(stamp).timestamp() * 1000)


def test_the_same_sessions(home: Path) -> None:
    """We also list files without any row, marked as such, so that nothing on disk stays unseen."""
    ours, theirs = listed_by_us(home), listed_by_sdk()
    assert set(theirs) <= set(ours)
    assert all(ours[session]["problem"] for session in set(ours) - set(theirs))


def test_the_same_facts(home: Path) -> None:
    ours = listed_by_us(home)
    for session, info in listed_by_sdk().items():
        row = ours[session]
        assert (row["project"], row["bytes"], row["tag"]) == (info.cwd, info.file_size, info.tag)
        assert (row["git_branch"] or None) == info.git_branch
        assert milliseconds(row["modified"]) == info.last_modified


def test_the_same_titles(home: Path) -> None:
    """Without a title the SDK shows the last prompt, we the first: a session is known by what it was begun for."""
    ours = listed_by_us(home)
    for session, info in listed_by_sdk().items():
        row = ours[session]
        if row["title_source"] == "prompt" and words(info.summary) == words(row["last_prompt"]):
            assert words(row["first_prompt"]).startswith(words(row["title"]).rstrip("…"))
        elif row["title_source"] == "prompt":
            assert words(row["title"]).startswith(words(info.summary).rstrip("…"))
        else:
            assert words(row["title"]) == words(info.summary)


def test_the_same_first_prompts(home: Path) -> None:
    """We name pictures in a prompt, and do not take a command of the shell mode for a prompt."""
    ours = listed_by_us(home)
    for session, info in listed_by_sdk().items():
        if not words(info.first_prompt).startswith("<bash-input>"):
            assert words(ours[session]["first_prompt"]).startswith(words(info.first_prompt).rstrip("…")), session


def test_created_is_the_time_of_the_first_row(home: Path) -> None:
    """The SDK takes the first timestamp in the text, which may stand inside a file snapshot."""
    ours = listed_by_us(home)
    for session, info in listed_by_sdk().items():
        row = ours[session]
        if row["created"] is None:
            assert info.created_at is None
        elif milliseconds(row["created"]) != info.created_at:
            assert b'"file-history-snapshot"' in Path(row["path"]).read_bytes()[:65536], session


def test_the_same_messages(home: Path) -> None:
    """The SDK leaves out the rows that a compaction kept, and follows no checkpoint: there the client is right.

    A checkpoint need not be one that was set on purpose: who leaves right after a rewind may leave none but the one before it,
    and the client goes on from there (`test_captured_threads` asks it).
    """
    for session in listed_by_sdk():
        ours = spoken_rows(home, session)
        theirs = [message.uuid for message in sdk.get_session_messages(session)]
        if ours != theirs:
            data = next(path for path in stores.transcripts(home) if path.stem == session).read_bytes()
            is_compacted = b'"preservedMessages"' in data
            assert is_compacted or b'"explicit":true' in data or ends_at_checkpoint(home, session, data), session
            sent = reader.thread(home, session)[1]
            assert [uuid for uuid in ours if uuid in sent] == [uuid for uuid in sent if uuid in ours]


def ends_at_checkpoint(config: Path, session: str, data: bytes) -> bool:
    told = [json.loads(line)["leafUuid"] for line in data.splitlines() if b'"leafUuid"' in line]
    rows = reader.recollect(config, "show", session, "--json").json()["rows"]
    return bool(told) and rows[-1]["uuids"][-1] == told[-1]


def test_the_same_subagents(home: Path) -> None:
    for session in listed_by_sdk():
        rows = reader.recollect(home, "subagents", session, "--json").json()["rows"]
        ours = {row["subagent_id"] for row in rows if row["layout"] == FILES_THE_SDK_KNOWS}
        theirs = set(sdk.list_subagents(session))
        assert ours == theirs, session
        for subagent in theirs:
            uuids = spoken_rows(home, session, "--subagent", subagent)
            assert uuids == [message.uuid for message in sdk.get_subagent_messages(session, subagent)], subagent
