"""Rebuild the content of a file as it was at a row of a session, and compare two such states.

`state_at(file, place, "after")` is the file as the row left it: at the result row of an edit, the edit is done; at a
prompt, it is what the prompt found. `"before"` is the file as the row found it. At a row that does not concern the
file, the state is the one that the last version before the row left.

An answer is one of:
  certain      a backup made by Claude Code (byte for byte), or the text that an edit recorded (decoded, LF line ends)
  not certain  nothing is known up to that row, and the first known version is used, as Claude Code's own rewind does;
               or the content of the right version is lost, and the version before it is used. `note` says which.

A backup made when a tool first touches a file is not always right: some versions of Claude Code copied the file after
the write. So where the following edit records what it found, the edit wins over the backup.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from recollect.format.edit_results import FileEdit
from recollect.store.file_versions import FileVersion, Place, TouchedFile

Side = Literal["before", "after"]
ReadBackup = Callable[[str], bytes | None]
"""Returns the bytes of a backup by its file name, or None if it is missing or cannot be read."""


@dataclass(frozen=True, slots=True)
class FileState:
    """The content of a file at one row.

    `exists` is None if that is not known. `content` is None if there is no such file, or if its content is lost
    (`exists` is then not False).
    """

    exists: bool | None = None
    content: bytes | None = None
    source: Literal["backup", "edit", "nothing"] = "nothing"
    certain: bool = True
    message_uuid: str | None = None
    note: str | None = None


_UNKNOWN = FileState(certain=False, note="nothing is known about this file")


def state_at(file: TouchedFile, place: Place, side: Side, read_backup: ReadBackup) -> FileState:
    """Return the file as a row of the session found it ("before") or left it ("after")."""
    limit = (place, 1 if side == "after" else 0)
    walk = _Walk(read_backup)
    reached = False
    for number, version in enumerate(file.versions):
        following = file.versions[number + 1].edit if number + 1 < len(file.versions) else None
        if (version.place, 0) > limit:
            break
        reached = True
        if version.edit is None:
            walk.take_backup(version, following)
        elif (version.place, 1) > limit:
            walk.take_original(version, version.edit)
            break
        else:
            walk.take_edit(version, version.edit)
    if reached:
        return walk.state()
    return _first_known(file, read_backup)


def first_state(file: TouchedFile, read_backup: ReadBackup) -> FileState:
    """Return the file as it was before the session touched it."""
    return replace(_first_known(file, read_backup), certain=True, note=None) if file.versions else _UNKNOWN


def last_state(file: TouchedFile, read_backup: ReadBackup) -> FileState:
    """Return the file as its last known version left it."""
    if not file.versions:
        return _UNKNOWN
    return state_at(file, file.versions[-1].place, "after", read_backup)


def _first_known(file: TouchedFile, read_backup: ReadBackup) -> FileState:
    if not file.versions:
        return _UNKNOWN
    first = file.versions[0]
    walk = _Walk(read_backup)
    if first.edit is None:
        walk.take_backup(first, file.versions[1].edit if len(file.versions) > 1 else None)
    else:
        walk.take_original(first, first.edit)
    return replace(walk.state(), certain=False, note="not touched before; taken from the first known version")


class _Walk:
    """Follows the state of a file through its versions. A backup is read only when its content is needed."""

    def __init__(self, read_backup: ReadBackup) -> None:
        self._read_backup = read_backup
        self._state: FileState = _UNKNOWN
        self._pending: tuple[FileVersion, FileEdit | None] | None = None

    def state(self) -> FileState:
        if self._pending is not None:
            version, following = self._pending
            self._pending = None
            self._state = self._read(version, following)
        return self._state

    def take_backup(self, version: FileVersion, following: FileEdit | None) -> None:
        if self._pending is not None and not version.on_disk and not version.absent:
            self.state()  # this backup is lost: read the one before it, which may have to stand in
        self._pending = (version, following if version.kind == "first-touch" else None)

    def take_original(self, version: FileVersion, edit: FileEdit) -> None:
        """Set the state to the file as an edit found it."""
        if edit.created:
            self._settle(FileState(exists=False, source="edit", message_uuid=version.message_uuid))
        elif (text := edit.text_before()) is not None:
            self._settle(self._same_or_text(text, version))
        # else the edit does not record it, and the known state remains

    def take_edit(self, version: FileVersion, edit: FileEdit) -> None:
        """Set the state to the file as an edit left it.

        The state before is needed only if the edit does not hold the whole text.
        """
        if edit.content is not None or edit.original is not None:
            before, text = FileState(), edit.text_after()
        else:
            before = self.state()
            text = edit.text_after(None if before.content is None else _decoded(before.content))
        if text is None:
            note = "the edit does not hold its result, and what it began from is not known"
            self._settle(replace(self.state(), exists=True, certain=False, note=note))
            return
        certain = before.certain or edit.created
        self._settle(
            FileState(True, _encoded(text), "edit", certain, version.message_uuid, None if certain else before.note)
        )

    def _settle(self, state: FileState) -> None:
        self._pending = None
        self._state = state

    def _same_or_text(self, text: str, version: FileVersion) -> FileState:
        """Return the known state if its bytes decode to this text, so that line ends and byte order marks survive."""
        known = self.state()
        if known.content is not None and _same_text(known.content, text):
            return known
        return FileState(True, _encoded(text), "edit", True, version.message_uuid)

    def _read(self, version: FileVersion, following: FileEdit | None) -> FileState:
        uuid = version.message_uuid
        original = following.text_before() if following is not None else None
        if version.absent or (following is not None and following.created):
            return FileState(exists=False, source="backup" if version.absent else "edit", message_uuid=uuid)
        data = self._read_backup(version.backup) if version.backup is not None and version.on_disk else None
        if original is not None and (data is None or not _same_text(data, original)):
            return FileState(True, _encoded(original), "edit", True, uuid)
        if data is not None:
            return FileState(True, data, "backup", True, uuid)
        note = f"the backup {version.backup} is missing"
        if self._state.content is None:
            return FileState(exists=True, certain=False, message_uuid=uuid, note=note)
        return replace(self._state, certain=False, note=f"{note}; this is the version known before it")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _same_text(data: bytes, text: str) -> bool:
    return _decoded(data) == text.replace("\r\n", "\n")


def unified_diff(before: bytes | None, after: bytes | None, path: str, labels: tuple[str, str] = ("", "")) -> list[str]:
    """Return the lines of a unified diff, without line ends; none if both sides are equal.

    None stands for a file that does not exist.
    """
    if before == after:
        return []
    names = ["/dev/null" if side is None else path for side in (before, after)]
    headers = [f"{name}\t{label}" if label else name for name, label in zip(names, labels, strict=True)]
    if b"\0" in (before or b"") or b"\0" in (after or b""):
        return [f"Binary files {headers[0]} and {headers[1]} differ"]
    found: list[str] = []
    old, new = (_diff_lines(side or b"") for side in (before, after))
    for line in difflib.unified_diff(old, new, headers[0], headers[1], lineterm=""):
        found += line.split("\0")
    return found


def _diff_lines(data: bytes) -> list[str]:
    """Split a file into lines for difflib.

    "No newline at end of file" is appended to the last line after a NUL; `unified_diff` splits the two again.
    """
    text = data.decode("utf-8", "replace")
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\0\\ No newline at end of file"
    else:
        lines.pop()
    return lines
