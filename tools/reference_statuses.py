"""The pages about damage and about the statuses of rows, from the values that the code uses."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

from recollect.format.line import DAMAGE_KINDS, HARMLESS
from recollect.graph import leaf, thread
from recollect.graph.thread import STATUSES
from tools.reference_messages import texts_of

_STATUS_WORDS = {
    "live": "Part of the conversation that a resume continues, since the last compaction.",
    "abandoned": "On a branch that the user left by rewinding. Still in the file; `recollect tree` shows it.",
    "subagent": "Written by a subagent whose lines stand in the main file.",
    "precompact": "Before the last compaction: the model gets a summary of it, the file still has all of it.",
    "bridged": "Passed over by Claude Code: what hung on the row hangs on its parent instead.",
    "unreachable": "Part of the main conversation that a resume no longer gets at.",
}
_FILE_FINDINGS = {
    "empty": "an empty file: Claude Code finds no conversation in it",
    "file-name": "the file's name is no UUID in lower case: Claude Code does not find the session",
    "unreadable": "the file cannot be read; the detail says why",
}


def damage_page() -> str:
    lines = [
        "# Damage",
        "",
        "What can be wrong with a line of a transcript. Damage is a value (`recollect.Damage`) with the line's number, the",
        "byte offset from the start of the file, a length and a detail; it never stops a reader, and nothing is changed",
        "because of it. Everything that is readable on a damaged line is found and shown. `recollect doctor` lists damage,",
        "`recollect cat` still gives every byte.",
        "",
        '"Skips the line" is about Claude Code, not about Recollect: what Claude Code skips is marked as not read by it.',
        "Then a [thread](../format/thread.md) is broken at that place, for Claude Code and so in `recollect thread`.",
        "",
        "| kind | | listed by `doctor` |",
        "|---|---|---|",
        *(
            f"| `{kind}` | {words} | {'no, harmless' if kind in HARMLESS else 'yes'} |"
            for kind, words in DAMAGE_KINDS.items()
        ),
        "",
        "`doctor` also reports what is wrong with a file as a whole:",
        "",
        "| kind | |",
        "|---|---|",
        *(f"| `{kind}` | {words} |" for kind, words in _FILE_FINDINGS.items()),
    ]
    return "\n".join(lines) + "\n"


def statuses_page() -> str:
    lines = [
        "# Statuses",
        "",
        "Every row of a session's main file has exactly one status. It says where the row stands seen from the conversation",
        "that Claude Code would resume, and comes with a reason (`recollect thread SESSION --json`). How both are found:",
        "[the active conversation](../format/thread.md).",
        "",
        "| status | |",
        "|---|---|",
        *(f"| `{status}` | {_STATUS_WORDS[status]} |" for status in STATUSES),
        "",
        "**Reachable share**: of the user and assistant rows of the main conversation, those that are `live` or `precompact`,",
        "divided by those plus the `unreachable` ones. What was left on purpose (`abandoned`) and what subagents wrote does not",
        "count. 100 % means that a resume gets at every row that is readable; rows that are torn beyond reading are nobody's.",
        "",
        "## Reasons",
        "",
        "| status | reason |",
        "|---|---|",
    ]
    for status in STATUSES:
        lines += [f"| `{status}` | {reason} |" for name, reason in sorted(_reasons()) if name == status]
    lines += [
        "",
        "## Why the conversation ends where it ends",
        "",
        "`leaf_reason` of `recollect thread --json` and `recollect tree --json`:",
        "",
        *(f"- {words}" for words in _leaf_reasons()),
    ]
    return "\n".join(lines) + "\n"


def _reasons() -> list[tuple[str, str]]:
    """(status, reason) of every placement that the code makes."""
    module = ast.parse(inspect.getsource(thread))
    found: dict[tuple[str, str], None] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Placement":
            status = getattr(thread, getattr(node.args[0], "id", ""))
            for reason in _words_of(node.args[1], module):
                found[status, reason] = None
    return list(found)


def _words_of(node: ast.expr, module: ast.Module) -> list[str]:
    """The texts of an expression: through conditions, names that are assigned once, and functions of the module."""
    if isinstance(node, ast.IfExp):
        return [*_words_of(node.body, module), *_words_of(node.orelse, module)]
    if isinstance(node, ast.Name):
        assigned = [item for item in ast.walk(module) if isinstance(item, ast.Assign)]
        found = [item.value for item in assigned if getattr(item.targets[0], "id", "") == node.id]
    elif isinstance(node, ast.Call):
        name = getattr(node.func, "id", "")
        function = next(item for item in module.body if isinstance(item, ast.FunctionDef) and item.name == name)
        found = [item.value for item in ast.walk(function) if isinstance(item, ast.Return) and item.value is not None]
    else:
        texts = texts_of(node, {})
        if "…" in texts:
            raise LookupError(f"a reason that cannot be written down: {ast.unparse(node)}")
        return texts
    return [text for value in found for text in _words_of(value, module)]


def _leaf_reasons() -> list[str]:
    """Texts that say why a row was chosen as the leaf: of `Leaf(...)`, of `why = ...` and of `return ..., "..."`."""
    found: dict[str, None] = {}
    for node in ast.walk(ast.parse(inspect.getsource(leaf))):
        for value in _leaf_values(node):
            found.update(dict.fromkeys(text for text in texts_of(value, {}) if text != "…"))
    return sorted(found)


def _leaf_values(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Leaf":
        yield node.args[1]
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "why":
        yield node.value
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
        names = [getattr(target, "id", "") for target in node.targets[0].elts]
        if "why" in names:
            yield node.value.elts[names.index("why")]
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        yield node.value.elts[-1]
