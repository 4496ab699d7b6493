"""Every recipe does what it says, and the same each time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recollect.format.line import DAMAGE_KINDS
from recollect.testing import ALL_AGES, DAMAGES, DamageRecipe, Outcome, build_age, sample_session, write_huge_file
from recollect.testing.damage import deep_nesting, huge_line
from recollect.testing.damage.recipe import SAMPLE_ROWS, find_target, parse, split_lines

HEALTHY = sample_session().to_bytes()
CHANGES_ONLY_THE_NAME = {"upper-case-name", "name-no-uuid"}
SEEDS = (0, 1, 2, 9)

every_recipe = pytest.mark.parametrize("recipe", DAMAGES.values(), ids=DAMAGES)


def test_there_are_many_and_all_kinds_of_the_reader_are_covered() -> None:
    assert len(DAMAGES) >= 60
    covered = set().union(*(recipe.kinds for recipe in DAMAGES.values()))
    assert covered <= set(DAMAGE_KINDS)
    # These need files of many megabytes, which no registry should make; `write_huge_file` and tests/format are for them.
    assert set(DAMAGE_KINDS) - covered <= {"oversize", "several-lines-unread"}


def test_the_sample_is_healthy() -> None:
    sample = sample_session()
    assert len(sample.row_uuids) == SAMPLE_ROWS
    assert sample.thread == sample.row_uuids
    assert all(parse(line) is not None for line in split_lines(HEALTHY))


@every_recipe
def test_recipes_are_deterministic_and_change_something(recipe: DamageRecipe) -> None:
    for seed in SEEDS:
        damaged = recipe.make(seed)
        assert damaged == recipe.make(seed)
        assert (damaged == HEALTHY) is (recipe.name in CHANGES_ONLY_THE_NAME)
    assert (recipe.rename is not None) is (recipe.name in CHANGES_ONLY_THE_NAME)


@every_recipe
def test_recipes_take_any_file(recipe: DamageRecipe) -> None:
    odd = b'{"uuid":1}\n{"type":"user","message":"text"}\n[]\n{"type":"user","message":{"content":[null,{}]}}\n'
    for data in (
        b"",
        b"\n",
        HEALTHY[: len(HEALTHY) // 2],
        b'{"type":"mode","mode":"normal"}\n' * 4,
        odd,
        b"\xff\n" * 9,
    ):
        for seed in SEEDS:
            assert isinstance(recipe.apply(data, seed), bytes)


@every_recipe
def test_expected_rows_are_rows_of_the_sample(recipe: DamageRecipe) -> None:
    thread = sample_session().thread
    expected = recipe.expected_thread(1)
    if recipe.outcome is None:
        assert expected is None
    else:
        assert expected is not None
        assert [uuid for uuid in thread if uuid in expected] == expected


BYTES_ONLY = [
    recipe
    for recipe in DAMAGES.values()
    if recipe.kinds & {"torn", "glued", "nul", "blank", "not-object", "not-json", "bom", "crlf", "no-newline"}
]


@pytest.mark.parametrize("recipe", BYTES_ONLY, ids=lambda recipe: recipe.name)
def test_damage_of_bytes_loses_as_many_rows_as_it_says(recipe: DamageRecipe) -> None:
    rows = [line for line in split_lines(HEALTHY) if b'"uuid"' in line]
    assert len(rows) == SAMPLE_ROWS
    for seed in SEEDS:
        damaged = recipe.make(seed)
        assert sum(row not in damaged for row in rows) == recipe.lost


def test_torn_and_glued_falls_into_a_string() -> None:
    for seed in SEEDS:
        line = next(line for line in split_lines(DAMAGES["torn-and-glued"].make(seed)) if parse(line) is None)
        assert line.count(b'{"parentUuid"') == 2
        start = line.rindex(b'{"parentUuid"')
        assert json.loads(line[start:])["uuid"]
        with pytest.raises(json.JSONDecodeError, match="delimiter"):
            json.loads(line)


def test_text_damage_is_in_the_text_of_a_message() -> None:
    damaged = DAMAGES["line-separators"].make()
    row = parse(split_lines(damaged)[find_target(split_lines(HEALTHY), 0)])
    assert row is not None
    assert "\u2028\u2029\u0085" in json.dumps(row["message"], ensure_ascii=False)


def test_surrogates_and_bytes_are_as_named() -> None:
    with pytest.raises(UnicodeDecodeError):
        DAMAGES["raw-surrogate"].make().decode()
    with pytest.raises(UnicodeDecodeError):
        DAMAGES["invalid-utf8"].make().decode()
    texts = [json.dumps(parse(line), ensure_ascii=False) for line in split_lines(DAMAGES["lone-high-surrogate"].make())]
    with pytest.raises(UnicodeEncodeError):
        "".join(texts).encode()
    texts = [json.dumps(parse(line), ensure_ascii=False) for line in split_lines(DAMAGES["paired-surrogates"].make())]
    assert "\N{GRINNING FACE}" in "".join(texts)


def test_cycles_close() -> None:
    rows = [row for line in split_lines(DAMAGES["cycle-middle"].make()) if (row := parse(line)) and "uuid" in row]
    parents = {row["uuid"]: row["parentUuid"] for row in rows}
    (pair,) = {frozenset((uuid, parent)) for uuid, parent in parents.items() if parents.get(parent) == uuid}
    assert len(pair) == 2
    rows = [row for line in split_lines(DAMAGES["cycle-whole"].make()) if (row := parse(line)) and "uuid" in row]
    assert rows[0]["parentUuid"] == rows[-1]["uuid"]


def test_depth_and_size_can_be_chosen() -> None:
    assert b"[" * 50 + b"1" + b"]" * 50 in deep_nesting(HEALTHY, depth=50)
    assert len(huge_line(HEALTHY, size=1000)) == len(HEALTHY) + 1000


def test_calls_and_results_are_taken_out_without_breaking_the_chain() -> None:
    for name in ("unanswered-call", "orphan-result"):
        rows = [row for line in split_lines(DAMAGES[name].make()) if (row := parse(line)) and "uuid" in row]
        assert len(rows) == SAMPLE_ROWS - 1
        uuids = {row["uuid"] for row in rows}
        assert [row["parentUuid"] for row in rows if row["parentUuid"] not in uuids] == [None]


def test_file_names_are_damaged_by_renaming() -> None:
    rename = DAMAGES["upper-case-name"].rename
    assert rename is not None
    assert rename("ab-1.jsonl") == "AB-1.JSONL"


@pytest.mark.parametrize("version", ALL_AGES)
def test_files_of_every_age_can_be_damaged(version: str, tmp_path: Path) -> None:
    data = build_age(tmp_path / "c", version).everyday.path.read_bytes()
    for recipe in DAMAGES.values():
        damaged = recipe.apply(data, 5)
        assert (damaged == data) is (recipe.name in CHANGES_ONLY_THE_NAME), recipe.name


def test_huge_files_have_the_size_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    for size, line, count in ((3 << 20, None, 1), (1000, 100, 10)):
        write_huge_file(path, size, line=line)
        data = path.read_bytes()
        assert len(data) == len(HEALTHY) + size
        assert len(split_lines(data)) == len(split_lines(HEALTHY)) + count
        assert parse(split_lines(data)[-1]) is not None


@pytest.mark.parametrize(
    ("outcome", "left"),
    [
        (Outcome.WHOLE, "abcd"),
        (Outcome.AFTER_TARGET, "cd"),
        (Outcome.FROM_TARGET, "bcd"),
        (Outcome.UP_TO_TARGET, "ab"),
        (Outcome.WITHOUT_TARGET, "acd"),
        (Outcome.WITHOUT_LAST, "abc"),
        (Outcome.LAST, "d"),
        (Outcome.NONE, ""),
    ],
)
def test_outcomes_name_rows(outcome: Outcome, left: str) -> None:
    assert outcome.of(list("abcd"), "b") == list(left)
