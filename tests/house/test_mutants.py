"""The mutants are made as they should be, and of functions that are there; whether tests notice them, `make mutants` says."""

from __future__ import annotations

import ast

import pytest
from tests.house.mutants import REPOSITORY, TARGETS, Target, mutants_of, some

SOURCE = '''
def other():
    return 1 < 2

def rule(a, b):
    """Text stays."""
    if a > b and not a:
        return -a + 1
    return True
'''


def test_one_thing_is_broken_at_a_time() -> None:
    target = Target("x.py", ("rule",), ())
    made = list(mutants_of(target, SOURCE))
    assert {mutant.change.partition(": ")[2] for mutant in made} == {
        "a > b and (not a) -> a > b or not a",
        "a > b -> a >= b",
        "not a -> not not a",
        "-a + 1 -> -a - 1",
        "-a -> +a",
        "1 -> 2",
        "True -> False",
    }
    whole = ast.unparse(ast.parse(SOURCE)).splitlines()
    for mutant in made:
        lines = mutant.text.splitlines()
        assert sum(one != two for one, two in zip(whole, lines, strict=True)) == 1


def test_a_function_that_is_gone_is_told() -> None:
    with pytest.raises(LookupError, match="no function gone"):
        list(mutants_of(Target("x.py", ("gone",), ()), SOURCE))


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.file)
def test_every_target_has_mutants_and_tests(target: Target) -> None:
    made = list(mutants_of(target, (REPOSITORY / "src" / "recollect" / target.file).read_text("utf-8")))
    assert {mutant.function for mutant in made} == set(target.functions)
    assert len(some(made, 2)) <= 2 * len(target.functions)
    assert all((REPOSITORY / place).exists() for place in target.tests)
