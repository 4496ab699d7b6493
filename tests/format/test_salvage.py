"""The slow path: every complete object on a damaged line is found, and what is left has a place."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.reading import read

from recollect.format import salvage
from recollect.format.entries import REFUSED, decode_graph_entry
from recollect.format.line import RawLine
from recollect.format.salvage import has_lone_surrogate, is_utf8, salvage_line, skim_object


def row(uuid: str, text: str = "hello") -> bytes:
    value = {"parentUuid": None, "type": "user", "uuid": uuid, "message": {"role": "user", "content": text}}
    return json.dumps(value, separators=(",", ":")).encode()


A, B, C = row("a"), row("b"), row("c")
TORN_IN_TEXT = row("torn", "half of a sentence")[:-13]
TORN_IN_NAME = b'{"parentUuid":null,"type":"user","uu'
TORN_BEHIND_COLON = b'{"parentUuid":null,"type":'
STATE = b'{"type":"last-prompt","leafUuid":"a","sessionId":"s"}'
SUMMARY = b'{"type":"summary","summary":"A title","leafUuid":"a"}'


class TestGlued:
    @pytest.mark.parametrize("between", [b"", b" ", b"\t ", b"\r"])
    def test_both_objects_are_found_and_the_client_reads_the_first(self, between: bytes) -> None:
        reading = read(A + between + B + b"\n")
        assert [reading.at(item) for item in reading.found] == [A, B]
        assert [item.client_reads for item in reading.found] == [True, False]
        assert reading.harm == [("glued", A + between + B)]

    def test_a_space_before_the_first_one_hides_nothing_from_the_client(self) -> None:
        reading = read(b" " + A + B + b"\n")
        assert [reading.at(item) for item in reading.found] == [A, B]
        assert [item.client_reads for item in reading.found] == [True, False]

    def test_many(self) -> None:
        rows = [row(str(number)) for number in range(200)]
        reading = read(b"".join(rows))
        assert [reading.at(item) for item in reading.found] == rows
        assert reading.kinds == ["no-newline", "glued"]

    def test_words_behind_an_object(self) -> None:
        reading = read(A + b" Killed\n")
        assert [reading.at(item) for item in reading.found] == [A]
        assert reading.found[0].client_reads
        assert reading.harm == [("not-json", b"Killed")]

    def test_words_before_an_object(self) -> None:
        reading = read(b"Killed " + A + b"\n")
        assert [reading.at(item) for item in reading.found] == [A]
        assert not reading.found[0].client_reads
        assert ("not-json", b"Killed ") in reading.harm

    def test_an_object_nested_too_deeply_beside_a_plain_one(self) -> None:
        deep = b'{"type":"x","uuid":"d","x":' + b"[" * 5_000 + b"]" * 5_000 + b"}"
        reading = read(deep + A + b"\n")
        assert [reading.at(item) for item in reading.found] == [deep, A]


class TestTornAndGlued:
    @pytest.mark.parametrize("torn", [TORN_IN_TEXT, TORN_IN_NAME, TORN_BEHIND_COLON, b"{", b'{"'])
    @pytest.mark.parametrize("whole", [A, STATE, SUMMARY])
    def test_the_object_behind_a_torn_one_is_found(self, torn: bytes, whole: bytes) -> None:
        reading = read(torn + whole + b"\n")
        assert [reading.at(item) for item in reading.found] == [whole]
        assert not reading.found[0].client_reads
        assert ("torn", torn) in reading.harm

    def test_two_objects_behind_a_torn_one(self) -> None:
        reading = read(TORN_IN_TEXT + A + B + b"\n")
        assert [reading.at(item) for item in reading.found] == [A, B]
        assert ("torn", TORN_IN_TEXT) in reading.harm

    def test_torn_whole_torn_whole(self) -> None:
        reading = read(TORN_IN_TEXT + A + TORN_IN_NAME + B + b"\n")
        assert [reading.at(item) for item in reading.found] == [A, B]
        assert [kind for kind, _ in reading.harm].count("torn") == 2

    def test_whole_torn(self) -> None:
        reading = read(A + TORN_IN_TEXT + b"\n")
        assert [reading.at(item) for item in reading.found] == [A]
        assert reading.found[0].client_reads
        assert ("torn", TORN_IN_TEXT) in reading.harm

    def test_an_inner_object_of_a_torn_row_is_not_taken_for_an_entry(self) -> None:
        inner = b'{"type":"tool_use","uuid":"no row","id":"t","input":{}}'
        torn = b'{"type":"assistant","uuid":"torn","message":{"content":[' + inner + b',{"type":"text","te'
        reading = read(torn + b"\n")
        assert reading.found == []
        assert reading.harm == [("torn", torn)]

    def test_a_torn_object_says_what_it_was(self) -> None:
        (damage,) = salvage_line(RawLine(TORN_IN_TEXT, 0, 3)).damage
        assert (damage.kind, damage.line) == ("torn", 3)
        assert damage.detail == 'type="user" uuid="torn"'

    @pytest.mark.parametrize(
        ("torn", "detail"),
        [
            (b'{"type":"user","uuid":"u","text":"wor', 'type="user" uuid="u"'),
            (b'{"type":"user","uuid":"u","message":{"content":[{"type":"text","text":"wor', 'type="user" uuid="u"'),
            (b'{"type":"user","message":{"type":"text"},"uuid":"u","n":1', 'type="user" uuid="u"'),
            (b'{"type":"user","text":"a\\n","uuid":"u","te', 'type="user" uuid="u"'),
            (b'{"n":-1.5e3,"type":"user","uuid":"u', 'type="user" uuid="u"'),
            (b'{"type":"user","uuid":', 'type="user"'),
            (b'{"type":"\x1b[2J","text":"wor', ""),
            (b'{"text":"wor', ""),
        ],
    )
    def test_type_and_uuid_are_told_wherever_it_is_torn(self, torn: bytes, detail: str) -> None:
        (damage,) = salvage_line(RawLine(torn + b"\n", 0, 3)).damage
        assert (damage.kind, damage.detail) == ("torn", detail)

    @pytest.mark.timeout(30)
    def test_a_torn_line_of_nested_types_takes_no_time(self) -> None:
        """Each of them may be the start of an entry; looking to the end from every one would take minutes."""
        torn = b'{"type":' * 20_000
        reading = read(torn + b"\n")
        assert reading.found == []
        assert reading.harm == [("torn", torn)]

    @pytest.mark.timeout(30)
    def test_a_torn_line_of_many_blocks_takes_no_time(self) -> None:
        block = b'{"type":"text","text":"a line of some length, as in any tool result"},'
        torn = b'{"type":"assistant","uuid":"torn","message":{"content":[' + block * 100_000
        reading = read(torn + b"\n")
        assert reading.found == []
        assert reading.harm == [("torn", torn)]


class TestNuls:
    @pytest.mark.parametrize("count", [1, 200, 150_000])
    def test_before_an_object(self, count: int) -> None:
        reading = read(b"\0" * count + A + b"\n" + B + b"\n")
        assert [reading.at(item) for item in reading.found] == [A, B]
        assert [item.client_reads for item in reading.found] == [False, True]
        assert reading.harm == [("nul", b"\0" * count)]

    def test_a_space_behind_the_nuls_glues_nothing(self) -> None:
        reading = read(b"\0\0 " + A + b"\n")
        assert [reading.at(item) for item in reading.found] == [A]
        assert reading.harm == [("nul", b"\0\0")]

    def test_behind_an_object(self) -> None:
        reading = read(A + b"\0" * 200 + b"\n")
        assert [reading.at(item) for item in reading.found] == [A]
        assert reading.found[0].client_reads  # it stops reading the line when the object is complete
        assert reading.harm == [("nul", b"\0" * 200)]

    def test_between_objects(self) -> None:
        reading = read(A + b"\0\0" + B + b"\0" + C + b"\n")
        assert [reading.at(item) for item in reading.found] == [A, B, C]
        assert [item.client_reads for item in reading.found] == [True, False, False]
        assert [item for item in reading.harm if item[0] == "nul"] == [("nul", b"\0\0"), ("nul", b"\0")]

    def test_between_a_torn_object_and_a_whole_one(self) -> None:
        reading = read(TORN_IN_TEXT + b"\0" * 512 + A + b"\n")
        assert [reading.at(item) for item in reading.found] == [A]
        assert sorted(reading.harm) == [("nul", b"\0" * 512), ("torn", TORN_IN_TEXT)]

    def test_nothing_but_nuls(self) -> None:
        reading = read(b"\0" * 4096)
        assert reading.found == []
        assert reading.harm == [("nul", b"\0" * 4096)]

    def test_inside_a_string(self) -> None:
        line = row("a", "x").replace(b'"x"', b'"x\0y"')
        reading = read(line + b"\n")
        assert [reading.at(item) for item in reading.found] == [line]
        assert not reading.found[0].client_reads
        assert "nul" in reading.kinds


class TestTooDeep:
    def test_an_object(self) -> None:
        line = b'{"type":"user","uuid":"deep","x":' + b'{"a":' * 200_000 + b"1" + b"}" * 200_001
        reading = read(line + b"\n" + A + b"\n")
        assert [reading.at(item) for item in reading.found] == [line, A]
        assert (reading.found[0].entry.type, reading.found[0].entry.uuid) == ("user", "deep")
        assert reading.harm == [("too-deep", line)]

    def test_an_array_is_no_entry(self) -> None:
        line = b"[" * 200_000 + b"]" * 200_000
        reading = read(line + b"\n" + A + b"\n")
        assert [reading.at(item) for item in reading.found] == [A]
        assert reading.harm
        assert reading.harm[0][1] == line

    def test_an_object_inside_an_array_is_no_entry(self) -> None:
        line = b"[" * 5_000 + A + b"]" * 5_000
        assert read(line + b"\n").found == []

    @pytest.mark.parametrize("opening", [b"[", b'{"a":'])
    def test_torn(self, opening: bytes) -> None:
        torn = b'{"type":"user","uuid":"deep","x":' + opening * 200_000
        reading = read(torn + b"\n" + A + b"\n")
        assert [reading.at(item) for item in reading.found] == [A]
        assert reading.harm == [("torn", torn)]

    def test_every_other_damage_of_the_line_is_still_named(self) -> None:
        line = b'{"type":"user","uuid":"deep","n":NaN,"x":' + b"[" * 5_000 + b"]" * 5_000 + b"}"
        reading = read(line + b"\n")
        assert reading.uuids == ["deep"]
        assert "too-deep" in reading.kinds


class TestNoJson:
    @pytest.mark.parametrize(
        "line",
        [b"{'type':'user'}", b'{"type":"user",}', b'{"type":user}', b'{"type":"\\q"}', b"{}}", b'{"a":01}', b"{\xff}"],
    )
    def test_what_looks_like_an_object_and_is_none_is_reported(self, line: bytes) -> None:
        reading = read(line + b"\n")
        assert [item for item in reading.found if item.entry.type] == []
        assert reading.harm

    @pytest.mark.parametrize("line", [b"42", b'"text"', b"[1,2]", b"null", b"true", b"-1.5e9", b"[{}]"])
    def test_values_that_are_no_objects(self, line: bytes) -> None:
        reading = read(line + b"\n")
        assert reading.found == []
        assert reading.harm == [("not-object", line)]

    def test_nan_alone_is_two_things_at_once(self) -> None:
        assert set(read(b"NaN\n").kinds) == {"nonstandard-number", "not-object"}


@pytest.mark.parametrize("constant", [b"NaN", b"Infinity", b"-Infinity"])
def test_numbers_that_json_does_not_have(constant: bytes) -> None:
    line = A.replace(b'"hello"', constant)
    reading = read(line + b"\n")
    assert [reading.at(item) for item in reading.found] == [line]
    assert not reading.found[0].client_reads
    assert reading.harm == [("nonstandard-number", line)]


@pytest.mark.parametrize("constant", ["NaN", "Infinity"])
def test_the_words_for_such_numbers_are_text(constant: str) -> None:
    assert read(row("a", constant) + b"\n").damage == []


@pytest.mark.parametrize("control", [b"\t", b"\x1b[31m", b"\x0b\x0c", b"\x01"])
def test_raw_control_characters(control: bytes) -> None:
    line = A.replace(b"hello", b"he" + control + b"llo")
    reading = read(line + b"\n")
    assert [reading.at(item) for item in reading.found] == [line]
    assert not reading.found[0].client_reads
    assert reading.harm == [("control-character", line)]


def test_several_faults_of_one_line_are_all_named() -> None:
    line = A.replace(b'"hello"', b'"\xff\t\\ud800",   "n":NaN')
    assert set(read(line + b"\n").kinds) == {"encoding", "control-character", "surrogate", "nonstandard-number"}


ESCAPES = st.lists(
    st.sampled_from(["\\ud83d", "\\uDE00", "\\uD83D\\uDE00", "\\\\", "\\n", "x", "ud83d", "\\u00e4"]), max_size=8
)


@given(ESCAPES)
@example(["\\\\", "ud83d", "\\uDE00"])
@example(["\\ud83d", "\\uD83D\\uDE00", "\\uDE00"])
def test_half_of_a_pair_is_told_from_a_whole_one(parts: list[str]) -> None:
    text = '{"x":"' + "".join(parts) + '"}'
    lone = any("\ud800" <= character <= "\udfff" for character in json.loads(text)["x"])
    assert has_lone_surrogate(text.encode()) is lone


class TestSkim:
    def test_fields_are_raw_json(self) -> None:
        skimmed = skim_object(b'{"a": 1 , "b":{"c":[1,"}"]},"d":"x\\"y"} rest', 0)
        assert skimmed.complete
        assert skimmed.fields == {"a": b"1", "b": b'{"c":[1,"}"]}', "d": b'"x\\"y"'}
        assert skimmed.end == 39

    def test_the_last_of_two_equal_names_counts(self) -> None:
        assert skim_object(b'{"a":1,"a":2}', 0).fields == {"a": b"2"}

    def test_names_are_decoded(self) -> None:
        assert skim_object(b'{"\\u0061b":1}', 0).fields == {"ab": b"1"}

    @pytest.mark.parametrize("cut", range(1, 30))
    def test_a_cut_object_is_not_complete(self, cut: int) -> None:
        whole = b'{"a":"x y","b":[1,{"c":2}],"d":true}'
        assert not skim_object(whole[:-cut], 0).complete

    @given(st.dictionaries(st.text(), st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5)))
    def test_it_agrees_with_a_json_reader(self, value: dict[str, object]) -> None:
        for ascii_only in (True, False):
            data = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
            skimmed = skim_object(b"  " + data + b" {", 2)
            assert skimmed.complete
            assert skimmed.end == 2 + len(data)
            assert {
                name: json.loads(raw.decode("utf-8", "surrogatepass")) for name, raw in skimmed.fields.items()
            } == value


@pytest.mark.parametrize("value", [b"NaN", b"-Infinity", b'[NaN,{"x":Infinity}]', b'{"NaN":"Infinity","y":[NaN]}'])
def test_constants_are_read_alike_with_and_without_escapes(value: bytes) -> None:
    """A line without a backslash takes the quick way; an escape in another field sends it the slow one."""
    quick = read(A.replace(b'"hello"', b'"NaN, hello","n":' + value) + b"\n")
    slow = read(A.replace(b'"hello"', b'"NaN, h\\u0065llo","n":' + value) + b"\n")
    assert quick.kinds == slow.kinds == ["nonstandard-number"]
    assert [item.entry.uuid for item in quick.found] == [item.entry.uuid for item in slow.found] == ["a"]
    assert [item.client_reads for item in quick.found] == [item.client_reads for item in slow.found] == [False]


@pytest.mark.parametrize("value", [b"-NaN", b"NaN1", b"1NaN", b"NaNNaN", b"Infinity-"])
def test_what_only_looks_like_a_constant_is_damage(value: bytes) -> None:
    assert "nonstandard-number" not in read(A.replace(b'"hello"', b'"hello","n":' + value) + b"\n").kinds


class TestVeryLong:
    """A line too long to be decoded: only the names and places of its members are found."""

    @pytest.mark.parametrize(
        ("data", "found", "kinds"),
        [
            (A + b"\r\n", 1, []),
            (b"  " + A, 1, []),
            (A + b" " + B + b"\n", 1, ["glued"]),
            (row("a", "\ud800"), 1, ["surrogate"]),
            (TORN_IN_TEXT + b"\n", 0, ["torn"]),
            (b"x" * 40, 0, ["not-json"]),
            (b" " * 40, 0, []),
        ],
    )
    def test_what_is_found(self, monkeypatch: pytest.MonkeyPatch, data: bytes, found: int, kinds: list[str]) -> None:
        monkeypatch.setattr(salvage, "LARGE", 30)
        result = salvage_line(RawLine(data, 0, 1))
        assert len(result.found) == found
        assert [item.kind for item in result.damage] == kinds
        assert all(item.entry.uuid == "a" for item in result.found)


@pytest.mark.parametrize("piece", [3, 4, 5, 1 << 20])
def test_utf8_is_checked_over_the_ends_of_pieces(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(salvage, "_PIECE", piece)
    text = "aé世🌍".encode() * 3
    assert is_utf8(text)
    assert not is_utf8(text[:-1]) and not is_utf8(b"abc\xff" + text)


@pytest.mark.parametrize("between", [b"\t", b" \t ", b"\r"])
def test_a_tab_between_values_is_no_damage_beside_one_in_a_string(between: bytes) -> None:
    line = A.replace(b'"hello"', b'"he\tllo","n":' + between + b"1")
    reading = read(line + b"\n")
    assert [reading.at(item) for item in reading.found] == [line]
    assert reading.harm == [("control-character", line)]


PARTS = st.sampled_from(
    [A, A[:20], A[30:], b'{"type":"user","uuid":"x","t":"', b'"}', b"}", b"{", b'"', b"\\", b",", b":", b"[", b"]", b"\0", b"\t",
     b"\x01", b"NaN", b"-Infinity", b"tru", b"1e999", b"\xff", b"\\ud83d", b" ", b"words", b'"n":1.']
)  # fmt: skip


@given(st.lists(PARTS, min_size=1, max_size=6), st.sampled_from([b"\n", b"\r\n", b""]))
@example([b'{"a":"b', b"\\"], b"\n")
@example([b'{"a":tru'], b"\n")
@example([b'{"\xfft","k":"a\tb"}'], b"\n")
def test_the_error_of_a_decoder_saves_work_and_changes_nothing(parts: list[bytes], end: bytes) -> None:
    line = RawLine(b"".join(parts) + end, 0, 2)
    try:
        decode_graph_entry(line.data)
    except REFUSED as problem:
        told, untold = salvage_line(line, problem), salvage_line(line)
        assert told.damage == untold.damage
        places = [
            [(item.data, item.start, item.end, item.client_reads) for item in one.found] for one in (told, untold)
        ]
        assert places[0] == places[1]
