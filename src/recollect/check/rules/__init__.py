"""List the rules, one file for each subject. Each module has its `Rule` values and `check`, which yields findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Final

from ..rule import Finding, Rule
from ..subject import HomeSubject, SessionSubject
from . import (
    checkpoints,
    config_files,
    duplicate_uuid,
    file_order,
    folders_of_two_projects,
    images,
    line_damage,
    long_lines,
    long_outputs,
    nul_text,
    orphans,
    parents,
    permissions,
    placed_files,
    reachable,
    session_identity,
    sessions_index,
    side_files,
    thinking,
    timestamps,
    todo_steps,
    tool_pairs,
    unknown,
    unusable_message,
    valid_uuid,
)

_OF_A_SESSION: Final = (
    reachable, line_damage, session_identity, valid_uuid, duplicate_uuid, parents, timestamps, file_order,
    unusable_message, checkpoints, tool_pairs, thinking, images, nul_text, unknown, long_lines, long_outputs, todo_steps,
)  # fmt: skip
_OF_A_HOME: Final = (
    config_files,
    placed_files,
    folders_of_two_projects,
    sessions_index,
    orphans,
    side_files,
    permissions,
)

SESSION_CHECKS: Final[tuple[Callable[[SessionSubject], Iterator[Finding]], ...]] = tuple(
    module.check for module in _OF_A_SESSION
)
HOME_CHECKS: Final[tuple[Callable[[HomeSubject], Iterator[Finding]], ...]] = tuple(
    module.check for module in _OF_A_HOME
)


def _rules_of(module: ModuleType) -> Iterator[Rule]:
    for value in vars(module).values():
        if isinstance(value, Rule):
            yield value
        elif isinstance(value, dict):
            yield from (item for item in value.values() if isinstance(item, Rule))


UNREADABLE: Final = Rule(
    "unreadable", "error", "The file cannot be read.", "Finds no conversation.",
    "Look at its permissions; the detail says what the system answered.",
)  # fmt: skip
#: Every rule by its code, in the order in which they are looked at.
RULES: Final[dict[str, Rule]] = {
    rule.code: rule
    for rule in (UNREADABLE, *(rule for module in (*_OF_A_SESSION, *_OF_A_HOME) for rule in _rules_of(module)))
}
