"""Lines to entries: what is found, what is reported, and that both point at the right bytes."""

from __future__ import annotations

import json

import pytest
from tests.reading import SMALL_DAMAGES, read

from recollect.format import line as line_module
from recollect.format.line import BOM, DAMAGE_KINDS, HARMLESS
from recollect.testing import DAMAGES, DamageRecipe, sample_session
from recollect.testing.damage.recipe import SAMPLE_ROWS

ONE = b'{"parentUuid":null,"type":"user","uuid":"one","message":{"role":"user","content":"a"}}'
TWO = b'{"parentUuid":"one","type":"user","uuid":"two","message":{"role":"user","content":"b"}}'
TORN = b'{"parentUuid":"one","type":"user","uuid":"torn","message":{"role":"us'
DEEP = b'{"type":"user","uuid":"deep","x":' + b"[" * 200_000 + b"]" * 200_000 + b"}"

#: Kind of damage: the second line of a file, and the bytes of it that the damage must point at.
PLACES: dict[str, tuple[bytes, bytes]] = {
    "torn": (TORN, TORN),
    "glued": (ONE + TWO, ONE + TWO),
    "nul": (b"\0\0\0" + TWO, b"\0\0\0"),
    "not-json": (b"Segmentation fault", b"Segmentation fault"),
    "not-object": (b"[1,2]", b"[1,2]"),
    "surrogate": (b'{"type":"tag","tag":"\\ud83d"}', b'{"type":"tag","tag":"\\ud83d"}'),
    "nonstandard-number": (b'{"type":"tag","x":NaN}', b'{"type":"tag","x":NaN}'),
    "control-character": (b'{"type":"tag","tag":"a\tb"}', b'{"type":"tag","tag":"a\tb"}'),
    "several-lines": (TWO.replace(b",", b",\n"), TWO.replace(b",", b",\n")),
    "too-deep": (DEEP, DEEP),
    "blank": (b" \t ", b" \t \n"),
    "crlf": (TWO + b"\r", b"\r\n"),
}


@pytest.mark.parametrize("kind", PLACES)
def test_damage_points_at_exactly_its_bytes(kind: str) -> None:
    line, expected = PLACES[kind]
    reading = read(ONE + b"\n" + line + b"\n" + TWO + b"\n")
    (damage,) = reading.damage
    assert (damage.kind, damage.line) == (kind, 2)
    assert reading.at(damage) == expected
    assert (reading.uuids[0], reading.uuids[-1]) == ("one", "two")


def test_a_byte_order_mark_is_three_bytes_at_the_start() -> None:
    reading = read(BOM + ONE + b"\n" + TWO + b"\n")
    assert [(item.kind, item.line, reading.at(item)) for item in reading.damage] == [("bom", 1, BOM)]
    assert [reading.at(item) for item in reading.found] == [ONE, TWO]
    assert [item.line for item in reading.found] == [1, 2]


def test_a_missing_line_feed_is_noted_behind_the_last_byte() -> None:
    reading = read(ONE + b"\n" + TWO)
    assert [(item.kind, item.line, item.offset, item.length) for item in reading.damage] == [
        ("no-newline", 2, len(reading.data), 0)
    ]
    assert reading.at(reading.found[-1]) == TWO


@pytest.mark.parametrize("glued", [False, True])
def test_invalid_utf8_is_found_inside_the_span_that_is_reported(glued: bool) -> None:
    bad = ONE.replace(b'"a"', b'"\xff"')
    reading = read(TWO + b"\n" + bad + (TWO if glued else b"") + b"\n")
    (damage,) = [item for item in reading.damage if item.kind == "encoding"]
    assert damage.line == 2
    assert b"\xff" in reading.at(damage)
    assert b"\n" not in reading.at(damage)
    assert reading.at(reading.found[1]) == bad


def test_a_line_too_long_to_hold_is_one_damage_and_no_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_module, "PIECE", 64)
    monkeypatch.setattr(line_module, "HELD_LIMIT", 200)
    # The last piece of the long line is made to look like an entry of its own.
    inner = b'{"type":"user","uuid":"inner"}'
    long = b'{"type":"tag","tag":"' + b"x" * (64 * 4 - 21) + inner
    reading = read(ONE + b"\n" + long + b"\n" + TWO + b"\n")
    assert b"".join(line.data for line in reading.lines) == reading.data
    assert reading.uuids == ["one", "two"]
    assert [(item.kind, item.line, item.offset) for item in reading.damage] == [("oversize", 2, len(ONE) + 1)]
    assert reading.at(reading.damage[0]).rstrip(b"\n") == long


def test_the_line_behind_a_long_one_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_module, "PIECE", 64)
    monkeypatch.setattr(line_module, "HELD_LIMIT", 200)
    reading = read(b"x" * 1000 + b"\n" + TWO + b"\n")
    assert reading.at(reading.found[-1]) == TWO
    assert reading.found[-1].line == 2


def test_every_kind_is_provoked_here() -> None:
    assert set(PLACES) | {"bom", "no-newline", "encoding", "oversize", "several-lines-unread"} == set(DAMAGE_KINDS)


def test_a_healthy_file_has_no_damage() -> None:
    reading = read(sample_session().to_bytes())
    assert reading.damage == []
    assert [reading.at(item) for item in reading.found] == sample_session().lines
    assert all(item.client_reads for item in reading.found)


def test_harmless_damage_hides_nothing() -> None:
    reading = read(BOM + ONE + b"\r\n\r\n  \n" + TWO)
    assert reading.uuids == ["one", "two"]
    assert reading.kinds == ["bom", "crlf", "blank", "blank", "no-newline"]
    assert set(reading.kinds) <= HARMLESS
    assert [reading.at(item) for item in reading.found] == [ONE, TWO]


def test_a_mark_inside_the_file_is_no_byte_order_mark() -> None:
    reading = read(ONE + b"\n" + BOM + TWO + b"\n")
    assert "bom" not in reading.kinds
    assert reading.uuids == ["one", "two"]


@pytest.mark.parametrize("first", [b"\xbb", b"\xef", b"\xbf\xbb"])
def test_part_of_a_byte_order_mark_moves_no_offset(first: bytes) -> None:
    reading = read(first + ONE + b"\n")
    assert [reading.at(item) for item in reading.found] == [ONE]
    assert ("not-json", first) in reading.harm


def test_a_file_of_nothing_but_a_byte_order_mark() -> None:
    reading = read(BOM)
    assert reading.found == []
    assert reading.kinds[0] == "bom"


SOUND = {
    "2 to the power of 70": b'"odd":1180591620717411303424',
    "1e400": b'"odd":1e400',
    "-0.0": b'"odd":-0.0',
    "5,000 digits": b'"odd":' + b"7" * 5_000,
    "duplicate key": b'"uuid":"other"',
    "duplicate key of another type": b'"uuid":17',
    "empty key": b'"":1',
    "paired surrogates": b'"odd":"\\ud83d\\ude00"',
    "escaped NUL": b'"odd":"\\u0000"',
    "line separators": '"odd":"\u2028\u2029\u0085"'.encode(),
}


@pytest.mark.parametrize("field", SOUND.values(), ids=SOUND)
def test_odd_but_sound_json_is_no_damage(field: bytes) -> None:
    line = b"{" + field + b"," + ONE[1:]
    reading = read(line + b"\n")
    assert reading.damage == []
    assert reading.uuids == ["one"]  # of two fields of one name the last one counts
    assert reading.at(reading.found[0]) == line
    assert reading.found[0].client_reads


@pytest.mark.parametrize("odd", [field for name, field in SOUND.items() if "duplicate" not in name])
def test_sound_oddities_hide_nothing_from_the_slow_path(odd: bytes) -> None:
    """Glued to another object, the same fields go through the patient reader."""
    line = b"{" + odd + b"," + ONE[1:]
    reading = read(line + TWO + b"\n")
    assert [reading.at(item) for item in reading.found] == [line, TWO]
    assert reading.harm == [("glued", line + TWO)]


WRONG_TYPES = ["17", "null", "true", "[]", "{}", '"x"', "1e400", "NaN"]


@pytest.mark.parametrize("value", WRONG_TYPES)
@pytest.mark.parametrize(
    "name", ["type", "uuid", "parentUuid", "timestamp", "isSidechain", "message", "version", "cwd"]
)
def test_a_field_of_any_type_never_hides_the_entry(name: str, value: str) -> None:
    line = f'{{"sessionId":"s","{name}":{value}}}'.encode()
    reading = read(line + b"\n")
    assert [reading.at(item) for item in reading.found] == [line]
    assert reading.found[0].entry.sessionId == "s"


every_recipe = pytest.mark.parametrize("recipe", DAMAGES.values(), ids=DAMAGES)


@every_recipe
def test_damaged_samples_are_reported_and_rejoin(recipe: DamageRecipe) -> None:
    for seed in (0, 3) if recipe.name in SMALL_DAMAGES else (0,):
        data = recipe.make(seed)
        reading = read(data)
        assert b"".join(line.data for line in reading.lines) == data
        assert recipe.kinds <= set(reading.kinds)
        assert all(0 <= item.offset <= item.offset + item.length <= len(data) for item in reading.damage)


@pytest.mark.parametrize("recipe", SMALL_DAMAGES.values(), ids=SMALL_DAMAGES)
def test_no_row_is_lost_that_can_be_had(recipe: DamageRecipe) -> None:
    """Rows whose bytes are still in the file are found, whatever stands around them."""
    sample = [line for line in sample_session().lines if b'"uuid"' in line]
    data = recipe.make(1)
    reading = read(data)
    found = {reading.at(item).strip() for item in reading.found}
    whole = [line for line in sample if line in data]
    assert [line for line in whole if line not in found] == []
    assert sum(b'"gitBranch"' in line for line in found) >= SAMPLE_ROWS - recipe.lost


def test_the_client_loses_what_stands_behind_the_first_object() -> None:
    reading = read(ONE + TWO + b"\n")
    assert [item.client_reads for item in reading.found] == [True, False]


def test_entries_are_decoded_the_same_on_both_paths() -> None:
    plain = json.loads(ONE)
    fast = read(ONE + b"\n").found[0].entry
    slow = read(ONE + TWO + b"\n").found[0].entry
    for name in ("parentUuid", "type", "uuid"):
        assert getattr(fast, name) == getattr(slow, name) == plain[name]
    assert json.loads(bytes(fast.message)) == json.loads(bytes(slow.message)) == plain["message"]
