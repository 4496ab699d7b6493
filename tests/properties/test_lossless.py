"""Whatever the bytes are: lines out are lines in, nothing raises, and every place is the right one."""

from __future__ import annotations

import io
import json
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st
from tests.reading import SMALL_DAMAGES, Reading, read, thread_of

from recollect.format import line as line_module
from recollect.format.decode import file_entries
from recollect.format.entries import decode_loosely
from recollect.format.line import Damage, RawLine, read_entry_lines
from recollect.graph.thread import STATUSES
from recollect.testing import DAMAGES, sample_session

LINES = sample_session().lines
ODD = [
    b"", b" ", b"\r", b"\0\0\0", b"\xef\xbb\xbf", b"\xff", b"\xc3", b"42", b"[1,2]", b"null", b"NaN", b"{}", b"{", b"}", b"[",
    b'"', b"\\", b'{"type":', b'{"type":"user","uuid":"x"', b'{"a":[}', b"{}{}", b"[" * 2_000, b"]" * 2_000, b'{"a":"\\ud83d"}',
    b'{"a":"\t"}', b'{"uuid":5,"type":"user"}', b'{"type":"user","message":{"content":[null,1]}}', b"\xe2\x80\xa8", b"\x0b\x0c",
    b'{"type":"user","uuid":"n","n":NaN}', b'{"type":"user","uuid":"d","n":' + b"7" * 5_000 + b"}",
]  # fmt: skip


@st.composite
def spoiled_line(draw: st.DrawFn) -> bytes:
    """A line of the sample with something wrong in it."""
    line = draw(st.sampled_from(LINES))
    place = draw(st.integers(0, len(line)))
    match draw(st.integers(0, 4)):
        case 0:
            return line[:place]
        case 1:
            return line[place:]
        case 2:
            return line[:place] + draw(st.sampled_from(ODD)) + line[place:]
        case 3:
            return line[:place] + b"\0" * draw(st.integers(1, 40)) + line[place + draw(st.integers(0, 40)) :]
        case _:
            return line[:place] + bytes([draw(st.integers(0, 255))]) + line[place + 1 :]


SPREAD = [
    json.dumps(json.loads(line), indent=indent).encode().replace(b"\n", end)
    for line in LINES[:6]
    for indent, end in ((1, b"\n"), (0, b"\r\n"), (None, b"\n"), ("\t", b"\n\n"))
] + [b"[\n" + LINES[0] + b",\n" + LINES[1] + b"\n]"]
"""Objects over several lines, and rows in a list."""


@st.composite
def cut_spread(draw: st.DrawFn) -> bytes:
    """Some lines of an object that goes over several."""
    lines = draw(st.sampled_from(SPREAD)).split(b"\n")
    start, end = draw(st.integers(0, 3)), draw(st.integers(1, len(lines)))
    return b"\n".join(lines[start:end])


PIECES = (
    st.sampled_from(LINES)
    | st.sampled_from(SPREAD)
    | cut_spread()
    | st.sampled_from(ODD)
    | spoiled_line()
    | st.binary(max_size=20)
)
#: Pieces are mostly lines, but now and then two of them are glued together.
MIXES = st.lists(st.tuples(PIECES, st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b""])), max_size=8).map(
    lambda pieces: b"".join(piece + end for piece, end in pieces)
)


def check(reading: Reading) -> None:
    data = reading.data
    assert b"".join(line.data for line in reading.lines) == data
    offset = 0
    for line in reading.lines:
        assert line.offset == offset
        offset += len(line.data)
    starts = [item.offset for item in reading.found]
    assert starts == sorted(set(starts))
    end = 0
    for item in reading.found:
        assert end <= item.offset < item.offset + item.length <= len(data)
        end = item.offset + item.length
        assert item.line == data.count(b"\n", 0, item.offset) + 1
        value = decode_loosely(reading.at(item))
        if value is None:
            assert "too-deep" in reading.kinds or b"[" * 900 in reading.at(item)
        else:
            assert isinstance(value, dict)
            uuid = value.get("uuid")
            assert item.entry.uuid == (uuid if isinstance(uuid, str) else item.entry.uuid)
            kind = value.get("type")
            assert item.entry.type == (kind if isinstance(kind, str) else None)
    for damage in reading.damage:
        assert damage.kind in line_module.DAMAGE_KINDS
        assert 0 <= damage.offset <= damage.offset + damage.length <= len(data)
        assert damage.line == data.count(b"\n", 0, damage.offset) + 1


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    check(read(data))


@given(st.text(alphabet='{}[]":,\\ \n\r\0ud8e0tfnax1-.', max_size=80).map(str.encode))
def test_any_bytes_that_look_like_json(data: bytes) -> None:
    check(read(data))


@given(MIXES)
def test_any_mix_of_lines_and_damage(data: bytes) -> None:
    check(read(data))


@given(MIXES, st.integers(1, 64), st.integers(64, 400))
def test_long_lines_in_pieces(data: bytes, piece: int, limit: int) -> None:
    with mock.patch.object(line_module, "PIECE", piece), mock.patch.object(line_module, "HELD_LIMIT", limit):
        reading = read(data)
    assert b"".join(line.data for line in reading.lines) == data
    assert all(len(line.data) <= max(piece, limit) for line in reading.lines if line.lines == 1)
    for item in reading.found:
        assert isinstance(decode_loosely(reading.at(item)) or {}, dict)


@given(MIXES)
def test_any_mix_has_a_thread(data: bytes) -> None:
    thread = thread_of(data)
    assert all(item.status in STATUSES for item in thread.placements)


@given(
    st.lists(st.sampled_from(LINES), max_size=6), st.lists(st.sampled_from([b"", b" ", b"\0", b"\0\0\0"]), max_size=6)
)
def test_every_object_of_a_glued_line_is_found(lines: list[bytes], between: list[bytes]) -> None:
    glued = b"".join(line + gap for line, gap in zip(lines, [*between, *[b""] * len(lines)], strict=False))
    reading = read(glued + b"\n")
    assert [reading.at(item).strip() for item in reading.found] == lines


@given(st.sampled_from(LINES), st.integers(1, 400), st.lists(st.sampled_from(LINES), min_size=1, max_size=3))
def test_every_object_behind_a_torn_one_is_found(torn: bytes, cut: int, lines: list[bytes]) -> None:
    head = torn[: max(1, len(torn) - cut)]
    reading = read(head + b"".join(lines) + b"\n")
    assert [reading.at(item) for item in reading.found] == lines
    assert ("torn", head) in reading.harm


NAMES = st.sampled_from(sorted(set(SMALL_DAMAGES) - {"nul-line-long"}))


@given(NAMES, NAMES, st.integers(0, 1_000))
def test_damage_upon_damage(first: str, second: str, seed: int) -> None:
    data = DAMAGES[second].apply(DAMAGES[first].make(seed), seed + 1)
    check(read(data))
    thread_of(data)


PLAIN = st.none() | st.booleans() | st.floats() | st.integers() | st.text()
ANY_VALUE = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)
FIELDS = (
    "type", "uuid", "parentUuid", "timestamp", "isSidechain", "message", "attachment", "data", "compactMetadata", "leafUuid",
    "toolUseResult",
)  # fmt: skip


KINDS = st.sampled_from(["user", "assistant", "system", "attachment", "progress", "last-prompt"])


@given(KINDS, ANY_VALUE)
def test_any_value_in_any_field(kind: str, value: object) -> None:
    raw = json.dumps(value)
    for name in FIELDS:
        line = f'{{"subtype":"compact_boundary","uuid":"u","type":"{kind}","{name}":{raw}}}\n'.encode()
        thread_of(line + LINES[1] + b"\n" + line)


def units(data: bytes, start: int = 0, number: int = 1) -> list[RawLine]:
    stream = io.BytesIO(data)
    stream.seek(start)
    return list(read_entry_lines(stream, offset=start, number=number))


@given(MIXES, st.lists(st.integers(0, 10_000), max_size=6))
def test_a_file_that_grows_is_read_as_one_that_was_always_there(data: bytes, sizes: list[int]) -> None:
    """What is not closed yet waits for its end, like half a line."""
    taken: list[RawLine] = []
    for size in [*sorted(size % (len(data) + 1) for size in sizes), len(data)]:
        last = taken[-1] if taken else None
        start, number = (last.offset + len(last.data), last.last_number + 1) if last is not None else (0, 1)
        for line in units(data[:size], start, number):
            if line.unclosed or not line.data.endswith(b"\n"):
                break
            taken.append(line)
    whole = units(data)
    assert taken == whole[: len(taken)]
    assert all(line.unclosed for line in whole[len(taken) :]) or not whole[len(taken)].data.endswith(b"\n")


@given(MIXES)
def test_the_quick_way_through_a_file_finds_what_the_careful_one_finds(data: bytes) -> None:
    reading = read(data)
    damage: list[Damage] = []
    quick = file_entries(io.BytesIO(data), damage)
    assert [item[1:] for item in quick] == [item[1:] for item in reading.found]
    assert damage == reading.damage
    assert quick.size == len(data)
    assert quick.lines == (reading.lines[-1].last_number if reading.lines else 0)
