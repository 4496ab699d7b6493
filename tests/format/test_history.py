"""The prompt history, line by line."""

from __future__ import annotations

import io
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from recollect.format.history import HistoryEntry, PastedContent, parse_history_line, read_history

LINE = (
    b'{"display":"fix it [Pasted text #1 +2 lines]","pastedContents":{"1":{"id":1,"type":"text","content":"a\\nb"}},'
    b'"timestamp":1772442000000,"project":"/w/app","sessionId":"s-1"}\n'
)


def test_a_line() -> None:
    (entry,) = parse_history_line(LINE)
    assert entry == HistoryEntry(
        line=1,
        offset=0,
        display="fix it [Pasted text #1 +2 lines]",
        pasted=(PastedContent(key="1", id="1", type="text", content="a\nb"),),
        timestamp=datetime(2026, 3, 2, 9, tzinfo=UTC),
        project="/w/app",
        session_id="s-1",
    )


def test_a_paste_that_lies_elsewhere() -> None:
    (entry,) = parse_history_line(
        b'{"display":"x","pastedContents":{"2":{"id":2,"type":"text","contentHash":"ab12","n":1}}}'
    )
    assert entry.pasted == (PastedContent(key="2", id="2", type="text", content_hash="ab12", extra={"n": 1}),)


def test_pastes_of_a_strange_shape_are_kept() -> None:
    (entry,) = parse_history_line(b'{"display":"x","pastedContents":{"1":"text"}}')
    assert entry.pasted == ()
    assert entry.extra == {"pastedContents": {"1": "text"}}


def test_a_file_with_damage() -> None:
    data = b"\xef\xbb\xbf" + LINE + b"\r\n\n" + b'{"display":"torn\n' + b"[1]\n" + b'{"display":"last","future":true}'
    entries = list(read_history(io.BytesIO(data)))
    assert [(entry.line, entry.display, entry.problem is None) for entry in entries] == [
        (1, "fix it [Pasted text #1 +2 lines]", True),
        (4, None, False),
        (5, None, False),
        (6, "last", True),
    ]
    torn = entries[1]
    assert torn.damaged == b'{"display":"torn\n'
    assert data[torn.offset :].startswith(torn.damaged)
    assert entries[-1].extra == {"future": True}


def test_two_prompts_glued_on_one_line_are_both_found() -> None:
    entries = parse_history_line(b'{"display":"one"}{"display":"two"}\n', number=3)
    assert [(entry.display, entry.line) for entry in entries] == [("one", 3), ("two", 3)]
    assert entries[0].problem == "two or more objects on one line"


def test_invalid_utf8_is_read_and_its_bytes_are_kept() -> None:
    line = b'{"display":"caf\xe9"}'
    (entry,) = parse_history_line(line)
    assert entry.display == "caf\ufffd"
    assert entry.damaged == line


@given(st.lists(st.binary(max_size=60).map(lambda line: line.replace(b"\n", b"") + b"\n"), max_size=5))
def test_no_bytes_raise(lines: list[bytes]) -> None:
    entries = list(read_history(lines))
    assert all(entry.problem is None or entry.damaged == lines[entry.line - 1] for entry in entries)
