"""Many lines renamed at once are what each is alone, or nothing: whatever stands in them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.format.names import Names, RowNames, renamed_lines
from recollect.format.relink import renamed_row
from recollect.testing import uuid_from

OLD, NEW = uuid_from("old session"), uuid_from("new session")


class Line(NamedTuple):
    """A row as the graph would know it, and its bytes."""

    data: bytes
    offset: int
    length: int
    uuid: str | None
    parent: str | None
    session_id: str | None
    source_assistant: str | None


def entry(number: int, **more: Any) -> dict[str, Any]:
    """A line of a chain, in the order of clients up to 2.1.44."""
    return {
        "parentUuid": uuid_from(str(number - 1)) if number else None,
        "isSidechain": False,
        "sessionId": OLD,
        "type": "user",
        "message": {"role": "user", "content": f"words {number}"},
        "uuid": uuid_from(str(number)),
        "timestamp": "2026-01-02T03:04:05.678Z",
    } | more


def in_later_order(line: dict[str, Any]) -> dict[str, Any]:
    """The session behind the uuid, as clients write it since 2.1.45."""
    return {key: value for key, value in line.items() if key != "sessionId"} | {"sessionId": line["sessionId"]}


def encoded(line: dict[str, Any], *, spaced: bool = False) -> bytes:
    return json.dumps(line, ensure_ascii=False, separators=(", ", ": ") if spaced else (",", ":")).encode()


def rows_of(lines: list[bytes]) -> list[Line]:
    found, offset = [], 100
    for data in lines:
        said = json.loads(data)
        found.append(
            Line(
                data, offset, len(data), said.get("uuid"), said.get("parentUuid"), said.get("sessionId"),
                said.get("sourceToolAssistantUUID"),
            )
        )  # fmt: skip
        offset += len(data) + 7  # something else stands between them
    return found


def block_of(rows: list[Line]) -> bytes:
    gaps = [b"\n??????"[: after.offset - row.offset - row.length] for row, after in pairwise(rows)]
    return b"".join(part for row, gap in zip(rows, [*gaps, b""], strict=True) for part in (row.data, gap))


def at_once(rows: list[Line], names: Names) -> bytes | None:
    uuids = names.rows([row.uuid or "" for row in rows])
    return renamed_lines(block_of(rows), 100, rows, uuids, [None, *uuids[:-1]], names)


def one_by_one(rows: list[Line], names: Names) -> bytes:
    above: str | None = None
    lines = []
    for row in rows:
        uuid = names.row(row.uuid or "")
        told = RowNames(row.uuid, uuid, row.parent, above, row.session_id, row.source_assistant)
        lines.append(renamed_row(row.data, told, names, plain=False)[0] + b"\n")
        above = uuid
    return b"".join(lines)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("order", [dict, in_later_order])
def test_lines_as_clients_write_them(order: Any, keep: bool) -> None:
    lines = [
        entry(0),
        entry(1, sourceToolAssistantUUID=uuid_from("0")),
        entry(2, parentUuid=uuid_from("0")),
        entry(3, parentUuid=None, toolUseResult={"uuid": uuid_from("other"), "text": "é\u2028\n" * 50}),
        entry(4, sessionId=uuid_from("an older session")),
    ]
    rows = rows_of([encoded(order(line)) for line in lines])
    made = at_once(rows, Names(OLD, NEW, keep))
    assert made is not None
    assert made == one_by_one(rows, Names(OLD, NEW, keep))
    told = [json.loads(line) for line in made.splitlines()]
    assert [line["sessionId"] for line in told] == [NEW] * 5
    assert [line["parentUuid"] for line in told] == [None, *(line["uuid"] for line in told[:-1])]
    assert [line.get("forkedFrom") for line in told] == [
        None if keep else {"sessionId": OLD, "messageUuid": row.uuid} for row in rows
    ]


@pytest.mark.parametrize("keep", [False, True])
def test_the_parent_may_stand_anywhere(keep: bool) -> None:
    """As clients up to 1.0.24 and some programs write it."""
    linked = {"sourceToolAssistantUUID": uuid_from("0")}
    lines = [{"type": "user"} | entry(number, **(linked if number % 2 else {})) for number in range(4)]
    lines[2] = {key: lines[2][key] for key in reversed(lines[2])}
    rows = rows_of([encoded(line) for line in lines])
    made = at_once(rows, Names(OLD, NEW, keep))
    assert made is not None
    assert made == one_by_one(rows, Names(OLD, NEW, keep))


TRAPS = {
    "spaced": lambda line: encoded(line, spaced=True),
    "uuid again inside, later": lambda line: encoded(line | {"toolUseResult": {"uuid": line["uuid"]}}),
    "uuid again inside, earlier": lambda line: encoded(line | {"isSidechain": {"uuid": line["uuid"]}}),
    "session again inside": lambda line: encoded(line | {"isSidechain": {"sessionId": OLD}}),
    "parent twice": lambda line: encoded(line)[:-1] + b',"parentUuid":"%b"}' % line["parentUuid"].encode(),
    "uuid twice": lambda line: encoded(line)[:-1] + b',"uuid":"%b"}' % line["uuid"].encode(),
    "session twice": lambda line: encoded(line)[:-1] + b',"sessionId":"%b"}' % OLD.encode(),
    "session twice, once escaped": lambda line: encoded(line)[:-1] + b',"sessi\\u006fnId":"%b"}' % OLD.encode(),
    "uuid escaped": lambda line: encoded(line).replace(b'"uuid":', b'"u\\u0075id":', 1),
    "parent escaped": lambda line: encoded(line).replace(b'"parentUuid":', b'"parent\\u0055uid":', 1),
    "parent not first": lambda line: encoded({"type": "user"} | line),
    "another of the same length first": lambda line: b'{"pArentUuid":"%b",' % line["parentUuid"].encode() + encoded(line)[1:],
    "blanks around": lambda line: b"  " + encoded(line) + b" ",
    "no session": lambda line: encoded({key: value for key, value in line.items() if key != "sessionId"}),
    "a call that is named twice": lambda line: encoded(
        line | {"sourceToolAssistantUUID": uuid_from("0"), "toolUseResult": {"sourceToolAssistantUUID": uuid_from("0")}}
    ),
}  # fmt: skip


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("trap", TRAPS)
def test_a_line_that_is_spelled_otherwise_is_not_spoilt(trap: str, keep: bool) -> None:
    rows = rows_of([encoded(entry(0)), TRAPS[trap](entry(1)), encoded(entry(2))])
    made = at_once(rows, Names(OLD, NEW, keep))
    if made is not None:
        assert made == one_by_one(rows, Names(OLD, NEW, keep))


def test_a_file_that_was_cut_meanwhile_gives_nothing() -> None:
    rows = rows_of([encoded(entry(number)) for number in range(3)])
    names = Names(OLD, NEW)
    uuids = names.rows([row.uuid or "" for row in rows])
    assert renamed_lines(block_of(rows)[:-5], 100, rows, uuids, [None, *uuids[:-1]], names) is None


_TEXT = st.one_of(st.text(max_size=20), st.sampled_from([OLD, uuid_from("0"), uuid_from("1"), f'"sessionId":"{OLD}"']))
_VALUES = st.recursive(
    st.one_of(_TEXT, st.integers(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.sampled_from(["uuid", "sessionId", "parentUuid"]), _TEXT), inner, max_size=3),
    ),
    max_leaves=8,
)


@given(st.lists(st.tuples(_VALUES, _VALUES, st.booleans(), st.booleans()), min_size=1, max_size=4), st.booleans())
def test_many_at_once_are_what_each_is_alone(drawn: list[tuple[Any, Any, bool, bool]], keep: bool) -> None:
    lines = []
    for number, (message, result, later, linked) in enumerate(drawn):
        line = entry(number, message=message, toolUseResult=result)
        if linked:
            line["sourceToolAssistantUUID"] = uuid_from("0")
        lines.append(encoded(in_later_order(line) if later else line))
    rows = rows_of(lines)
    made = at_once(rows, Names(OLD, NEW, keep))
    if made is not None:
        assert made == one_by_one(rows, Names(OLD, NEW, keep))


def test_a_fork_of_a_fork_is_renamed_at_once() -> None:
    origin = {"sessionId": uuid_from("the first one"), "messageUuid": uuid_from("a row of it")}
    lines = [entry(0, forkedFrom=origin), {"forkedFrom": origin} | entry(1), entry(2)]
    rows = rows_of([encoded(line) for line in lines])
    made = at_once(rows, Names(OLD, NEW))
    assert made is not None
    assert made == one_by_one(rows, Names(OLD, NEW))
    assert [json.loads(line)["forkedFrom"]["messageUuid"] for line in made.splitlines()] == [row.uuid for row in rows]


@pytest.mark.parametrize("more", [
    {"logicalParentUuid": uuid_from("0")}, {"retractedWireUuids": [uuid_from("0")]},
    {"summarizedTurnPromptUuids": [uuid_from("0")]}, {"compactMetadata": {"anchorUuid": uuid_from("0")}},
    {"microcompactMetadata": {"uuid": uuid_from("0")}},
])  # fmt: skip
def test_a_line_that_names_other_rows_is_left_to_who_follows_them(more: dict[str, Any]) -> None:
    rows = rows_of([encoded(entry(0)), encoded(entry(1, **more)), encoded(entry(2))])
    assert at_once(rows, Names(OLD, NEW)) is None
    kept = at_once(rows, Names(OLD, NEW, keep_uuids=True))
    assert kept is not None
    assert kept == one_by_one(rows, Names(OLD, NEW, keep_uuids=True))


def test_values_keep_their_bytes_however_they_are_written() -> None:
    odd = rb'"odd":[ 1.50E+2,1e400 , "\u00e9\/\uD83d\uDE00",{"a" : -0.0,"a":2}],'
    data = encoded(entry(0))
    rows = rows_of([data[:1] + odd + data[1:], encoded(entry(1))])
    made = at_once(rows, Names(OLD, NEW))
    assert made is not None
    assert made == one_by_one(rows, Names(OLD, NEW))
    assert odd in made
