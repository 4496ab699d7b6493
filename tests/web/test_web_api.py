"""The JSON interface holds what its own description says, whatever is asked of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import positive_data_acceptance
from tests.web.scene import CACHE_SESSION, DAMAGED_SESSION, Scene, scene

from recollect.testing import build_demo_home
from recollect.web.api_endpoints import ENDPOINTS


def test_the_interface_is_as_described(demo: Scene) -> None:
    """Every operation, with made-up values that fit its description and some that do not."""
    headers = {"Authorization": f"Bearer {demo.access.api_key}", "Host": demo.origin[7:]}
    described = schemathesis.openapi.from_asgi("/api/v1/openapi.json", demo.app, headers=headers)
    seen = 0
    for found in described.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()

        @settings(
            max_examples=4,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def holds(case: Any) -> None:
            free = case.path in (
                "/api/v1/search",
                "/api/v1/sql",
            )  # any text may be sent there, and most of it is no query
            case.call_and_validate(headers=headers, excluded_checks=[positive_data_acceptance] if free else [])

        holds()
        seen += 1
    assert seen == len(ENDPOINTS)


def test_every_endpoint_answers_for_a_real_session(demo: Scene) -> None:
    script = demo.script
    for endpoint in ENDPOINTS:
        if endpoint.method == "GET":
            path = "/api/v1" + endpoint.path.replace("{id}", CACHE_SESSION).replace("{line}", "3")
            answer = script.get(path, params={"q": "tide"} if endpoint.path == "/search" else {})
            assert answer.status_code == 200, (path, answer.text[:300])
            assert answer.headers["content-type"] == "application/json"


def test_lists_are_paged(demo: Scene) -> None:
    script = demo.script
    first = script.get("/api/v1/sessions?limit=5").json()
    assert (len(first["rows"]), first["total"]) == (5, 13)
    rest = script.get("/api/v1/sessions?limit=1000&offset=5").json()["rows"]
    assert len({row["session_id"] for row in first["rows"] + rest}) == 13
    messages = script.get(f"/api/v1/sessions/{CACHE_SESSION}/messages?limit=3&offset=2").json()
    assert [row["number"] for row in messages["rows"]] == [3, 4, 5]


def test_messages_hold_blocks_with_the_names_of_the_transcript(demo: Scene) -> None:
    rows = demo.script.get(f"/api/v1/sessions/{CACHE_SESSION}/messages").json()["rows"]
    kinds = {block["type"] for row in rows for block in row["blocks"]}
    assert {"text", "thinking", "tool_use", "tool_result"} <= kinds


def test_a_search_tells_what_it_left_out(demo: Scene) -> None:
    found = demo.script.get("/api/v1/search", params={"q": "redis -ping"}).json()
    assert found["excluded"] == ["-ping"]
    assert found["notes"] == ['left out what fits ping; to find -ping itself: "redis -ping"']
    for query in ("redis -ping", "nosuchword -ping"):
        assert "left out what fits ping" in demo.script.get("/search", params={"q": query}).text


def test_a_line_is_what_is_in_the_file(demo: Scene) -> None:
    file = next(demo.root.glob(f"projects/*/{CACHE_SESSION}.jsonl"))
    told = demo.script.get(f"/api/v1/sessions/{CACHE_SESSION}/lines/2").json()
    assert told["text"].encode() == file.read_bytes().splitlines(keepends=True)[1]


def test_damage_is_told(demo: Scene) -> None:
    rows = demo.script.get(f"/api/v1/sessions/{DAMAGED_SESSION}/damage").json()["rows"]
    assert {row["kind"] for row in rows} == {"nul", "torn"}


@pytest.mark.parametrize(
    ("path", "status", "slug"),
    [
        ("/api/v1/sessions?limit=x", 400, "bad-parameter"),
        ("/api/v1/sessions?limit=-1", 400, "bad-parameter"),
        ("/api/v1/sessions?nonsense=1", 400, "bad-parameter"),
        ("/api/v1/sessions?sort=nonsense", 400, "bad-parameter"),
        ("/api/v1/sessions/zzzz", 404, "no-such-session"),
        (f"/api/v1/sessions/{CACHE_SESSION}/lines/9999", 404, "no-such-line"),
        (f"/api/v1/sessions/{CACHE_SESSION}/messages?branch=7", 404, "no-such-branch"),
        ("/api/v1/nonsense", 404, "no-such-endpoint"),
        ("/api/v2/sessions", 404, "no-such-endpoint"),
    ],
)
def test_mistakes_are_told(demo: Scene, path: str, status: int, slug: str) -> None:
    answer = demo.script.get(path)
    assert answer.status_code == status
    assert answer.json()["error"]["slug"] == slug


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("{", "application/json"),
        ("[]", "application/json"),
        ('{"title": 1}', "application/json"),
        ("{}", "application/json"),
        ('{"title": "x", "more": 1}', "application/json"),
        ('{"title": "x"}', "text/plain"),
        ("[" * 100_000, "application/json"),
    ],
)
def test_bodies_that_are_no_good(demo: Scene, body: str, kind: str) -> None:
    answer = demo.script.post(f"/api/v1/sessions/{CACHE_SESSION}/rename", content=body, headers={"Content-Type": kind})
    assert answer.status_code == 400
    assert answer.json()["error"]["message"]


def test_numbers_that_json_does_not_know_become_null(tmp_path: Path) -> None:
    build_demo_home(tmp_path / "claude")
    file = next((tmp_path / "claude").glob(f"projects/*/{CACHE_SESSION}.jsonl"))
    with file.open("a", encoding="utf-8") as stream:
        entry = {
            "type": "assistant",
            "uuid": "99999999-9999-4999-8999-999999999999",
            "parentUuid": None,
            "sessionId": CACHE_SESSION,
        }
        content = [{"type": "tool_use", "id": "t", "name": "X", "input": {"n": float("nan"), "i": float("inf")}}]
        stream.write(json.dumps(entry | {"message": {"role": "assistant", "content": content}}) + "\n")
    script = scene(tmp_path / "claude", tmp_path / "own").script
    answer = script.get(f"/api/v1/sessions/{CACHE_SESSION}/messages?view=all")
    assert answer.status_code == 200
    assert not re.search(r"\bNaN\b|\bInfinity\b", answer.text)
