"""What a program may hand to a writer: anything else is refused with a sentence, before a byte is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.edit.append import SessionWriter
from recollect.errors import RecollectError, Refused
from recollect.format.encode import RowContext, encode_line, row, user_message
from recollect.journal.changes import Journal
from recollect.store.home import Home

SESSION = "0f0e0d0c-0b0a-4908-8706-050403020100"
OTHER = "11111111-1111-4111-8111-111111111111"
CONTEXT = RowContext(SESSION, "/work/app")


@pytest.fixture
def writer(tmp_path: Path) -> SessionWriter:
    folder = tmp_path / "claude" / "projects" / "-work-app"
    folder.mkdir(parents=True)
    home = Home(tmp_path / "claude")
    return SessionWriter(Journal(tmp_path / "data"), home, folder / f"{SESSION}.jsonl", CONTEXT, sync=False, force=True)


def circle() -> list[Any]:
    found: list[Any] = []
    found.append({"type": "odd", "itself": found})
    return found


def image(data: Any, **more: Any) -> list[Any]:
    return [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data} | more}]


def result(content: Any = "x", call: Any = "toolu_1") -> list[Any]:
    return [{"type": "tool_result", "tool_use_id": call, "content": content}]


def call(**more: Any) -> list[Any]:
    return [{"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {}} | more]


UNUSABLE: dict[str, tuple[str, Any]] = {
    "nothing": ("user", None),
    "a number": ("user", 5),
    "bytes": ("user", b"words"),
    "a mapping": ("assistant", {"type": "text", "text": "x"}),
    "blocks that are texts": ("user", ["x"]),
    "a block without a type": ("assistant", [{"text": "x"}]),
    "a text that is a number": ("assistant", [{"type": "text", "text": 5}]),
    "a thought without words": ("assistant", [{"type": "thinking"}]),
    "a call without an id": ("assistant", call(id="")),
    "a call without a name": ("assistant", call(name=None)),
    "a call without arguments": ("assistant", call(input="ls")),
    "a call of the user": ("user", call()),
    "a result of the assistant": ("assistant", result()),
    "a result without a call": ("user", result(call="")),
    "a result that is a number": ("user", result(5)),
    "a result with a call in it": ("user", result(call())),
    "a result with a broken picture": ("user", result(image("!"))),
    "a picture without a source": ("user", [{"type": "image"}]),
    "a picture whose source is nothing": ("user", [{"type": "image", "source": {}}]),
    "a document whose source is nothing": ("user", [{"type": "document", "source": {"type": 5}}]),
    "a picture that is no base64": ("user", image("not base64!")),
    "a picture that is cut": ("user", image("iVBORw0KGgo")),
    "a picture of other letters": ("user", image("bild–")),
    "an empty picture": ("user", image("")),
    "a picture without a type": ("user", image("AAAA", media_type=None)),
    "a picture that is a page": ("user", image("AAAA", media_type="text/html")),
    "a picture of the assistant": ("assistant", image("AAAA")),
    "a thought of the user": ("user", [{"type": "thinking", "thinking": "hm", "signature": ""}]),
    "not a number, in a block": ("assistant", [{"type": "odd", "x": float("nan")}]),
    "infinity, in a call": ("assistant", call(input={"x": float("inf")})),
    "a set": ("user", [{"type": "odd", "x": {1}}]),
    "a list that holds itself": ("user", circle()),
}


def changes_nothing(writer: SessionWriter, attempt: Callable[[], object], slug: str) -> None:
    with pytest.raises(RecollectError) as caught:
        attempt()
    assert caught.value.slug == slug
    assert not writer.path.exists()
    assert writer.journal.records() == []


@pytest.mark.parametrize("name", UNUSABLE)
def test_content_that_no_client_could_use(writer: SessionWriter, name: str) -> None:
    role, content = UNUSABLE[name]
    changes_nothing(writer, lambda: writer.append_message(role, content), "bad-content")


@pytest.mark.parametrize(
    "given",
    [
        {"model": 5},
        {"message_id": ["x"]},
        {"parent": 5},
        {"stop_reason": {"x": 1}},
        {"usage": "many"},
        {"usage": {"input_tokens": float("nan")}},
        {"sessionId": OTHER},
        {"timestamp": "yesterday"},
        {"cwd": {"path": "/work"}},
        {"version": 2.1},
        {"note": {1}},
    ],
    ids=str,
)
def test_what_is_given_beside_the_content(writer: SessionWriter, given: dict[str, Any]) -> None:
    changes_nothing(writer, lambda: writer.append_message("assistant", "words", **given), "bad-content")


@pytest.mark.parametrize("uuid", ["not a uuid", "", 5, OTHER.upper() + "A", OTHER + "\n"])
def test_a_uuid_that_is_none(writer: SessionWriter, uuid: Any) -> None:
    changes_nothing(writer, lambda: writer.append_message("user", "words", uuid=uuid), "bad-uuid")
    entry = row(CONTEXT, "user", uuid, None, 0.0, user_message("words"))
    changes_nothing(writer, lambda: writer.append_entry(entry), "bad-uuid")


@pytest.mark.parametrize("entry", [None, [], {"uuid": OTHER}, {"type": 5}])
def test_an_entry_that_is_none(writer: SessionWriter, entry: Any) -> None:
    changes_nothing(writer, lambda: writer.append_entry(entry), "bad-entry")


def test_a_result_needs_its_call(writer: SessionWriter) -> None:
    changes_nothing(writer, lambda: writer.append_tool_result("toolu_1", "x"), "unknown-call")
    with writer:
        known = writer.append_tool_call("Bash", {"command": "ls"})
        writer.append_tool_result(known, "a.txt")
        writer.append_tool_result("toolu_1", "meant", allow_unknown_call=True)
        entry = row(CONTEXT, "assistant", OTHER, writer.leaf, 4e9, {"role": "assistant", "content": call()})
        writer.append_entry(entry)
        writer.append_tool_result("toolu_2", "of a row that was written as it is")
    again = SessionWriter(writer.journal, writer.home, writer.path, CONTEXT, sync=False, force=True)
    with again:
        again.append_tool_result(known, "of a call that another writer wrote")
        with pytest.raises(Refused, match="has no call toolu_9"):
            again.append_tool_result("toolu_9", "x")
    assert len(writer.path.read_bytes().splitlines()) == 6


def test_blocks_of_kinds_that_are_not_known_are_taken(writer: SessionWriter) -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "look"},
        {"type": "something-new", "of": [1, 2.5, None]},
        {"type": "image", "source": {"type": "url", "url": "https://example.invalid/a.png"}},
        *image("iVBORw0KGgo="),
    ]
    with writer:
        writer.append_message("user", blocks)
        writer.append_message("user", tuple(blocks), context={"kind": 1})
    lines = [json.loads(line) for line in writer.path.read_bytes().splitlines()]
    assert [line["message"]["content"] for line in lines] == [blocks, blocks]
    assert lines[1]["context"] == {"kind": 1}


def test_an_entry_with_the_uuid_of_another(writer: SessionWriter) -> None:
    with writer:
        first = writer.append_message("user", "one")
        entry = row(CONTEXT, "user", OTHER, first, 4e9, user_message("two"))
        writer.append_entry(entry)
        for uuid in (first, OTHER):
            with pytest.raises(Refused) as caught:
                writer.append_entry(entry | {"uuid": uuid})
            assert caught.value.slug == "exists"
        with writer.path.open("ab") as stream:  # somebody else's
            stream.write(encode_line(entry | {"uuid": SESSION, "parentUuid": OTHER}))
        with pytest.raises(Refused):
            writer.append_entry(entry | {"uuid": SESSION})
        with pytest.raises(Refused):
            writer.append_message("user", "again", uuid=SESSION)
    assert len(writer.path.read_bytes().splitlines()) == 3


def test_a_state_line_behind_somebody_elses_row(writer: SessionWriter) -> None:
    """The next message hangs below that row, not beside it."""
    with writer:
        first = writer.append_message("user", "one")
        with writer.path.open("ab") as stream:
            stream.write(encode_line(row(CONTEXT, "user", OTHER, first, 4e9, user_message("not ours"))))
        writer.append_entry({"type": "custom-title", "customTitle": "T", "sessionId": SESSION})
        writer.append_message("user", "two")
    assert json.loads(writer.path.read_bytes().splitlines()[-1])["parentUuid"] == OTHER


@pytest.mark.parametrize("blocks", [call(), [*call(id="toolu_3"), *call(id="toolu_3")]])
def test_a_call_of_which_the_id_is_taken_is_refused(writer: SessionWriter, blocks: list[Any]) -> None:
    with writer:
        writer.append_tool_call("Bash", {"command": "ls"}, call_id="toolu_2")
        before = writer.path.read_bytes()
        with pytest.raises(Refused) as caught:
            writer.append_message("assistant", blocks)
        assert caught.value.slug == "exists"
        assert writer.path.read_bytes() == before


@pytest.mark.parametrize("last", ["9999-12-31T00:00:00.001Z", "9999-12-31T23:59:59.999Z"])
def test_nothing_is_written_behind_the_end_of_all_days(writer: SessionWriter, last: str) -> None:
    """Its time would be none, or earlier than that of the row above it: then 2.0.77 goes on from that one."""
    line = encode_line(row(CONTEXT, "user", OTHER, None, 1.0, user_message("x")) | {"timestamp": last})
    writer.path.write_bytes(line)
    with pytest.raises(Refused) as caught:
        writer.append_message("user", "later")
    assert caught.value.slug == "no-later-time"
    assert writer.path.read_bytes() == line
    assert writer.journal.records() == []
