"""Damage to what rows hold: unknown kinds, wrong types, tool calls without results, names of files."""

from __future__ import annotations

from functools import partial
from typing import Any

from recollect.testing.damage.lines import insert_line
from recollect.testing.encoding import encode_line
from recollect.testing.identifiers import uuid_from

from .recipe import (
    SAMPLE_ROWS,
    Inflict,
    Outcome,
    change_row,
    change_rows,
    find_target,
    join_lines,
    parse,
    recipe,
    split_lines,
)


def _replace_field(path: tuple[str, ...], value: Any, data: bytes, seed: int) -> bytes:
    def change(entry: dict[str, Any]) -> None:
        holder = entry
        for key in path[:-1]:
            if not isinstance(holder.get(key), dict):
                holder[key] = {}
            holder = holder[key]
        holder[path[-1]] = value

    return change_row(data, find_target(split_lines(data), seed), change)


def _field(path: str, value: Any) -> Inflict:
    return partial(_replace_field, tuple(path.split(".")), value)


recipe("unknown-type-in-chain", "A row of an unknown type, used as a parent", outcome=Outcome.AFTER_TARGET)(
    _field("type", "reverie")
)
recipe("unknown-fields", "Fields that nobody knows", outcome=Outcome.WHOLE)(_field("aura", {"colour": ["blue", 7]}))
recipe("unknown-message-field", "An unknown field in the message", outcome=Outcome.WHOLE)(
    _field("message.aura", "blue")
)
recipe("future-version", "A version from the future", outcome=Outcome.WHOLE)(_field("version", "9.4.0"))
recipe("odd-version", "A version that is none")(_field("version", "[redacted]"))
recipe("version-number", "A version that is a number")(_field("version", 2.1))
recipe("uuid-number", "A uuid that is a number")(_field("uuid", 17))
recipe("uuid-empty", "A uuid that is empty")(_field("uuid", ""))
recipe("uuid-null", "A uuid that is null")(_field("uuid", None))
recipe("parent-object", "A parent that is an object")(_field("parentUuid", {"uuid": "x"}))
recipe("type-number", "A type that is a number")(_field("type", 5))
recipe("type-null", "A type that is null")(_field("type", None))
recipe("message-string", "A message that is a text")(_field("message", "hello"))
recipe("message-null", "A message that is null")(_field("message", None))
recipe("content-null", "A content that is null")(_field("message.content", None))
recipe("content-number", "A content that is a number")(_field("message.content", 12))
recipe("content-of-nulls", "Blocks that are null, a number and a list")(_field("message.content", [None, 1, []]))
recipe("text-object", "A text block whose text is an object")(_field("message.content", [{"type": "text", "text": {}}]))
recipe("block-without-type", "A block without a type")(_field("message.content", [{"text": "hello"}]))
recipe("usage-list", "Token counts that are a list")(_field("message.usage", [1, 2]))
recipe("usage-texts", "Token counts that are texts")(
    _field("message.usage", {"input_tokens": "12", "output_tokens": None})
)
recipe("model-list", "A model that is a list")(_field("message.model", ["a", "b"]))
recipe("role-missing", "A role that is null")(_field("message.role", None))
recipe("cwd-number", "A working directory that is a number")(_field("cwd", 1))
recipe("sidechain-text", "`isSidechain` that is a text")(_field("isSidechain", "no"))
recipe("time-object", "A timestamp that is an object")(_field("timestamp", {"seconds": 1}))
recipe("session-id-mixed", "One row of another session")(_field("sessionId", uuid_from("another session")))
recipe("unknown-block", "A content block of an unknown type", outcome=Outcome.WHOLE)(
    _field("message.content", [{"type": "hologram", "data": "x"}, {"type": "text", "text": "beside it"}])
)


@recipe("unknown-type", "A state line of an unknown type", outcome=Outcome.WHOLE)
def unknown_type(data: bytes, seed: int) -> bytes:
    return insert_line(data, seed, encode_line({"type": "reverie", "depth": 3, "sessionId": "x"}))


@recipe("no-type", "An object without a type", outcome=Outcome.WHOLE)
def no_type(data: bytes, seed: int) -> bytes:
    return insert_line(data, seed, b'{"hello":"world"}')


@recipe("empty-object", "An empty object", outcome=Outcome.WHOLE)
def empty_object(data: bytes, seed: int) -> bytes:
    return insert_line(data, seed, b"{}")


@recipe("foreign-session-id", "Every line speaks of another session", outcome=Outcome.WHOLE)
def foreign_session_id(data: bytes, _seed: int) -> bytes:
    other = uuid_from("another session")
    return change_rows(data, lambda entry: entry.update(sessionId=other))


@recipe("only-state-lines", "No rows, only state lines", lost=SAMPLE_ROWS, outcome=Outcome.NONE)
def only_state_lines(data: bytes, _seed: int) -> bytes:
    return join_lines([line for line in split_lines(data) if "uuid" not in (parse(line) or {})])


@recipe("only-sidechain", "Every row belongs to a subagent", outcome=Outcome.NONE)
def only_sidechain(data: bytes, _seed: int) -> bytes:
    return change_rows(data, lambda entry: entry.update(isSidechain=True))


@recipe("uuid-missing", "A row without a uuid")
def uuid_missing(data: bytes, seed: int) -> bytes:
    return change_row(data, find_target(split_lines(data), seed), lambda entry: entry.pop("uuid", None))


@recipe("message-missing", "A row without a message")
def message_missing(data: bytes, seed: int) -> bytes:
    return change_row(data, find_target(split_lines(data), seed), lambda entry: entry.pop("message", None))


def _take_out(data: bytes, index: int) -> bytes:
    """Remove a row and hang what hung on it on its parent."""
    lines = split_lines(data)
    removed = parse(lines.pop(index)) or {}

    def relink(entry: dict[str, Any]) -> None:
        if entry.get("parentUuid") == removed.get("uuid"):
            entry["parentUuid"] = removed.get("parentUuid")

    return change_rows(join_lines(lines), relink)


@recipe(
    "unanswered-call", "A tool call without a result", lost=1, outcome=Outcome.WITHOUT_CALL_AND_TARGET, target="result"
)
def unanswered_call(data: bytes, seed: int) -> bytes:
    index = find_target(split_lines(data), seed, "result")
    return _take_out(data, index) if index >= 0 else data


@recipe(
    "orphan-result", "A tool result without its call", lost=1, outcome=Outcome.WITHOUT_TARGET_AND_RESULT, target="use"
)
def orphan_result(data: bytes, seed: int) -> bytes:
    index = find_target(split_lines(data), seed, "use")
    return _take_out(data, index) if index >= 0 else data


@recipe("duplicate-result", "Two results for one tool call", target="result")
def duplicate_result(data: bytes, seed: int) -> bytes:
    lines = split_lines(data)
    index = find_target(lines, seed, "result")
    if index < 0:
        return data
    again = parse(lines[index]) or {}
    lines.insert(index + 1, encode_line(again | {"uuid": uuid_from("second result", again.get("uuid"))}))
    return join_lines(lines)


@recipe("upper-case-name", "The file's name in capitals", outcome=Outcome.NONE, rename=lambda name: name.upper())
def upper_case_name(data: bytes, _seed: int) -> bytes:
    return data


@recipe("name-no-uuid", "A file name that is not a uuid", outcome=Outcome.NONE, rename=lambda name: f"copy of {name}")
def name_no_uuid(data: bytes, _seed: int) -> bytes:
    return data
