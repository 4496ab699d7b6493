"""Parse the files of `statsig/`: the feature flags that Claude Code fetched and caches (to about 2.1.2xx).

    statsig.cached.evaluations.<hash>       {source, data, receivedAt, stableID, fullUserHash};
                                            `data` is JSON inside a string, or an object
    statsig.last_modified_time.evaluations  {"statsig.cached.evaluations.<hash>": milliseconds}
    statsig.session_id.<n>                  {sessionID, startTime, lastUpdate}
    statsig.stable_id.<n>                   "uuid": identifies the machine, not shown
Flag names are usually hashed by the server; the values are plain.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from recollect.format.json_file import Fields, decode_json_file, moment_of_ms
from recollect.format.masking import mask_secrets

EVALUATIONS_PREFIX = "statsig.cached.evaluations."
LAST_MODIFIED_NAME = "statsig.last_modified_time.evaluations"


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """A feature flag that is on or off. `key` is its key in the file, `name` its own `name` field."""

    key: str
    name: str | None = None
    value: bool | None = None
    rule_id: str | None = None
    extra: dict[str, Any] = {}


class DynamicConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A feature flag with a value of any shape; layers have the same fields."""

    key: str
    name: str | None = None
    value: Any = None
    rule_id: str | None = None
    group: str | None = None
    extra: dict[str, Any] = {}


class Evaluations(msgspec.Struct, frozen=True, kw_only=True):
    """One cached response of the flag server. Account and machine ids are masked."""

    source: str | None = None
    received_at: datetime | None = None
    generated_at: datetime | None = None
    gates: tuple[Gate, ...] = ()
    dynamic_configs: tuple[DynamicConfig, ...] = ()
    layer_configs: tuple[DynamicConfig, ...] = ()
    extra: dict[str, Any] = {}
    problem: str | None = None


class LastModified(msgspec.Struct, frozen=True, kw_only=True):
    """The time at which each evaluation file was last updated, by file name."""

    times: dict[str, datetime] = {}
    extra: dict[str, Any] = {}
    problem: str | None = None


def parse_evaluations(data: bytes) -> Evaluations:
    file = decode_json_file(data, expect=dict)
    problem = file.problem
    outer = Fields(file.value)
    inner_value = outer.rest.get("data")
    if isinstance(inner_value, str):
        inner = decode_json_file(inner_value.encode("utf-8", "surrogatepass"), expect=dict)
        inner_value = inner.value
        problem = problem or (f"data: {inner.problem}" if inner.problem else None)
    elif inner_value is None and "feature_gates" in outer.rest:
        inner_value, outer = outer.rest, Fields({})  # the response itself, without the envelope
    if isinstance(inner_value, dict):
        outer.rest.pop("data", None)
    fields = Fields(inner_value)
    source, received_at = outer.text("source"), outer.moment("receivedAt")
    gates = _take(fields, "feature_gates")
    configs, layers = _take(fields, "dynamic_configs"), _take(fields, "layer_configs")
    generated_at = fields.moment("time")
    return Evaluations(
        source=source,
        received_at=received_at,
        generated_at=generated_at,
        gates=tuple(_gate(key, value) for key, value in gates.items()),
        dynamic_configs=tuple(_config(key, value) for key, value in configs.items()),
        layer_configs=tuple(_config(key, value) for key, value in layers.items()),
        extra=mask_secrets({**outer.rest, **({"data": fields.rest} if fields.rest else {})}),
        problem=problem,
    )


def parse_last_modified(data: bytes) -> LastModified:
    file = decode_json_file(data, expect=dict)
    times = {name: moment_of_ms(value) for name, value in file.mapping.items()}
    return LastModified(
        times={name: moment for name, moment in times.items() if moment is not None},
        extra={name: value for name, value in file.mapping.items() if times[name] is None},
        problem=file.problem,
    )


def _take(fields: Fields, key: str) -> dict[str, Mapping[str, Any]]:
    """Take the objects below `key` by name; old files hold a list of objects with a name instead."""
    value = fields.rest.get(key)
    named: dict[str, Mapping[str, Any]]
    if isinstance(value, list):
        named = {str(item.get("name", number)): item for number, item in enumerate(value) if isinstance(item, dict)}
        complete = len(named) == len(value)
    elif isinstance(value, dict):
        named = {name: item if isinstance(item, dict) else {"value": item} for name, item in value.items()}
        complete = True
    else:
        return {}
    if complete:
        del fields.rest[key]
    return named


def _gate(key: str, value: Mapping[str, Any]) -> Gate:
    fields = Fields(value)
    name, is_on, rule_id = fields.text("name"), fields.flag("value"), fields.text("rule_id")
    return Gate(key=key, name=name, value=is_on, rule_id=rule_id, extra=mask_secrets(fields.rest))


def _config(key: str, value: Mapping[str, Any]) -> DynamicConfig:
    fields = Fields(value)
    held = fields.rest.pop("value", None)
    return DynamicConfig(
        key=key,
        name=fields.text("name"),
        value=mask_secrets(held),
        rule_id=fields.text("rule_id"),
        group=fields.text("group"),
        extra=mask_secrets(fields.rest),
    )
