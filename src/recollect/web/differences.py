"""What an edit changed, as lines with a mark."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from ..format.edit_results import FileEdit, edit_of_call, parse_file_edit
from .rendering import plain

MAX_LINES: Final = 400
"""Longer differences are cut; the raw line has all of it."""
_MARKS: Final = {"+": "added", "-": "removed", "@": "place", " ": "same"}


@dataclass(slots=True)
class DiffLine:
    kind: str
    """added, removed, same, place (where in the file), cut."""
    text: str


def diff_of_call(name: str, arguments: Any, result: Any, answer: str) -> tuple[str, list[DiffLine]]:
    """The file's path and the lines; empty where the call edited nothing."""
    edit = parse_file_edit(result) or edit_of_call(name, arguments, answer)
    if edit is None:
        return "", []
    return plain(edit.path)[:1000], list(_cut(_lines(edit)))


def unified(text: list[str]) -> list[DiffLine]:
    """The lines of a unified difference."""
    lines = text[2:] if text[:1] and text[0].startswith("--- ") else text
    return list(_cut(DiffLine(_MARKS.get(line[:1], "same"), plain(line)) for line in lines))


def _lines(edit: FileEdit) -> Iterable[DiffLine]:
    if edit.patch:
        for hunk in edit.patch:
            yield DiffLine("place", f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@")
            for line in hunk.lines:
                yield DiffLine(_MARKS.get(line[:1], "same"), plain(line))
        return
    if edit.content is not None and (edit.created or edit.original is None):
        for line in edit.content.splitlines():
            yield DiffLine("added", "+" + plain(line))
        return
    pairs = [(item.old, item.new) for item in edit.replacements]
    if edit.original is not None and edit.content is not None:
        pairs = [(edit.original, edit.content)]
    for old, new in pairs:
        if len(old) + len(new) > 400_000:
            yield DiffLine("cut", "too long to compare here")
            continue
        yield DiffLine("place", "@@")
        for line in list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3))[3:]:
            yield DiffLine(_MARKS.get(line[:1], "same"), plain(line))


def _cut(lines: Iterable[DiffLine]) -> Iterable[DiffLine]:
    for number, line in enumerate(lines):
        if number >= MAX_LINES:
            yield DiffLine("cut", "… more lines than are shown here")
            return
        yield DiffLine(line.kind, line.text[:2000])
