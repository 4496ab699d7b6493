"""Read what the tools that change files (Edit, MultiEdit, Write, NotebookEdit) leave in `toolUseResult`.

The shapes by tool (a failed call leaves a string, which is not an edit):
    Edit          filePath, oldString, newString, originalFile (null for large or new files), structuredPatch,
                  replaceAll, userModified
    MultiEdit     filePath, edits[{old_string, new_string, replace_all}], originalFileContents, structuredPatch
    Write         type create|update, filePath, content, structuredPatch, originalFile (since 2.1; null for a new file)
    NotebookEdit  notebook_path, original_file, updated_file, error
Texts are as Claude Code works with them: decoded, with LF line ends. They differ from the bytes of a file with CRLF or a
BOM. `structuredPatch` is made for display: Claude Code 2.1 wrote tabs in it as blanks, so it is used last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from recollect.format.json_file import Fields

EDIT_TOOLS = frozenset({"Edit", "MultiEdit", "Write"})
"""Tools whose arguments hold the changed text of the file. The arguments of NotebookEdit name a cell instead."""


class TextReplacement(msgspec.Struct, frozen=True, kw_only=True):
    old: str
    new: str
    everywhere: bool = False


class PatchHunk(msgspec.Struct, frozen=True, kw_only=True):
    """One hunk of `structuredPatch`: lines marked with a blank, `-` or `+`; starts count from 1."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...] = ()


class FileEdit(msgspec.Struct, frozen=True, kw_only=True):
    """One change of one file. `original` and `content` are the texts before and after where the result holds them."""

    path: str
    created: bool = False
    original: str | None = None
    content: str | None = None
    replacements: tuple[TextReplacement, ...] = ()
    patch: tuple[PatchHunk, ...] = ()
    user_modified: bool = False
    extra: dict[str, Any] = {}

    def text_before(self, known_after: str | None = None) -> str | None:
        """Return the text before the edit, from the result or by reverting the patch; None where neither is possible.

        None also for a new file. `known_after` is used where the result does not hold the text after the edit.
        """
        if self.original is not None or self.created:
            return self.original
        after = self.content if self.content is not None else known_after
        return apply_patch(after, self.patch, backwards=True) if after is not None and self.patch else None

    def text_after(self, known_before: str | None = None) -> str | None:
        """Return the text after the edit; None where neither the result nor `known_before` is enough to compute it."""
        if self.content is not None:
            return self.content
        before = self.original if self.original is not None else known_before
        if before is None:
            is_new_file = len(self.replacements) == 1 and self.replacements[0].old == ""
            return self.replacements[0].new if is_new_file else None
        replaced = _replace(before, self.replacements) if self.replacements else None
        if replaced is not None and not self.user_modified:
            return replaced
        # Where the user changed the proposed edit, the patch holds what was really written.
        patched = apply_patch(before, self.patch) if self.patch else None
        return patched if patched is not None else replaced


def parse_file_edit(result: object) -> FileEdit | None:
    """Parse a `toolUseResult`; None where it does not describe a successful change of a file."""
    if not isinstance(result, Mapping):
        return None
    if isinstance(result.get("notebook_path"), str):
        return _notebook_edit(result)
    if not isinstance(result.get("filePath"), str) or "structuredPatch" not in result:
        return None
    fields = Fields(result)
    path = fields.text("filePath") or ""
    original = fields.text("originalFile")
    if original is None:
        original = fields.text("originalFileContents")
    old, new = fields.text("oldString"), fields.text("newString")
    everywhere = fields.flag("replaceAll") or False
    replacements = _replacements(fields)
    if old is not None and new is not None:
        replacements = (TextReplacement(old=old, new=new, everywhere=everywhere), *replacements)
    content = fields.text("content")
    kind = fields.text("type")
    return FileEdit(
        path=path,
        created=original is None and (kind == "create" or (content is None and old == "")),
        original=original,
        content=content,
        replacements=replacements,
        patch=_hunks(fields),
        user_modified=fields.flag("userModified") or False,
        extra=fields.rest,
    )


def edit_of_call(tool: str, arguments: object, answer: str) -> FileEdit | None:
    """Return what a successful call changed, from its arguments alone.

    Needed for rows of subagents, which have no `toolUseResult` (2.1.325). `answer` is the result text that the model got.
    """
    if tool not in EDIT_TOOLS or not isinstance(arguments, Mapping):
        return None
    fields = Fields(arguments)
    path = fields.text("file_path")
    if path is None:
        return None
    content = fields.text("content") if tool == "Write" else None
    replacements = _replacements(fields) if tool == "MultiEdit" else ()
    if tool == "Edit":
        old, new = fields.text("old_string"), fields.text("new_string")
        if old is None or new is None:
            return None
        replacements = (TextReplacement(old=old, new=new, everywhere=fields.flag("replace_all") or False),)
    if content is None and not replacements:
        return None
    created = "created successfully" in answer if tool == "Write" else replacements[0].old == ""
    return FileEdit(path=path, created=created, content=content, replacements=replacements, extra=fields.rest)


def _notebook_edit(result: Mapping[str, Any]) -> FileEdit | None:
    fields = Fields(result)
    path = fields.text("notebook_path") or ""
    original, content = fields.text("original_file"), fields.text("updated_file")
    if content is None or result.get("error"):
        return None
    return FileEdit(path=path, original=original, content=content, extra=fields.rest)


def _replacements(fields: Fields) -> tuple[TextReplacement, ...]:
    """Parse the `edits` of a MultiEdit. If one of them has an unknown shape, all stay in the rest."""
    edits = fields.rest.get("edits")
    if not isinstance(edits, list):
        return ()
    found = []
    for edit in edits:
        if not isinstance(edit, dict):
            return ()
        old, new = edit.get("old_string"), edit.get("new_string")
        if not isinstance(old, str) or not isinstance(new, str):
            return ()
        found.append(TextReplacement(old=old, new=new, everywhere=edit.get("replace_all") is True))
    fields.items("edits")
    return tuple(found)


def _hunks(fields: Fields) -> tuple[PatchHunk, ...]:
    """Parse the hunks of `structuredPatch`. If one of them has an unknown shape, the whole patch stays in the rest."""
    patch = fields.rest.get("structuredPatch")
    if not isinstance(patch, list):
        return ()
    found = []
    for hunk in patch:
        values = Fields(hunk)
        numbers = [values.whole(key) for key in ("oldStart", "oldLines", "newStart", "newLines")]
        if not isinstance(values.rest.get("lines"), list) or any(number is None or number < 0 for number in numbers):
            return ()
        lines = values.texts("lines")
        if "lines" in values.rest:
            return ()
        old_start, old_lines, new_start, new_lines = (number or 0 for number in numbers)
        found.append(
            PatchHunk(old_start=old_start, old_lines=old_lines, new_start=new_start, new_lines=new_lines, lines=lines)
        )
    fields.items("structuredPatch")
    return tuple(found)


def apply_patch(text: str, hunks: Iterable[PatchHunk], *, backwards: bool = False) -> str | None:
    """Apply a patch to a text, or revert it with `backwards`; None where the patch does not fit the text."""
    source = text.split("\n")
    result: list[str] = []
    position = 0
    skip, take = ("+", "-") if backwards else ("-", "+")
    for hunk in hunks:
        start = hunk.new_start if backwards else hunk.old_start
        expected = [line[1:] for line in hunk.lines if line[:1] in (" ", skip)]
        start = max(start - 1, 0) if expected else max(start - 1, position)
        if start < position or source[start : start + len(expected)] != expected:
            return None
        result += source[position:start]
        result += [line[1:] for line in hunk.lines if line[:1] in (" ", take)]
        position = start + len(expected)
    return "\n".join(result + source[position:])


def _replace(text: str, replacements: Iterable[TextReplacement]) -> str | None:
    for replacement in replacements:
        old = replacement.old
        if old not in text:
            return None
        if not replacement.new and not old.endswith("\n") and f"{old}\n" in text:
            old += "\n"  # Claude Code removes the line end together with a deleted text
        text = text.replace(old, replacement.new, -1 if replacement.everywhere else 1)
    return text
