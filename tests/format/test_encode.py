"""Lines of our own: the quick way to write a row says what the slow one says, byte for byte, and refuses what it refuses."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.errors import Refused
from recollect.format.encode import (
    RowContext,
    RowLines,
    assistant_message,
    check_message,
    checkpoint,
    custom_title,
    encode_line,
    new_uuid,
    row,
    tag,
    user_message,
)

_SESSION = "0f0e0d0c-0b0a-4908-8706-050403020100"
_YEAR_2200 = 7_258_118_400_000
"""Until then a number of seconds tells milliseconds apart for sure."""
_AFTER_ALL = 253_402_300_800_000
TEXTS = st.text(st.characters(codec=None, exclude_categories=()), max_size=30)


def _outcome(make: Any) -> bytes | str:
    try:
        line = make()
        assert isinstance(line, bytes)
        return line
    except Refused as problem:
        return problem.slug


@given(
    words=TEXTS,
    parent=st.none() | TEXTS,
    uuid=TEXTS,
    cwd=TEXTS,
    branch=st.none() | TEXTS,
    subagent=st.none() | st.just("a0b1c2d3"),
    moment=st.integers(0, _YEAR_2200),
    answers=st.booleans(),
)
@example("a\u2028b\u2029c\u0085d\x7f\x0b\x0c", None, "u", "/work", None, None, 0, False)
@example("a NUL: \x00", "p", "u", "/work", "main", None, 1, True)
@example("no NUL: \\u0000", "p", "u", "/work", "main", None, 1, False)
@example("half of a pair: \ud800", "p", "u", "/work", "main", "a0b1c2d3", 1, False)
@example("words", "p", "half of a pair: \udc00", "/work", "main", "a0b1c2d3", 999, False)
@example("the end of time", "p", "u", "/work", "main", None, _AFTER_ALL, False)
def test_rows_are_written_quickly_as_they_are_written_slowly(
    words: str,
    parent: str | None,
    uuid: str,
    cwd: str,
    branch: str | None,
    subagent: str | None,
    moment: int,
    answers: bool,
) -> None:
    context = RowContext(_SESSION, cwd, git_branch=branch, subagent_id=subagent)
    kind = "assistant" if answers else "user"
    message = assistant_message(words, message_id="msg_1", model="m") if answers else user_message(words)
    slowly = _outcome(lambda: encode_line(row(context, kind, uuid, parent, moment / 1000, message)))
    lines = RowLines(context)
    assert _outcome(lambda: lines.line(kind, uuid, parent, moment, message if answers else words)) == slowly
    later = moment + 1
    slowly = _outcome(lambda: encode_line(row(context, kind, uuid, parent, later / 1000, message)))
    assert _outcome(lambda: lines.line(kind, uuid, parent, later, message)) == slowly


def test_what_no_json_can_say_is_refused() -> None:
    with pytest.raises(Refused, match="JSON"):
        RowLines(RowContext(_SESSION, "/work")).line("user", "u", None, 0, {"role": "user", "content": float("nan")})


def test_new_uuids_are_spelled_as_random_ones_and_differ() -> None:
    made = {new_uuid() for _ in range(1000)}
    assert len(made) == 1000
    assert all(
        re.fullmatch("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", uuid) for uuid in made
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot copy a process")
def test_a_copied_process_does_not_give_the_same_uuids_again() -> None:
    new_uuid()  # more than one is made at once
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(send, "".join(new_uuid() for _ in range(100)).encode())
        finally:
            os._exit(0)
    os.close(send)
    with open(receive) as stream:
        theirs = stream.read()
    os.waitpid(pid, 0)
    assert len(theirs) == 3600
    assert not any(new_uuid() in theirs for _ in range(100))


@pytest.mark.parametrize("content", ["", " \n", [], [{"type": "text", "text": " "}], ({"type": "text", "text": ""},)])
def test_a_blank_message_is_refused(content: Any) -> None:
    with pytest.raises(Refused) as refused:
        check_message(content)
    assert refused.value.slug == "empty-message"


@pytest.mark.parametrize("content", ["a", [{"type": "text", "text": " "}, {"type": "image"}], ["odd"], None, 7])
def test_what_is_not_blank_passes(content: Any) -> None:
    check_message(content)


def test_state_lines() -> None:
    assert custom_title("s", "A title") == {"type": "custom-title", "customTitle": "A title", "sessionId": "s"}
    assert tag("s", "") == {"type": "tag", "tag": "", "sessionId": "s"}
    assert checkpoint("s", "u") == {"type": "last-prompt", "leafUuid": "u", "explicit": True, "sessionId": "s"}
    assert checkpoint("s", None, prompt="p")["lastPrompt"] == "p"
