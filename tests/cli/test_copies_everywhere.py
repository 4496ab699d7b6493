"""An answer that a subagent's file repeats under another request counts once, whoever is asked; so does one of a fork."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from typing import Any

import pytest
from tests.analysis.scene import Scene
from tests.cli.usage_scene import COST, FULL, SESSION, ask, now

from recollect.library.provider import ClaudeStorageProvider

__all__ = ["ask"]

OTHER = "22222222-2222-4222-8222-222222222222"
ONCE = round(COST)


@pytest.fixture
def scene(tmp_path: Any) -> Scene:
    made = Scene(tmp_path)
    row = made.answer("msg_1", FULL, session=SESSION, time=now(1), parentUuid="u0")
    asked = {
        "type": "user", "uuid": "u0", "parentUuid": None, "sessionId": SESSION, "timestamp": now(1), "cwd": "/work/a",
        "message": {"role": "user", "content": "What is it?"},
    }  # fmt: skip
    told = {
        "type": "cost-state", "sessionId": SESSION, "totalCostUSD": ONCE / 1e6,
        "modelUsage": {row["message"]["model"]: {
            "inputTokens": 10, "outputTokens": 200, "cacheReadInputTokens": 500, "cacheCreationInputTokens": 70,
            "cacheCreationEphemeral1hInputTokens": 40, "cacheCreationEphemeral5mInputTokens": 30,
        }},
    }  # fmt: skip
    made.write(SESSION, asked, row, told)
    copy = row | {"requestId": "req_2", "uuid": "c1", "isSidechain": True, "agentId": "a1"}
    made.write(f"{SESSION}/subagents/agent-a1", copy)
    made.write(OTHER, row | {"sessionId": OTHER, "requestSessionId": SESSION})
    return made


def rows(ask: Any, *arguments: str) -> list[dict[str, Any]]:
    ran = ask(*arguments, "--json")
    assert ran.code == 0, ran
    found: list[dict[str, Any]] = ran.data["rows"]
    return found


@pytest.mark.parametrize("by", ["day", "session", "model", "subagent", "project", "branch", "tool"])
def test_usage(ask: Any, scene: Scene, by: str) -> None:
    (row,) = rows(ask, "usage", "--by", by)
    assert (row["calls"], row["output"], row["cost_micro_usd"]) == (1, 200, ONCE)
    if by in ("session", "subagent"):
        assert row[by] == {"session": SESSION, "subagent": "(main)"}[by]
    assert ask("usage", "--json").data["copies_not_counted"] == 2


def test_usage_by_topic_explained_and_checked(ask: Any, scene: Scene) -> None:
    (block,) = rows(ask, "usage", "--more", "blocks")
    assert (block["calls"], block["cost_micro_usd"]) == (1, ONCE)
    (explained,) = rows(ask, "usage", "--explain")
    assert (explained["request_id"], explained["session_id"], explained["copies"]) == ("req_1", SESSION, 3)
    (checked,) = rows(ask, "usage", "--check")
    assert checked["same"], checked
    (dear,) = rows(ask, "expensive")
    assert dear["cost_micro_usd"] == ONCE


def test_status_line(ask: Any, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps({"session_id": SESSION})))
    line = ask("statusline", "--timezone", "UTC").out
    assert line.startswith("session $0.0035 | today $0.0035 | block $0.0035 ("), line
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps({"session_id": OTHER})))
    assert ask("statusline", "--timezone", "UTC").out.startswith("today $0.0035 | "), "it made no request"


def test_sql(ask: Any, scene: Scene) -> None:
    found = rows(
        ask, "sql", "SELECT session_id, request_id, subagent_id, copies, output_tokens, cost_micro_usd FROM responses"
    )
    assert found == [
        {"session_id": SESSION, "request_id": "req_1", "subagent_id": None, "copies": 3, "output_tokens": 200,
         "cost_micro_usd": ONCE},
    ]  # fmt: skip
    found = rows(ask, "sql", "SELECT session_id, cost_micro_usd FROM sessions ORDER BY 1")
    assert [(row["session_id"], row["cost_micro_usd"]) for row in found] == [(SESSION, ONCE), (OTHER, None)]


def test_sql_over_two_homes(ask: Any, scene: Scene, tmp_path: Any) -> None:
    """A copy in another home, under the family's other request and with more output."""
    other = Scene(tmp_path / "other")
    row = other.answer("msg_1", FULL | {"output_tokens": 300}, session=SESSION, time=now(2))
    other.write(SESSION, row)
    found = rows(
        ask, "sql", "--home", str(other.root), "SELECT request_id, copies, output_tokens, cost_micro_usd FROM responses"
    )
    assert found == [{"request_id": "req_1", "copies": 4, "output_tokens": 300, "cost_micro_usd": ONCE + 1500}]
    (told,) = rows(ask, "usage", "--home", str(other.root))
    assert (told["calls"], told["output"], told["cost_micro_usd"]) == (1, 300, ONCE + 1500)


def test_show(ask: Any, scene: Scene) -> None:
    answers = [row for row in rows(ask, "show", SESSION, "--tokens") if row["role"] == "assistant"]
    assert [row["cost_micro_usd"] for row in answers] == [ONCE]


def test_the_provider(scene: Scene) -> None:
    async def stats() -> dict[str, Any]:
        return await ClaudeStorageProvider(scene.root).get_session_stats(SESSION)

    told = asyncio.run(stats())
    assert (told["input_tokens"], told["output_tokens"], told["cache_write"]) == (10, 200, 70)


def test_an_advisor_s_response_of_which_only_the_first_round_is_split(ask: Any, scene: Scene) -> None:
    """As 2.1.326 writes it: the total counts, what is not in the split was written for five minutes."""
    usage = {
        "input_tokens": 4, "output_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 3538,
        "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 859},
        "iterations": [
            {"type": "message", "input_tokens": 2, "output_tokens": 9, "cache_creation_input_tokens": 1859,
             "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 859}},
            {"type": "advisor_message", "model": "claude-opus-4-5-20251101", "input_tokens": 7, "output_tokens": 30,
             "cache_creation_input_tokens": 50},
            {"type": "message", "input_tokens": 2, "output_tokens": 11, "cache_creation_input_tokens": 1679,
             "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}},
        ],
    }  # fmt: skip
    scene.write(OTHER, scene.answer("msg_9", usage, request="req_9", session=OTHER, time=now(), parentUuid=None))
    counted = {
        row["model"]: (row["calls"], row["input"], row["output"], row["cache_write_5m"], row["cache_write_1h"])
        for row in rows(ask, "usage", "--by", "model", "--session", OTHER)
    }
    assert counted["claude-opus-4-5-20251101"] == (1, 7, 30, 50, 0)
    assert counted["claude-sonnet-4-5-20250929"] == (1, 4, 20, 2679, 859)
    (shown,) = rows(ask, "show", OTHER, "--tokens")
    assert shown["cost_micro_usd"] == round(4 * 3 + 20 * 15 + 2679 * 3.75 + 859 * 6)
