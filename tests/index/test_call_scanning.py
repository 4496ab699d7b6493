"""Lines with token counts are found wherever they are, at every edge of a buffer."""

from __future__ import annotations

import json
from mmap import mmap
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.analysis.cost import usual_prices
from recollect.index.api_calls import sync as intake
from recollect.index.api_calls.collect import LONG, FileCalls
from recollect.index.api_calls.decode import NEEDLE
from recollect.index.api_calls.rows import LOWER_BOUND, PARTIAL
from recollect.index.api_calls.sync import sync_calls
from recollect.index.catalogue.catalogue import Catalogue
from recollect.store.home import Home


def _answer(number: int, text: str, *, turned: bool = False) -> bytes:
    """An answer; `turned`: its counts stand before its text."""
    usage = {"input_tokens": number, "output_tokens": number * 7, "cache_read_input_tokens": 10 ** (number % 9)}
    body: dict[str, Any] = {"id": f"msg_{number}", "model": "claude-x"}
    body |= {"usage": usage, "content": text} if turned else {"content": text, "usage": usage}
    told = {"type": "assistant", "message": body, "requestId": "r", "timestamp": "2026-01-02T03:04:05.678Z"}
    return json.dumps(told, separators=(",", ":")).encode()


def _line(random: Random, number: int) -> bytes:
    size = random.choice((0, 1, 40, 150, 500, LONG - 60, LONG, LONG + 1, 3 * LONG))
    text = "".join(random.choices('abc _\\"tokens{}\u00e9', k=size))
    match random.randrange(9):
        case 0 | 1 | 2:
            return _answer(number, text, turned=random.random() < 0.2)
        case 3:
            space = b" " if random.random() < 0.5 else b""
            return b'{"type":%s"cost-state","costUSD":%d}' % (space, number)
        case 4:  # its end alone, and the whole name as a value: looked at, and nothing in it
            return json.dumps({"type": "user", "message": text, "last": "output_tokens"}).encode()
        case 5:
            return NEEDLE[: random.randrange(len(NEEDLE))] + b"x" * (size % 7)
        case 6:
            return b"" if random.random() < 0.5 else _answer(number, text)[:-2]
        case 7:  # zeros, as a crash leaves them, before counts and alone
            return b"\0" * (size % 9) + random.choice(
                (b"", _answer(number, text), b'{"type":"cost-state"', b"\0put_tokens")
            )
        case _:
            return json.dumps({"type": "user", "message": text}).encode()


def _scanned(lines: list[bytes], *, before: bytes = b"", behind: bytes = b"") -> FileCalls:
    data = b"".join(line + b"\n" for line in lines)
    buffer = mmap(-1, len(before + data + behind) + 1)
    buffer[:-1] = before + data + behind
    found = FileCalls("s", None)
    with memoryview(buffer) as view:
        assert found.scan(buffer, view, len(before), len(before + data), 5) == 5 + len(lines)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_every_line_with_counts_is_taken(seed: int) -> None:
    random = Random(seed)
    lines = [_line(random, number) for number in range(random.randrange(1, 40))]
    wanted = FileCalls("s", None)
    for number, line in enumerate(lines, 6):
        if NEEDLE in line:
            wanted.take(line, number)
    # What stands around the lines belongs to others, and must not be found.
    found = _scanned(lines, before=NEEDLE * 3, behind=NEEDLE * 3)
    assert found.calls == wanted.calls
    assert found.decoded == wanted.decoded
    states = [line for line in lines if b'"cost-state"' in line and line.startswith(b"{") and line.endswith(b"}")]
    assert (found.cost_state is not None) == bool(states)


@pytest.mark.parametrize("first", [b"", b'"cwd":"/w",', b'"uuid":"u",'])
def test_answers_without_counts_are_found_among_lines_of_users(first: bytes) -> None:
    """Where a line says that it is a user's is remembered: what stands there in the line behind it is not this line's."""
    user = b"{" + first + b'"type":"user","message":{"role":"user","content":"' + b"x" * 900 + b'"}}'
    bare = b'{"message":{"id":"msg_%d","model":"claude-x","content":"' + b"y" * 700 + b'"},"type":"assistant"}'
    short = b'{"type":"assistant","message":{"id":"s%d","model":"claude-x"}}'
    before = b'{"cwd":"' + b"c" * 100 + b'",'
    behind = b'{"cwd":"' + b"c" * (100 - len(short % 5) - 1) + b'",'
    lines = [user, bare % 1, user, b"", short % 2, user, before + user[1:], short % 5, behind + user[1:], bare % 4]
    found = _scanned(lines)
    places = [(key[0], call.line) for key, call in found.calls.items()]
    assert places == [("msg_1", 7), ("s2", 10), ("s5", 13), ("msg_4", 15)]
    assert all(call.flags & PARTIAL for call in found.calls.values())


def test_lines_longer_than_the_buffer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "BUFFER", 1 << 12)
    folder = tmp_path / "claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    random = Random(3)
    for name in range(3):
        lines = [_answer(100 * name + number, "y" * random.choice((1, 3000, 70_000))) for number in range(1, 40)]
        (folder / f"{name}.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    with Catalogue.open(tmp_path / "index") as catalogue:
        assert sync_calls(catalogue, [Home(tmp_path / "claude")], usual_prices()).calls == 117


_TOLD = st.fixed_dictionaries(
    {
        "ident": st.sampled_from(["msg_1", "msg_1", "msg_1", "msg_2"]),
        "input_tokens": st.sampled_from([5, 5, 5, 6, None]),
        "output_tokens": st.sampled_from([None, 0, 1, 2, 700, 1_000_000_000, -1]),
        "stop_reason": st.sampled_from([None, None, "tool_use", "end_turn"]),
    }
)


@given(st.lists(_TOLD, min_size=1, max_size=8))
def test_of_lines_that_have_seen_more_of_an_answer_the_largest_counts_stay(told: list[dict[str, Any]]) -> None:
    lines = []
    for line in told:
        usage = {name: line[name] for name in ("input_tokens", "output_tokens")}
        message = {"id": line["ident"], "model": "m", "stop_reason": line["stop_reason"], "usage": usage}
        entry = {"type": "assistant", "message": message, "requestId": "r", "timestamp": "2026-01-02T03:04:05.678Z"}
        lines.append(json.dumps(entry, separators=(",", ":")).encode())
    found = _scanned(lines)
    for ident in {line["ident"] for line in told}:
        own = [line for line in told if line["ident"] == ident]
        call = found.calls[ident, "r", "m"]
        assert call.input == max(line["input_tokens"] or 0 for line in own)
        assert call.output == max(max(line["output_tokens"] or 0, 0) for line in own)
        reasons = [line["stop_reason"] for line in own if line["stop_reason"]]
        assert bool(call.flags & LOWER_BOUND) == (not reasons)
        whole = [line for line in own if None not in (line["input_tokens"], line["output_tokens"])]
        assert bool(call.flags & PARTIAL) == (not whole)
        assert call.stop_reason == (reasons[-1] if reasons else None)
