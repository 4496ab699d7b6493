from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from recollect.format.session_meta import CustomTitle, parse_custom_title, parse_sessions_index


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
