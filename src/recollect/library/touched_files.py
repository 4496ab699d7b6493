"""Show the files that a session touched (`session.files()`): their versions, earlier contents, and what changed.

    files = session.files()
    for file in files.rows:
        print(file.path, file.edits)
    print(files.content("src/main.py", at="end").content)
    for difference in files.differences():
        print(difference.diff)

Contents come from the checkpoints of Claude Code and from the results of its edits. What the shell or a person changed
appears only from the next checkpoint on.
"""

from __future__ import annotations

import base64
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from ..edit.state_lines import MESSAGE_FORMS
from ..errors import NotFound
from ..store.file_contents import FileState, first_state, last_state, state_at, unified_diff
from ..store.file_versions import FileVersion, SessionFiles, TouchedFile, collect_file_versions
from ..store.side_files import backup_reader, file_backups
from .locate import message_uuid

if TYPE_CHECKING:
    from .session import Session

START: Final = "start"
END: Final = "end"
"""Names for the moments before the first and after the last version of a file."""


class FileRow(Struct, kw_only=True):
    """A file that a session tracked or edited."""

    path: str
    versions: int
    edits: int
    lines_added: int
    lines_removed: int
    created: bool
    """Whether the file did not exist before the session touched it."""
    deleted: bool
    """Whether, as far as is known, the file was deleted in the end."""
    first: datetime | None
    last: datetime | None


class VersionRow(Struct, kw_only=True):
    """A known version of a file: `kind` is checkpoint, first-touch or edit."""

    number: int
    kind: str
    message_uuid: str | None
    time: datetime | None
    version: int | None
    backup: str | None
    on_disk: bool
    absent: bool
    lines_added: int
    lines_removed: int


class FileContent(Struct, kw_only=True):
    """A file as it was at a moment of the session."""

    path: str
    at: str
    """The uuid of the message, or `start` or `end`."""
    state: FileState

    @property
    def content(self) -> bytes | None:
        """Return the bytes of the file; None if the file did not exist (`exists` is False) or its content is lost."""
        return self.state.content

    @property
    def exists(self) -> bool | None:
        """Return whether the file existed; None if that is not known."""
        return self.state.exists

    @property
    def note(self) -> str | None:
        """Return why the content is uncertain; None if it is certain."""
        return self.state.note

    @property
    def is_lost(self) -> bool:
        """Return whether the file may have existed but its content is not known."""
        return self.content is None and self.exists is not False

    def as_dict(self) -> dict[str, Any]:
        """Return the file as plain data for JSON: text as UTF-8, other bytes in base64."""
        state, encoding, text = self.state, None, None
        if state.content is not None:
            try:
                encoding, text = "utf-8", state.content.decode("utf-8")
            except UnicodeDecodeError:
                encoding, text = "base64", base64.b64encode(state.content).decode("ascii")
        return {
            "path": self.path,
            "at": self.at,
            "exists": state.exists,
            "certain": state.certain,
            "source": state.source,
            "note": state.note,
            "message_uuid": state.message_uuid,
            "encoding": encoding,
            "content": text,
        }


class FileDifference(Struct, kw_only=True):
    """What changed in a file between two moments, as a unified diff; `lost` says why it is not known."""

    path: str
    start: str
    end: str
    certain: bool
    diff: list[str]
    lost: str | None


class TouchedFiles:
    """The files of one session. The texts of edits are held in memory only for the files that are requested."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._on_disk = file_backups(session.home, session.id)
        self._read_backup = backup_reader(session.home, session.id)
        self._found = self._collect(frozenset())
        self._with_texts: tuple[frozenset[str], SessionFiles] = (frozenset(), self._found)

    def _collect(self, wanted: frozenset[str]) -> SessionFiles:
        session = self._session
        with session:
            return collect_file_versions(
                session.entries(),
                subagents=(session.entries(subagent.subagent_id) for subagent in session.file.subagents),
                backups_on_disk=self._on_disk,
                keep_texts=wanted.__contains__,
            )

    def _texts(self, paths: frozenset[str]) -> dict[str, TouchedFile]:
        """Return these files with the texts of their edits, reading the transcript again if needed."""
        if not paths <= self._with_texts[0]:
            self._with_texts = (paths, self._collect(paths))
        return self._with_texts[1].files

    @property
    def rows(self) -> list[FileRow]:
        """Return all files, in the order in which the session touched them."""
        return [
            FileRow(
                path=file.path, versions=len(file.versions), edits=file.edits, lines_added=file.lines_added,
                lines_removed=file.lines_removed, created=file.created, deleted=file.deleted,
                first=file.versions[0].time if file.versions else None,
                last=file.versions[-1].time if file.versions else None,
            )
            for file in self._found.files.values()
        ]  # fmt: skip

    def find(self, path: str) -> str:
        """Return the full path of a file, given by its full path, its path in the project, or its last parts. Raises NotFound."""
        matching = self._found.matching(path)
        if len(matching) == 1:
            return matching[0].path
        names = [file.path for file in matching] or sorted(self._found.files, key=lambda name: path not in name)
        problem = "may be any of several files" if matching else "is not a file that this session touched"
        slug = "ambiguous-file" if matching else "no-such-file"
        raise NotFound(f"{path[:200]!r} {problem}", slug=slug, nearest=tuple(names[:10]))

    def versions(self, path: str) -> list[VersionRow]:
        """Return the known versions of a file, oldest first."""
        return [_version(number, item) for number, item in enumerate(self._found.files[self.find(path)].versions, 1)]

    def version_changes(self, path: str) -> list[tuple[VersionRow, list[str], str | None]]:
        """Return each version with the unified diff of its edit, and why that diff is uncertain."""
        full = self.find(path)
        file = self._texts(frozenset({full}))[full]
        found = []
        for number, item in enumerate(file.versions, 1):
            before = state_at(file, item.place, "before", self._read_backup)
            after = state_at(file, item.place, "after", self._read_backup)
            lines = unified_diff(before.content, after.content, full) if item.kind == "edit" else []
            found.append((_version(number, item), lines, after.note))
        return found

    def content(self, path: str, at: str = END, *, before: bool = False) -> FileContent:
        """Return a file as it was after a message (with `before`: before the message), or at `start` or `end`."""
        full, moment = self.find(path), self._moment(at)
        return FileContent(
            path=full, at=moment, state=self._state(self._texts(frozenset({full}))[full], moment, before)
        )

    def differences(
        self, path: str | None = None, start: str = START, end: str = END, *, before: bool = False
    ) -> list[FileDifference]:
        """Return what changed from one message to another, in one file or in all. `before` includes the first message."""
        first, last = self._moment(start), self._moment(end)
        wanted = frozenset(self._found.files if path is None else [self.find(path)])
        return [
            self._difference(file, first, last, before)
            for name, file in self._texts(wanted).items()
            if name in wanted
        ]  # fmt: skip

    def _difference(self, file: TouchedFile, start: str, end: str, before: bool) -> FileDifference:
        states = [
            FileContent(path=file.path, at=start, state=self._state(file, start, before)),
            FileContent(path=file.path, at=end, state=self._state(file, end, False)),
        ]
        lost = next((item.note or "its content is lost" for item in states if item.is_lost), None)
        old, new = states[0].content, states[1].content
        return FileDifference(
            path=file.path, start=start, end=end, certain=all(item.state.certain for item in states), lost=lost,
            diff=[] if lost is not None else unified_diff(old, new, file.path, (start, end)),
        )  # fmt: skip

    def _moment(self, message: str) -> str:
        """Return the full uuid of a message, or `start` or `end` as given."""
        places = self._found.places
        if message in (START, END) or message in places:
            return message
        found = message_uuid(self._session, message)
        if found not in places:
            raise NotFound(
                f"no row {message!r} in this session",
                slug="no-such-message",
                hint=f"name it by {MESSAGE_FORMS}, `start` or `end`",
            )
        return found

    def _state(self, file: TouchedFile, moment: str, before: bool) -> FileState:
        if moment == START:
            return first_state(file, self._read_backup)
        if moment == END:
            return last_state(file, self._read_backup)
        return state_at(file, self._found.places[moment], "before" if before else "after", self._read_backup)


def _version(number: int, version: FileVersion) -> VersionRow:
    return VersionRow(
        number=number,
        kind=version.kind,
        message_uuid=version.message_uuid,
        time=version.time,
        version=version.version,
        backup=version.backup,
        on_disk=version.on_disk,
        absent=version.absent,
        lines_added=version.lines_added,
        lines_removed=version.lines_removed,
    )
