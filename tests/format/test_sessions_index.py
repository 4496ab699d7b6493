from __future__ import annotations

import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from recollect.format.session_meta import CustomTitle, parse_custom_title, parse_sessions_index, sessions_index_entry


def test_index() -> None:
    index = parse_sessions_index(
        b"""{"version": 1, "entries": [{"sessionId": "s-1", "fullPath": "/x/s-1.jsonl", "fileMtime": 1772442000000,
        "firstPrompt": "hi", "messageCount": 4, "created": "2026-03-02T09:00:00Z", "modified": "2026-03-02T10:00:00Z",
        "gitBranch": "main", "projectPath": "/w/app", "isSidechain": false, "novel": 1}, "oops"],
        "originalPath": "/w"}"""
    )
    (entry,) = index.entries
    assert (entry.session_id, entry.message_count, entry.is_sidechain) == ("s-1", 4, False)
    assert entry.file_mtime == entry.created == datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert entry.extra == {"novel": 1}
    assert index.stray == ("oops",)
    assert index.extra == {"originalPath": "/w"}


def test_custom_title() -> None:
    assert parse_custom_title(b'{"customTitle": "Mine", "by": "me"}') == CustomTitle(title="Mine", extra={"by": "me"})
    assert parse_custom_title(b"").problem == "the file is empty"


@given(st.binary(max_size=80))
def test_no_bytes_raise(data: bytes) -> None:
    is_object = data.strip().startswith(b"{")
    assert parse_sessions_index(data).problem is not None or is_object
    assert parse_custom_title(data).problem is not None or is_object


def test_an_entry_is_written_as_it_is_read() -> None:
    made = sessions_index_entry(
        "s-1", "/x/s-1.jsonl", mtime=1772442000.0, first_prompt="hi", summary="A title", messages=4, created=None,
        branch="main", project="/w/app",
    )  # fmt: skip
    (entry,) = parse_sessions_index(json.dumps({"version": 1, "entries": [made]}).encode()).entries
    assert (entry.session_id, entry.first_prompt, entry.summary, entry.message_count) == ("s-1", "hi", "A title", 4)
    assert entry.created == entry.modified == entry.file_mtime
    bare = sessions_index_entry(
        "s-1", "/x", mtime=1.0, first_prompt=None, summary=None, messages=0, created=0.0, branch=None, project=None
    )
    assert "summary" not in bare and bare["firstPrompt"] == "No prompt" and bare["gitBranch"] == ""
