"""The content of a file as it was at a row of a session, and the difference between two such states.

`state_at(file, place, "after")` is the file as the row left it: after the result row of an edit the edit is done, at a
prompt it is what the prompt found. `"before"` is the file as the row found it. A row that has nothing to do with the
file shows what the last thing known before it left.

How sure an answer is:
  certain      a backup of the client (the very bytes), or the text that an edit recorded (decoded, LF line ends)
  not certain  nothing is known up to that row, and the first known version stands in, as in the client's own rewind;
               or the right version's content is lost, and the one before it stands in. `note` says which.

A backup made when a tool first touches a file is not always what it should be: clients were seen to copy the file after
the write. So where the edit that follows says what it found, the edit is believed.
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
"""Gives the bytes of a backup by its file name, or None where it is not there or cannot be read."""


@dataclass(frozen=True, slots=True)
class FileState:
    """`exists` None: not known. `content` None: no such file, or its content is lost (then `exists` is not False)."""

    exists: bool | None = None
    content: bytes | None = None
    source: Literal["backup", "edit", "nothing"] = "nothing"
    certain: bool = True
    message_uuid: str | None = None
    note: str | None = None


_UNKNOWN = FileState(certain=False, note="nothing is known about this file")


def state_at(file: TouchedFile, place: Place, side: Side, read_backup: ReadBackup) -> FileState:
    """The file at a row of the session."""
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
    """The file before the session touched it."""
    return replace(_first_known(file, read_backup), certain=True, note=None) if file.versions else _UNKNOWN


def last_state(file: TouchedFile, read_backup: ReadBackup) -> FileState:
    """The file as the last thing known about it left it."""
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
    """The state while going through the versions. A backup is read only when its content is needed."""

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
            self.state()  # this backup is lost: what the one before it holds may be needed
        self._pending = (version, following if version.kind == "first-touch" else None)

    def take_original(self, version: FileVersion, edit: FileEdit) -> None:
        """The file as an edit found it."""
        if edit.created:
            self._settle(FileState(exists=False, source="edit", message_uuid=version.message_uuid))
        elif (text := edit.text_before()) is not None:
            self._settle(self._same_or_text(text, version))
        # else the edit does not say, and what was known stands

    def take_edit(self, version: FileVersion, edit: FileEdit) -> None:
        """The file as an edit left it. Only an edit that does not hold the whole text asks what was there before."""
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
        """The bytes already known where they are this very text, so that line ends and byte order marks survive."""
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
    """The lines of a unified diff (without line ends); None stands for a file that is not there. Equal: no lines."""
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
    """The lines of a file. The mark of a missing last line end hangs on its line, behind a NUL, until then."""
    text = data.decode("utf-8", "replace")
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\0\\ No newline at end of file"
    else:
        lines.pop()
    return lines
