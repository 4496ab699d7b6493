"""List the rules, one file for each topic. Each file has `Rule` values and the functions that yield their findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Final

from ..rule import Finding, HomeSubject, Rule, SessionSubject
from . import files, lines, messages, tree

SESSION_CHECKS: Final[tuple[Callable[[SessionSubject], Iterator[Finding]], ...]] = (
    tree.check_reach, lines.check_line_damage, lines.check_session_identity, lines.check_uuids, lines.check_copies,
    tree.check_parents, tree.check_timestamps, tree.check_file_order, messages.check_shape, tree.check_checkpoints,
    messages.check_tool_pairs, messages.check_thinking, messages.check_images, lines.check_nul_text,
    lines.check_unknown_parts, lines.check_long_lines, messages.check_long_outputs, messages.check_todo_steps,
)  # fmt: skip
"""In the order in which their findings are told."""
SUBAGENT_CHECKS: Final = (lines.check_line_damage, tree.check_parents, lines.check_nul_text)
"""Those that fit the file of a subagent, which nobody resumes."""
HOME_CHECKS: Final[tuple[Callable[[HomeSubject], Iterator[Finding]], ...]] = (
    files.check_config_files, files.check_placed_files, files.check_shared_folders, files.check_sessions_index,
    files.check_orphans, files.check_side_files, files.check_permissions,
)  # fmt: skip


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
#: Every rule by its code, topic by topic.
RULES: Final[dict[str, Rule]] = {
    rule.code: rule
    for rule in (UNREADABLE, *(rule for module in (lines, tree, messages, files) for rule in _rules_of(module)))
}
