"""Show what an edit changed, as marked lines."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from ..format.edit_results import FileEdit, edit_of_call, parse_file_edit

MAX_LINES: Final = 400
"""Longer diffs are cut; the raw line has all of it."""
_MAX_TEXT: Final = 400_000
"""Longer texts are not compared."""
_MARKS: Final = {"+": "added", "-": "removed", "@": "place", " ": "same"}


@dataclass(slots=True)
class DiffLine:
    """A line of a diff."""

    kind: str
    """added, removed, same, place (where in the file), cut."""
    text: str


def diff_of_call(name: str, arguments: Any, result: Any, answer: str) -> tuple[str, list[DiffLine]]:
    """Return the path of the file that a tool call edited, and what changed; empty if the call edited nothing."""
    edit = parse_file_edit(result) or edit_of_call(name, arguments, answer)
    if edit is None:
        return "", []
    return edit.path[:1000], list(_cut(_lines(edit)))


def diff_lines(unified: list[str]) -> list[DiffLine]:
    """Mark the lines of a unified diff; its two lines of file names are left out."""
    lines = unified[2:] if unified[:1] and unified[0].startswith("--- ") else unified
    return list(_cut(map(_marked, lines)))


def _marked(line: str) -> DiffLine:
    return DiffLine(_MARKS.get(line[:1], "same"), line)


def _lines(edit: FileEdit) -> Iterable[DiffLine]:
    if edit.patch:
        for hunk in edit.patch:
            yield DiffLine("place", f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@")
            yield from map(_marked, hunk.lines)
        return
    if edit.content is not None and (edit.created or edit.original is None):
        for line in edit.content.splitlines():
            yield DiffLine("added", "+" + line)
        return
    pairs = [(item.old, item.new) for item in edit.replacements]
    if edit.original is not None and edit.content is not None:
        pairs = [(edit.original, edit.content)]
    for old, new in pairs:
        if len(old) + len(new) > _MAX_TEXT:
            yield DiffLine("cut", "too long to compare here")
            continue
        yield DiffLine("place", "@@")
        yield from map(_marked, list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3))[3:])


def _cut(lines: Iterable[DiffLine]) -> Iterable[DiffLine]:
    for number, line in enumerate(lines):
        if number >= MAX_LINES:
            yield DiffLine("cut", "… more lines than are shown here")
            return
        yield DiffLine(line.kind, line.text[:2000])
