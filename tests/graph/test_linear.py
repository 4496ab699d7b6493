"""Shapes that would take hours if some rule looked at all rows for each row. The time limits are hang guards, no measures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.reading import thread_of

from recollect.graph.thread import Thread

Entries = Iterator[dict[str, Any]]

pytestmark = pytest.mark.timeout(30)


def row(uuid: str, parent: str | None, kind: str = "user", content: Any = "x", **fields: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": False, **fields}
    entry["timestamp"] = "2026-03-02T09:00:00.000Z"
    if kind in ("user", "assistant"):
        entry["message"] = {"content": content, "id": fields.get("response", uuid)}
    return entry


def boundary(uuid: str, before: str | None, **metadata: Any) -> dict[str, Any]:
    fields = {"subtype": "compact_boundary", "logicalParentUuid": before, "compactMetadata": metadata}
    return row(uuid, None, "system", **fields)


def call(ident: str) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": ident, "name": "Bash", "input": {}}]


def result(ident: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": ident, "content": "x"}]


def thread(entries: Entries) -> Thread:
    return thread_of(b"".join(json.dumps(entry).encode() + b"\n" for entry in entries))


def test_many_rows_on_one_long_run_of_progress() -> None:
    def entries(count: int) -> Entries:
        yield row("root", None)
        for number in range(count):
            yield row(f"p{number}", f"p{number - 1}" if number else "root", "progress")
        for number in range(count):
            yield row(f"u{number}", f"p{count - 1}")
        yield boundary("b", "u5")
        yield row("end", "b")

    assert len(thread(entries(15_000)).chain) == 1


def test_many_rows_on_a_circle_of_progress() -> None:
    def entries(count: int) -> Entries:
        for number in range(count):
            yield row(f"p{number}", f"p{(number + 1) % count}", "progress")
            yield row(f"u{number}", f"p{number}")
        yield boundary("b", "u5")
        yield row("end", "b")

    assert len(thread(entries(15_000)).chain) == 1


def test_a_long_run_of_attachments_beside_the_chain() -> None:
    def entries(count: int) -> Entries:
        yield row("root", None)
        yield row("call", "root", "assistant", call("t"))
        for number in range(count):
            yield row(f"n{number}", f"n{number - 1}" if number else "call", "attachment", attachment={"type": "date"})
        yield row("fork", "n1", "attachment", attachment={"type": "date"})
        yield row("result", "call", content=result("t"))

    assert [item.uuid for item in thread(entries(20_000)).sent] == ["root", "call", "result"]


def test_a_response_of_many_calls_with_results_and_attachments() -> None:
    def entries(count: int) -> Entries:
        yield row("root", None)
        for number in range(count):
            above = f"c{number - 1}" if number else "root"
            yield row(f"c{number}", above, "assistant", call(f"t{number}"), response="one")
        for number in range(count):
            yield row(f"r{number}", f"c{number}", content=result(f"t{number}"))
            yield row(f"n{number}", f"r{number}", "attachment", attachment={"type": "date"})

    assert len(thread(entries(10_000)).chain) == 30_001


@pytest.mark.parametrize("preserves", [False, True])
def test_many_compactions(preserves: bool) -> None:
    def entries(count: int) -> Entries:
        for number in range(count):
            yield row(f"u{number}", f"s{number - 1}" if number else None)
            kept = {"anchorUuid": f"s{number}", "uuids": [f"u{number}"]}
            yield boundary(f"b{number}", f"u{number}", **({"preservedMessages": kept} if preserves else {}))
            yield row(f"s{number}", f"b{number}")

    found = thread(entries(30_000))
    assert [item.uuid for item in found.chain] == ["s29999", *(["u29999"] if preserves else [])]
    assert len(found.placements) == 90_000


def test_many_rows_without_content_and_many_on_the_last_of_them() -> None:
    def entries(count: int) -> Entries:
        yield row("root", None)
        for number in range(count):
            yield row(f"u{number}", f"u{number - 1}" if number else "root", content=None)
        for number in range(count):
            yield row(f"z{number}", f"u{count - 1}")

    assert [item.uuid for item in thread(entries(20_000)).chain] == ["root", "z19999"]
