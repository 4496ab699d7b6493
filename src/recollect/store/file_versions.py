"""Collect the files that a session touched and their known versions: checkpoints and edits, in order.

Three kinds of evidence are joined into one timeline per file:
  checkpoint   the file as it was when a prompt was sent (`file-history-snapshot`): a file in `file-history/<session>/`
  first-touch  the file as it was before a tool first changed it (a snapshot's update, or a `file-history-delta`)
  edit         a change by Edit, MultiEdit, Write or NotebookEdit, with the text before and after (`toolUseResult`)

The order is that of the lines: files change in time, whatever branch of the conversation a line belongs to. A change
made by the shell or the user shows only at the next checkpoint.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from recollect.format.edit_results import EDIT_TOOLS, FileEdit, edit_of_call, parse_file_edit
from recollect.format.file_history import (
    FileBackup,
    FileDelta,
    FileSnapshot,
    hash_of_path,
    parse_backup_name,
    parse_file_history_entry,
)
from recollect.format.json_file import moment_of_iso

Kind = Literal["checkpoint", "first-touch", "edit"]
Place = tuple[int, int, float, int]
"""Sort key of a row: line of the main transcript, 1 for a subagent's row after that line, its time, its number."""

_WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\/]|\\\\")


@dataclass(frozen=True, slots=True)
class FileVersion:
    """One known version of a file. `backup` is None for an edit, and if the file did not exist (`absent`)."""

    kind: Kind
    place: Place
    message_uuid: str | None
    time: datetime | None
    version: int | None = None
    backup: str | None = None
    on_disk: bool = False
    absent: bool = False
    edit: FileEdit | None = None
    lines_added: int = 0
    lines_removed: int = 0


@dataclass(slots=True)
class TouchedFile:
    """A file that the session tracked or changed, with all its known versions in order."""

    path: str
    versions: list[FileVersion] = field(default_factory=list)

    @property
    def edits(self) -> int:
        return sum(version.kind == "edit" for version in self.versions)

    @property
    def lines_added(self) -> int:
        return sum(version.lines_added for version in self.versions)

    @property
    def lines_removed(self) -> int:
        return sum(version.lines_removed for version in self.versions)

    @property
    def created(self) -> bool:
        """Whether the file did not exist before the session touched it."""
        first = next((version for version in self.versions if version.kind != "checkpoint"), None)
        first_edit = next((version.edit for version in self.versions if version.edit is not None), None)
        return (first is not None and first.absent) or (first_edit is not None and first_edit.created)

    @property
    def deleted(self) -> bool:
        """Whether the last known version says that the file is gone."""
        return bool(self.versions) and self.versions[-1].kind == "checkpoint" and self.versions[-1].absent


@dataclass(slots=True)
class SessionFiles:
    """All files of one session. `places` maps a row's uuid to its place; `cwds` are its working directories in order."""

    files: dict[str, TouchedFile] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    cwds: list[str] = field(default_factory=list)

    def matching(self, path: str) -> list[TouchedFile]:
        """Return the files that a user's path names: absolute, relative to the project, or the last parts of a path."""
        for candidate in [path, *(_join(cwd, path) for cwd in self.cwds)]:
            found = self.files.get(_normal(candidate))
            if found is not None:
                return [found]
        ending = path.replace("\\", "/").strip("/").removeprefix("./")
        return [
            file
            for name, file in self.files.items()
            if ending and (name.replace("\\", "/") == ending or name.replace("\\", "/").endswith("/" + ending))
        ]


def collect_file_versions(
    entries: Iterable[Mapping[str, Any]],
    *,
    subagents: Iterable[Iterable[Mapping[str, Any]]] = (),
    backups_on_disk: Container[str] = frozenset(),
    keep_texts: Callable[[str], bool] = lambda _path: True,
) -> SessionFiles:
    """Collect the file versions in the decoded lines of a transcript and of its subagents' transcripts.

    The rows of subagents are placed by their times. `keep_texts` decides for which absolute paths the texts of edits
    are kept; a listing keeps none, to save memory.
    """
    collector = _Collector(backups_on_disk, keep_texts)
    main_times: list[float] = []
    latest = 0.0
    for number, entry in enumerate(entries):
        time = moment_of_iso(entry.get("timestamp"))
        latest = max(latest, time.timestamp() if time else 0.0)
        main_times.append(latest)
        collector.add(entry, (number, 0, 0.0, 0), time)
    number = 0
    for subagent in subagents:
        for entry in subagent:
            number += 1
            time = moment_of_iso(entry.get("timestamp"))
            moment = time.timestamp() if time else 0.0
            after = max(bisect_right(main_times, moment) - 1, 0)
            collector.add(entry, (after, 1, moment, number), time)
    return collector.finish()


@dataclass(slots=True)
class _Line:
    """A line about a file, kept until all rows are known: a snapshot can precede the prompt that it belongs to."""

    place: Place
    time: datetime | None
    uuid: str | None
    found: FileSnapshot | FileDelta | FileEdit
    lines_added: int = 0
    lines_removed: int = 0


class _Collector:
    def __init__(self, backups_on_disk: Container[str], keep_texts: Callable[[str], bool]) -> None:
        self._on_disk = backups_on_disk
        self._keep_texts = keep_texts
        self._session = SessionFiles()
        self._lines: list[_Line] = []
        self._edited: set[str] = set()
        self._calls: dict[str, tuple[str, dict[str, Any]]] = {}
        self._absolute: dict[tuple[str, str | None], str] = {}
        self._last_backup: dict[str, tuple[str | None, int | None]] = {}

    def add(self, entry: Mapping[str, Any], place: Place, time: datetime | None) -> None:
        cwd = entry.get("cwd")
        if isinstance(cwd, str) and cwd and cwd not in self._session.cwds:
            self._session.cwds.append(cwd)
        uuid = entry.get("uuid")
        if isinstance(uuid, str):
            if uuid in self._session.places:
                return  # a copy of an earlier row (forks, repeated lines)
            self._session.places[uuid] = place
            edit = self._edit_in(entry)
            if edit is not None:
                self._edited.add(_normal(edit.path))
                self._lines.append(_Line(place, time, uuid, self._shortened(edit), *_count_lines(edit)))
        else:
            found = parse_file_history_entry(entry)
            if found is not None:
                self._lines.append(_Line(place, time, None, found))

    def _edit_in(self, entry: Mapping[str, Any]) -> FileEdit | None:
        """Return the edit that a row reports, in its structured result or (in subagents) in the call that it answers."""
        found = parse_file_edit(entry.get("toolUseResult"))
        if found is not None:
            return found
        message = entry.get("message")
        content = message.get("content") if isinstance(message, Mapping) else None
        for block in content if isinstance(content, list) else ():
            match block:
                case {"type": "tool_use", "id": str() as call, "name": str() as tool, "input": dict() as arguments}:
                    if tool in EDIT_TOOLS:
                        self._calls[call] = (tool, arguments)
                case {"type": "tool_result", "tool_use_id": str() as call}:
                    tool, arguments = self._calls.pop(call, ("", {}))
                    if tool and not block.get("is_error") and entry.get("toolUseResult") is None:
                        return edit_of_call(tool, arguments, str(block.get("content")))
        return None

    def _shortened(self, edit: FileEdit) -> FileEdit:
        path = _normal(edit.path)
        if self._keep_texts(path):
            return FileEdit(
                path=path,
                created=edit.created,
                original=edit.original,
                content=edit.content,
                replacements=edit.replacements,
                patch=edit.patch,
                user_modified=edit.user_modified,
            )
        return FileEdit(path=path, created=edit.created)

    def finish(self) -> SessionFiles:
        for line in sorted(self._lines, key=lambda line: line.place):
            match line.found:
                case FileSnapshot() as snapshot:
                    self._add_snapshot(line, snapshot)
                case FileDelta(backup=FileBackup() as backup, path=str() as path) as delta:
                    self._add_backup(line, path, backup, "first-touch", delta.message_id, delta.timestamp)
                case FileEdit() as edit:
                    self._add_edit(line, edit)
        for file in self._session.files.values():
            file.versions.sort(key=lambda version: version.place)
        return self._session

    def _add_snapshot(self, line: _Line, snapshot: FileSnapshot) -> None:
        kind: Kind = "first-touch" if snapshot.is_update else "checkpoint"
        message = snapshot.message_id if snapshot.is_update else snapshot.snapshot_message_id
        for path, backup in snapshot.backups.items():
            time = backup.time if snapshot.is_update else snapshot.timestamp
            self._add_backup(line, path, backup, kind, message, time)

    def _add_backup(
        self, line: _Line, path: str, backup: FileBackup, kind: Kind, message: str | None, time: datetime | None
    ) -> None:
        absolute = self._resolve(path, backup)
        state = (backup.file_name, backup.version)
        file = self._session.files.setdefault(absolute, TouchedFile(absolute))
        unchanged = self._last_backup.get(absolute) == state
        # A snapshot repeats every file. A repeated version matters only after an edit: then the edit was undone.
        if unchanged and (kind == "first-touch" or file.versions[-1].kind != "edit"):
            return
        self._last_backup[absolute] = state
        place = self._session.places.get(message or "", line.place) if kind == "checkpoint" else line.place
        file.versions.append(
            FileVersion(
                kind=kind,
                place=place,
                message_uuid=message,
                time=time or line.time,
                version=backup.version,
                backup=backup.file_name,
                on_disk=backup.file_name is not None and backup.file_name in self._on_disk,
                absent=backup.absent,
            )
        )

    def _add_edit(self, line: _Line, edit: FileEdit) -> None:
        file = self._session.files.setdefault(edit.path, TouchedFile(edit.path))
        file.versions.append(
            FileVersion(
                kind="edit",
                place=line.place,
                message_uuid=line.uuid,
                time=line.time,
                edit=edit,
                lines_added=line.lines_added,
                lines_removed=line.lines_removed,
            )
        )

    def _resolve(self, path: str, backup: FileBackup) -> str:
        """Return the absolute path of a tracked file. The hash in the backup's name identifies the working directory."""
        key = (path, backup.real_parent_dir)
        known = self._absolute.get(key)
        if known is None:
            known = self._absolute[key] = self._find_absolute(path, backup)
        return known

    def _find_absolute(self, path: str, backup: FileBackup) -> str:
        if _is_absolute(path):
            return _normal(path)
        candidates = [_normal(_join(cwd, path)) for cwd in self._session.cwds]
        if backup.real_parent_dir:
            candidates.append(_normal(_join(backup.real_parent_dir, re.split(r"[\\/]", path)[-1])))
        name = parse_backup_name(backup.file_name) if backup.file_name else None
        for candidate in candidates:
            if name is not None and hash_of_path(candidate) == name.path_hash:
                return candidate
        fallback = candidates[0] if candidates else _normal(path)
        return next((candidate for candidate in candidates if candidate in self._edited), fallback)


def _count_lines(edit: FileEdit) -> tuple[int, int]:
    """Return how many lines an edit added and removed."""
    if edit.created and not edit.patch:
        return (edit.text_after() or "").count("\n") + (not (edit.text_after() or "\n").endswith("\n")), 0
    lines = [line for hunk in edit.patch for line in hunk.lines]
    return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or _WINDOWS_PATH.match(path) is not None


def _join(folder: str, path: str) -> str:
    return ntpath.join(folder, path) if _WINDOWS_PATH.match(folder) else posixpath.join(folder, path)


def _normal(path: str) -> str:
    if not path:
        return path
    return ntpath.normpath(path) if _WINDOWS_PATH.match(path) else posixpath.normpath(path)
