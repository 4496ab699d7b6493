"""Feature flags: JSON inside JSON, or nested; gates, configs, layers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.format.masking import MASK
from recollect.format.statsig import DynamicConfig, Gate, parse_evaluations, parse_last_modified

DATA: dict[str, Any] = {
    "feature_gates": {"111": {"name": "111", "value": True, "rule_id": "r1", "secondary_exposures": []}},
    "dynamic_configs": {"222": {"name": "222", "value": {"limit": 3, "apiKey": "x"}, "rule_id": "r2", "group": "g"}},
    "layer_configs": {"333": {"name": "333", "value": {}, "explicit_parameters": ["a"]}},
    "time": 1772442000000,
    "has_updates": True,
}


@pytest.mark.parametrize("as_text", [True, False])
def test_evaluations(as_text: bool) -> None:
    outer = {
        "source": "Network",
        "receivedAt": 1772442000000,
        "stableID": "my-machine",
        "data": json.dumps(DATA) if as_text else DATA,
    }
    found = parse_evaluations(json.dumps(outer).encode())
    assert found.problem is None
    assert (found.source, found.received_at) == ("Network", datetime(2026, 3, 2, 9, tzinfo=UTC))
    assert found.generated_at == found.received_at
    assert found.gates == (Gate(key="111", name="111", value=True, rule_id="r1", extra={"secondary_exposures": []}),)
    assert found.dynamic_configs == (
        DynamicConfig(key="222", name="222", value={"limit": 3, "apiKey": MASK}, rule_id="r2", group="g"),
    )
    assert [layer.key for layer in found.layer_configs] == ["333"]
    assert found.extra == {"stableID": MASK, "data": {"has_updates": True}}


def test_answer_without_its_envelope() -> None:
    assert [gate.value for gate in parse_evaluations(json.dumps(DATA).encode()).gates] == [True]


def test_short_forms() -> None:
    found = parse_evaluations(b'{"data": {"feature_gates": {"a": true, "b": {"value": "?"}}, "layer_configs": 5}}')
    assert found.gates == (Gate(key="a", value=True), Gate(key="b", extra={"value": "?"}))
    assert found.extra == {"data": {"layer_configs": 5}}


def test_a_list_of_gates() -> None:
    found = parse_evaluations(b'{"data": {"feature_gates": [{"name": "a", "value": false}]}}')
    assert found.gates == (Gate(key="a", name="a", value=False),)


def test_broken_inner_text_is_kept_and_said() -> None:
    found = parse_evaluations(b'{"data": "{oops"}')
    assert found.problem == "data: not JSON at character 1"
    assert found.extra == {"data": "{oops"}


def test_last_modified() -> None:
    times = parse_last_modified(b'{"statsig.cached.evaluations.1": 1772442000000, "x": "never"}')
    assert times.times == {"statsig.cached.evaluations.1": datetime(2026, 3, 2, 9, tzinfo=UTC)}
    assert times.extra == {"x": "never"}


@given(st.binary(max_size=80))
def test_no_bytes_raise(data: bytes) -> None:
    parse_last_modified(data)
    assert parse_evaluations(data).problem is not None or data.strip().startswith(b"{")
