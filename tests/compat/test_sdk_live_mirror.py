"""The real client, driven by the official SDK, mirrors into each of our stores, and resumes from it alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.compat import clients
from tests.compat.ask import Question, ask_many
from tests.compat.sdk_mirror import FIRST, SECOND, STORES
from tests.compat.sealed import MARK
from tests.compat.wire import is_added_by_client, request_blocks

pytest.importorskip("claude_agent_sdk", reason="the official SDK is not installed")
pytestmark = [pytest.mark.compat, pytest.mark.timeout(300)]

Json = dict[str, Any]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mirror")


@pytest.fixture(scope="module")
def mirrored(place: Path) -> Json:
    clients.command(clients.NEWEST)  # fetched out here, where there is a network
    done = subprocess.run(
        [sys.executable, "-m", "tests.compat.sdk_mirror", str(place)],
        cwd=clients.REPOSITORY,
        env={name: value for name, value in os.environ.items() if name != MARK},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told: Json = json.loads((place / "mirror.json").read_text())
    return told


def without(entries: list[Json], *starts: str) -> list[Json]:
    return [entry for entry in entries if not entry["type"].startswith(starts)]


def said(messages: list[Json]) -> list[tuple[str, str]]:
    """Who said what, without what the client adds; calls and results by the words in them."""
    blocks = request_blocks(messages)
    return [(block.role, block.text) for block in blocks if not is_added_by_client(block) and block.kind != "thinking"]


@pytest.mark.parametrize("store", STORES)
def test_the_mirror_is_complete_but_for_the_request_log(mirrored: Json, store: str) -> None:
    disk, stored = mirrored[store]["disk"], mirrored[store]["stored"]
    assert set(stored) == set(disk) and len(disk) == 2
    session = mirrored[store]["session"]
    assert stored[session] == without(disk[session], "api-request")
    (subagent,) = set(disk) - {session}
    assert without(stored[subagent], "agent_metadata") == without(disk[subagent], "agent_metadata", "api-request")
    assert [entry for entry in stored[subagent] if entry["type"] == "agent_metadata"][-1] == disk[subagent][-1]
    assert len(without(disk[session], "api-request")) < len(disk[session]), "the client writes no request log any more"


@pytest.mark.parametrize("store", STORES)
def test_the_sdk_lists_the_session_by_its_summary(mirrored: Json, store: str) -> None:
    (listed,) = mirrored[store]["listed"]
    assert listed["session_id"] == mirrored[store]["session"]
    assert listed["first_prompt"] == listed["summary"] == FIRST
    assert (listed["cwd"], listed["git_branch"]) == (mirrored[store]["project"], "main")


@pytest.mark.parametrize("store", STORES)
def test_the_client_resumes_from_the_store_alone(mirrored: Json, store: str) -> None:
    told = mirrored[store]
    assert told["resumed"]["session"] == told["session"]
    (request,) = [messages for messages in told["requests"] if SECOND in json.dumps(messages)]
    words = said(request)
    assert words[0] == ("user", FIRST) and words[-1] == ("user", SECOND)
    assert ("assistant", "Delegating.") in words and ("assistant", "The subagent reported.") in words
    assert any(role == "user" and "Report: it says hello." in text for role, text in words[1:-1])


@pytest.mark.parametrize("store", STORES)
def test_the_second_talk_is_mirrored_behind_the_first(mirrored: Json, store: str) -> None:
    told = mirrored[store]
    before, after = told["stored"][told["session"]], told["stored_after"][told["session"]]
    assert after[: len(before)] == before
    spoken = [entry["message"]["content"] for entry in after[len(before) :] if entry["type"] in ("user", "assistant")]
    assert SECOND in json.dumps(spoken) and "A second answer." in json.dumps(spoken)


def test_the_folder_store_is_a_home_that_the_client_resumes_from(mirrored: Json, place: Path) -> None:
    told = mirrored["folder"]
    question = Question(place / "folder" / "store", told["session"], Path(told["project"]))
    (answer,) = ask_many([question])
    words = said(answer.messages or [])
    assert words[0] == ("user", FIRST) and words[-2:] == [("user", SECOND), ("assistant", "A second answer.")]
