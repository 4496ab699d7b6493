"""The envelope of an entry: which fields are decoded, and what happens to those of an odd type."""

from __future__ import annotations

import json
import math

import msgspec
import pytest
from msgspec import UNSET, Raw

from recollect.format.entries import (
    KNOWN_TYPES,
    REQUEST_LOG_TYPES,
    ROW_TYPES,
    STATE_TYPES,
    Entry,
    decode_entry,
    decode_exactly,
    decode_loosely,
    entry_from_fields,
)
from recollect.testing import ALL_AGES, TranscriptBuilder, sample_session, uuid_from
from recollect.testing.toolcalls import bash


def test_rows_and_state_lines_are_kept_apart() -> None:
    assert ROW_TYPES.isdisjoint(STATE_TYPES)
    assert ROW_TYPES | STATE_TYPES == KNOWN_TYPES
    assert REQUEST_LOG_TYPES < STATE_TYPES


def test_an_absent_parent_is_not_a_null_one() -> None:
    assert decode_entry(b'{"type":"user"}').parentUuid is UNSET
    assert decode_entry(b'{"type":"user","parentUuid":null}').parentUuid is None
    assert decode_entry(b'{"type":"last-prompt"}').leafUuid is UNSET
    assert decode_entry(b'{"type":"last-prompt","leafUuid":null}').leafUuid is None


def test_large_fields_stay_raw() -> None:
    entry = decode_entry(b'{"type":"user","message":{"content": [1]},"toolUseResult":{"stdout":"x"}}')
    assert bytes(entry.message) == b'{"content": [1]}'
    assert bytes(entry.toolUseResult) == b'{"stdout":"x"}'
    assert bytes(entry.attachment) == b""


def test_unknown_fields_do_not_matter() -> None:
    assert decode_entry(b'{"aura":{"colour":["blue"]},"type":"user","uuid":"u"}').uuid == "u"


@pytest.mark.parametrize("version", ALL_AGES)
def test_rows_of_every_age_are_decoded(version: str) -> None:
    t = TranscriptBuilder(uuid_from("entries"), version=version)
    t.user("hello")
    t.call(bash("ls", "a\n"), "look")
    t.assistant("done", thinking="hm")
    for line, plain in zip(t.lines, t.entries, strict=True):
        entry = decode_entry(line)
        for name in ("parentUuid", "uuid", "type", "timestamp", "isSidechain", "sessionId", "cwd", "version"):
            assert getattr(entry, name) == plain[name]
        assert decode_loosely(entry.message) == plain["message"]


@pytest.mark.parametrize(
    "data", [b"[]", b"1", b"null", b"{", b"", b'{"type":1}', b'{"isSidechain":"no"}', b'{"x":NaN}', b"\xef\xbb\xbf{}"]
)
def test_the_fast_decoder_refuses_what_is_not_plain(data: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        decode_entry(data)


class TestFromFields:
    def test_both_ways_give_the_same_entry(self) -> None:
        for line in sample_session().lines:
            fields = {name: json.dumps(value).encode() for name, value in json.loads(line).items()}
            slow, fast = entry_from_fields(fields), decode_entry(line)
            for name in Entry.__struct_fields__:
                one, other = getattr(slow, name), getattr(fast, name)
                if isinstance(other, Raw):
                    one, other = decode_loosely(one), decode_loosely(other)
                assert one == other, name

    @pytest.mark.parametrize("raw", [b"17", b"true", b"{}", b"[1]", b"1.5"])
    def test_a_text_field_of_another_type_is_left_out(self, raw: bytes) -> None:
        entry = entry_from_fields({"type": b'"user"', "cwd": raw, "timestamp": raw, "sessionId": raw})
        assert (entry.type, entry.cwd, entry.timestamp, entry.sessionId) == ("user", None, None, None)

    def test_a_parent_that_is_no_text_is_still_a_parent(self) -> None:
        """The client looks for it and finds nothing, which is not the same as a root."""
        assert entry_from_fields({"parentUuid": b"17"}).parentUuid == "<17>"
        assert entry_from_fields({"parentUuid": b"null"}).parentUuid is None
        assert entry_from_fields({}).parentUuid is UNSET

    @pytest.mark.parametrize(
        ("raw", "side"),
        [(b"true", True), (b"false", False), (b"null", None), (b'"no"', True), (b"0", False), (b'""', False)],
    )
    def test_a_sidechain_is_what_is_truthy(self, raw: bytes, side: bool | None) -> None:
        assert entry_from_fields({"isSidechain": raw}).isSidechain is side

    @pytest.mark.parametrize(("raw", "value"), [(b"1", None), (b'"true"', None), (b"true", True), (b"null", None)])
    def test_other_flags_must_be_flags(self, raw: bytes, value: bool | None) -> None:
        assert entry_from_fields({"isMeta": raw}).isMeta is value

    @pytest.mark.parametrize(("raw", "value"), [(b"12", 12), (b"1.5", 1.5), (b'"12"', None), (b"true", None)])
    def test_a_duration_must_be_a_number(self, raw: bytes, value: float | None) -> None:
        assert entry_from_fields({"durationMs": raw}).durationMs == value

    def test_unknown_fields_are_passed_over(self) -> None:
        assert entry_from_fields({"aura": b"1", "uuid": b'"u"'}).uuid == "u"


class TestDecodeLoosely:
    def test_what_the_fast_decoder_takes(self) -> None:
        assert decode_loosely(b'{"a":[1,2.5,null,"x"]}') == {"a": [1, 2.5, None, "x"]}

    def test_half_a_surrogate_pair_becomes_the_replacement_character(self) -> None:
        assert decode_loosely(rb'"\ud83d x \udc00 \ud83d\ude00 \\ud800 \ud800\ud83d\ude00"') == (
            "\ufffd x \ufffd \U0001f600 \\ud800 \ufffd\U0001f600"
        )

    def test_half_a_surrogate_pair_stays_in_what_is_written_again(self) -> None:
        assert decode_exactly(rb'"\ud83d x"').encode("utf-8", "surrogatepass") == b"\xed\xa0\xbd x"

    def test_invalid_utf8_becomes_the_replacement_character(self) -> None:
        assert decode_loosely(b'{"a":"\xff"}') == {"a": "\ufffd"}

    def test_numbers_beyond_the_usual(self) -> None:
        assert decode_loosely(b"1180591620717411303424") == 2**70
        assert decode_loosely(b"1e400") == math.inf
        value = decode_loosely(b"NaN")
        assert isinstance(value, float)
        assert math.isnan(value)

    def test_an_integer_of_many_digits_hides_nothing_beside_it(self) -> None:
        value = decode_loosely(b'{"uuid":"u","odd":' + b"7" * 5_000 + b"}")
        assert isinstance(value, dict)
        assert value["uuid"] == "u"

    def test_raw_control_characters(self) -> None:
        assert decode_loosely(b'"a\tb\x00"') == "a\tb\x00"

    @pytest.mark.parametrize("data", [b"", b"{", b"nonsense", b'{"a":1}{"b":2}', b"[" * 200_000 + b"]" * 200_000])
    def test_none_for_what_nobody_can_read(self, data: bytes) -> None:
        assert decode_loosely(data) is None
