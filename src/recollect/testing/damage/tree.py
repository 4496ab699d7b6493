"""Damage to the tree of messages: parents, uuids, order, times, checkpoints."""

from __future__ import annotations

from typing import Any

from recollect.testing.damage.lines import insert_line
from recollect.testing.encoding import encode_line
from recollect.testing.identifiers import uuid_from

from .recipe import Outcome, change_row, change_rows, find_target, join_lines, parse, recipe, rows, split_lines

NOWHERE = uuid_from("a row that was never written")


def _set(data: bytes, index: int, **fields: Any) -> bytes:
    return change_row(data, index, lambda entry: entry.update(fields))


def _row(data: bytes, index: int) -> dict[str, Any]:
    return parse(split_lines(data)[index]) or {}


@recipe("missing-parent", "A parent that is not in the file", outcome=Outcome.FROM_TARGET)
def missing_parent(data: bytes, seed: int) -> bytes:
    return _set(data, find_target(split_lines(data), seed), parentUuid=NOWHERE)


@recipe("self-parent", "A row that is its own parent", outcome=Outcome.FROM_TARGET)
def self_parent(data: bytes, seed: int) -> bytes:
    index = find_target(split_lines(data), seed)
    return _set(data, index, parentUuid=_row(data, index).get("uuid"))


@recipe("cycle-whole", "The first row's parent is the last row", outcome=Outcome.WHOLE)
def cycle_whole(data: bytes, _seed: int) -> bytes:
    places = rows(split_lines(data))
    return _set(data, places[0], parentUuid=_row(data, places[-1])["uuid"]) if places else data


@recipe("cycle-middle", "Two neighbours are each other's parents", outcome=Outcome.FROM_TARGET)
def cycle_middle(data: bytes, seed: int) -> bytes:
    index = find_target(split_lines(data), seed)
    return _set(data, index, parentUuid=_row(data, index + 1).get("uuid"))


@recipe("second-root", "A second row without a parent", outcome=Outcome.FROM_TARGET)
def second_root(data: bytes, seed: int) -> bytes:
    return _set(data, find_target(split_lines(data), seed), parentUuid=None)


@recipe("all-roots", "No row has a parent", outcome=Outcome.LAST)
def all_roots(data: bytes, _seed: int) -> bytes:
    return change_rows(data, lambda entry: entry.update(parentUuid=None))


@recipe("no-parent-field", "The field `parentUuid` is nowhere", outcome=Outcome.LAST)
def no_parent_field(data: bytes, _seed: int) -> bytes:
    return change_rows(data, lambda entry: entry.pop("parentUuid", None))


@recipe("duplicate-uuid-same", "A line written twice", outcome=Outcome.WHOLE)
def duplicate_uuid_same(data: bytes, seed: int) -> bytes:
    lines = split_lines(data)
    index = find_target(lines, seed)
    lines.insert(index, lines[index])
    return join_lines(lines)


@recipe("duplicate-uuid-other", "Two rows of one uuid and different text: the last one's counts", outcome=Outcome.WHOLE)
def duplicate_uuid_other(data: bytes, seed: int) -> bytes:
    def retell(entry: dict[str, Any]) -> None:
        message = entry.get("message")
        content = [{"type": "text", "text": "Another text"}]
        entry["message"] = {**(message if isinstance(message, dict) else {}), "content": content}

    twice = duplicate_uuid_same(data, seed)
    return change_row(twice, find_target(split_lines(data), seed) + 1, retell)


@recipe("swapped-lines", "Two neighbouring lines in the wrong order", outcome=Outcome.WHOLE)
def swapped_lines(data: bytes, seed: int) -> bytes:
    lines = split_lines(data)
    index = find_target(lines, seed)
    lines[index], lines[index + 1] = lines[index + 1], lines[index]
    return join_lines(lines)


@recipe("reversed-lines", "All lines in the wrong order", outcome=Outcome.WHOLE)
def reversed_lines(data: bytes, _seed: int) -> bytes:
    return join_lines(split_lines(data)[::-1])


@recipe("leaf-time-missing", "The last row has no timestamp", outcome=Outcome.NONE)
def leaf_time_missing(data: bytes, _seed: int) -> bytes:
    places = rows(split_lines(data))
    return change_row(data, places[-1], lambda entry: entry.pop("timestamp", None)) if places else data


@recipe("leaf-time-numeric", "The last row's timestamp is a number", outcome=Outcome.NONE)
def leaf_time_numeric(data: bytes, _seed: int) -> bytes:
    places = rows(split_lines(data))
    return _set(data, places[-1], timestamp=1_772_442_000_000) if places else data


@recipe("leaf-time-unparsable", "The last row's timestamp is not a time", outcome=Outcome.NONE)
def leaf_time_unparsable(data: bytes, _seed: int) -> bytes:
    places = rows(split_lines(data))
    return _set(data, places[-1], timestamp="yesterday") if places else data


@recipe("times-missing", "No row has a timestamp", outcome=Outcome.NONE)
def times_missing(data: bytes, _seed: int) -> bytes:
    return change_rows(data, lambda entry: entry.pop("timestamp", None))


@recipe("times-reversed", "Every row is older than its parent", outcome=Outcome.WHOLE)
def times_reversed(data: bytes, _seed: int) -> bytes:
    lines = split_lines(data)
    places = rows(lines)
    times = [_row(data, place).get("timestamp") for place in places]
    for place, time in zip(places, reversed(times), strict=True):
        lines[place] = encode_line(_row(data, place) | {"timestamp": time})
    return join_lines(lines)


@recipe("times-without-zone", "Timestamps without a zone")
def times_without_zone(data: bytes, _seed: int) -> bytes:
    return change_rows(data, lambda entry: entry.update(timestamp=str(entry.get("timestamp", "")).removesuffix("Z")))


@recipe("times-equal", "All rows at the same moment")
def times_equal(data: bytes, _seed: int) -> bytes:
    return change_rows(data, lambda entry: entry.update(timestamp="2026-03-02T09:00:00.000Z"))


@recipe("clock-jump", "One row ten years ahead of the others")
def clock_jump(data: bytes, seed: int) -> bytes:
    return _set(data, find_target(split_lines(data), seed), timestamp="2036-03-02T09:00:00.000Z")


@recipe("checkpoint-unknown", "A checkpoint on a row that is not there", outcome=Outcome.WHOLE)
def checkpoint_unknown(data: bytes, _seed: int) -> bytes:
    return data + encode_line({"type": "last-prompt", "lastPrompt": "?", "leafUuid": NOWHERE}) + b"\n"


@recipe("checkpoint-nothing", "An explicit checkpoint on no row", outcome=Outcome.NONE)
def checkpoint_nothing(data: bytes, _seed: int) -> bytes:
    return data + encode_line({"type": "last-prompt", "leafUuid": None, "explicit": True}) + b"\n"


@recipe("checkpoint-inner", "An explicit checkpoint on a row inside the chain", outcome=Outcome.UP_TO_TARGET)
def checkpoint_inner(data: bytes, seed: int) -> bytes:
    leaf = _row(data, find_target(split_lines(data), seed)).get("uuid")
    return data + encode_line({"type": "last-prompt", "leafUuid": leaf, "explicit": True}) + b"\n"


@recipe("boundary-alone", "A compaction boundary that nothing hangs on")
def boundary_alone(data: bytes, seed: int) -> bytes:
    boundary = {"parentUuid": None, "logicalParentUuid": NOWHERE, "isSidechain": False, "type": "system"}
    boundary |= {"subtype": "compact_boundary", "uuid": uuid_from("boundary"), "timestamp": "2026-03-02T09:00:01.000Z"}
    return insert_line(data, seed, encode_line(boundary | {"compactMetadata": {"trigger": "auto", "preTokens": 1}}))
