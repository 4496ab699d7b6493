"""Find all kept files of a session, by their paths, their first lines, or the prompt history."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from typing import Final

from ..errors import RecollectError
from ..format.decode import parse_lines
from ..format.history import parse_history_line
from ..format.line import read_entry_lines, read_lines
from ..format.path_text import to_text
from ..store.layout import FileKind, HomeFile, file_at, is_session_id
from .contents import KeptFile, Snapshot
from .stream import KeptStream
from .vault import Vault

_SLUG: Final = re.compile(rb'"slug":"([A-Za-z0-9_-]{1,200})"')


class KeptSession:
    """A session in the vault, at a moment."""

    def __init__(self, session_id: str, folder: str, transcript: KeptFile, look: Snapshot) -> None:
        self.session_id = session_id
        self.folder = folder
        self.transcript = transcript
        self.look = look
        self.files: list[tuple[KeptFile, Snapshot]] = [(transcript, look)]
        """All files that belong to this session alone, its transcript first."""

    @property
    def home(self) -> int:
        return self.transcript.home


class Footprints:
    """The sessions of one home in the vault, now or at a moment."""

    def __init__(self, vault: Vault, home: int, *, at: float | None = None) -> None:
        self._vault = vault
        self.looks: dict[str, tuple[KeptFile, Snapshot]] = {}
        for path, file in vault.contents.files_of(home).items():
            look = file.at(at)
            if look is not None:
                self.looks[path] = (file, look)
        self.sessions: dict[tuple[str, str], KeptSession] = {}
        """By project folder and id."""
        self._beside: list[tuple[str, KeptFile, Snapshot]] = []
        self._find_sessions()

    def _find_sessions(self) -> None:
        rest: list[tuple[HomeFile, KeptFile, Snapshot]] = []
        for path, (kept, look) in self.looks.items():
            file = file_at(path.split("/"))
            folder = file.folder or ""
            if file.kind is FileKind.TRANSCRIPT:
                name = to_text(file.session_id or "")
                self.sessions[(folder, name)] = KeptSession(name, folder, kept, look)
            elif file.kind is FileKind.SUBAGENT_TRANSCRIPT and file.session_id is None:
                self._beside.append((folder, kept, look))
            else:
                rest.append((file, kept, look))
        by_id: dict[str, list[KeptSession]] = {}
        for session in self.sessions.values():
            by_id.setdefault(session.session_id, []).append(session)
        for file, kept, look in rest:
            for session in self._owners(file, by_id):
                session.files.append((kept, look))

    def _owners(self, file: HomeFile, by_id: dict[str, list[KeptSession]]) -> Iterable[KeptSession]:
        """Return the sessions that a file belongs to; for a file in a project folder, only one of that project."""
        if file.session_id is None:
            return ()
        if file.folder is None:
            # Outside of project folders, only a valid id is certain to name a session.
            return by_id.get(file.session_id, ()) if is_session_id(file.session_id) else ()
        owner = self.sessions.get((file.folder, to_text(file.session_id)))
        return () if owner is None else (owner,)

    def complete(self, session: KeptSession) -> list[tuple[KeptFile, Snapshot]]:
        """Return the files of a session, including those linked only by content: old subagents, pastes, the plan."""
        found = {file.path: (file, look) for file, look in session.files}
        for folder, file, look in self._beside:
            if folder == session.folder and self._first_session_id(file, look) == session.session_id:
                found[file.path] = (file, look)
        for path in [*self._pastes(session.session_id), *self._plans(session)]:
            if path in self.looks:
                found[path] = self.looks[path]
        return list(found.values())

    def _first_session_id(self, file: KeptFile, look: Snapshot) -> str | None:
        try:
            with io.BufferedReader(KeptStream(self._vault, file, look)) as stream:
                for item in parse_lines(read_entry_lines(stream), []):
                    if item.entry.sessionId:
                        return item.entry.sessionId
        except (RecollectError, OSError):
            return None
        return None

    def _pastes(self, session_id: str) -> list[str]:
        """Return the paths of pastes that the history names for this session only."""
        known = self.looks.get("history.jsonl")
        if known is None or not any(path.startswith("paste-cache/") for path in self.looks):
            return []
        users: dict[str, set[str | None]] = {}
        try:
            with io.BufferedReader(KeptStream(self._vault, *known)) as stream:
                for line in read_lines(stream):
                    for entry in parse_history_line(line.data, number=line.number):
                        for paste in entry.pasted:
                            if paste.content_hash is not None and paste.content_hash.isalnum():
                                users.setdefault(paste.content_hash, set()).add(entry.session_id)
        except (RecollectError, OSError):
            return []
        return [f"paste-cache/{name}.txt" for name, used_by in users.items() if used_by == {session_id}]

    def _plans(self, session: KeptSession) -> list[str]:
        if not any(path.startswith("plans/") for path in self.looks):
            return []
        names: set[bytes] = set()
        try:
            for chunk in self._vault.chunks(session.transcript, session.look):
                names.update(_SLUG.findall(chunk))
        except RecollectError:
            pass
        return [f"plans/{name.decode()}.md" for name in sorted(names)]
