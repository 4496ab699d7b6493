"""Read files of the vault: as streams, all those of a session, and as what a restore takes."""

from __future__ import annotations

import bisect
import io
import itertools
import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from ..edit.restore_files import FileToRestore
from ..errors import DamagedData, RecollectError
from ..format.decode import parse_lines
from ..format.history import parse_history_line
from ..format.line import read_entry_lines, read_lines
from ..format.path_text import to_text
from ..store.layout import FileKind, HomeFile, file_at, is_session_id
from .blocks import BadBlock
from .manifest import KeptFile, Snapshot
from .vault import Vault

if TYPE_CHECKING:
    from typing import Any


# Read a kept file as a seekable stream, a block at a time.


class KeptStream(io.RawIOBase):
    """A snapshot of a kept file. Reading raises DamagedData if a block is damaged."""

    def __init__(self, vault: Vault, file: KeptFile, look: Snapshot | None = None) -> None:
        self._vault = vault
        self._look = file.last if look is None else look
        self._position = 0
        self._take(file)

    def _take(self, file: KeptFile) -> None:
        self._file = file
        self._pieces = [piece for _, piece in file.pieces(self._look)]
        self._starts = [0, *itertools.accumulate(piece.length for piece in self._pieces)]

    @property
    def size(self) -> int:
        return self._look.size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.size}[whence]
        self._position = max(start + offset, 0)
        return self._position

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        """Return `size` bytes, fewer only at the end."""
        end = self.size if size < 0 else min(self._position + size, self.size)
        parts: list[bytes] = []
        while self._position < end:
            number = bisect.bisect_right(self._starts, self._position) - 1
            piece, start = self._pieces[number], self._starts[number]
            try:
                data = self._vault.piece(piece)
            except BadBlock as problem:
                place = f"{self._file.path}: {self._vault.name_of(piece.block)} {problem}"
                elsewhere = self._vault.compacted(self._file)
                if elsewhere is None:
                    raise DamagedData(
                        place, slug="vault-damaged", hint="`recollect verify` tells all that is damaged"
                    ) from problem
                self._take(elsewhere)
                continue
            part = data[self._position - start : end - start]
            parts.append(part)
            self._position += len(part)
        return b"".join(parts)

    def readall(self) -> bytes:
        return self.read()


# Find all kept files of a session, by their paths, their first lines, or the prompt history.

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


def files_to_restore(
    vault: Vault, files: Iterable[tuple[KeptFile, Snapshot]], *, mtime_ns: int | None = None, partly: bool = False
) -> Iterator[FileToRestore]:
    """Yield each file as it was in its snapshot, or at `mtime_ns` if given.

    With `partly`, what can still be read of a damaged file.
    """
    for file, look in files:
        whole = not partly or is_whole(vault, file, look)
        chunks = _Whole(vault, file, look) if whole else _Readable(vault, file, look)
        size = look.size if whole else sum(len(chunk) for chunk in chunks())
        yield FileToRestore(file.path, size, look.mtime_ns if mtime_ns is None else mtime_ns, chunks)


def is_whole(vault: Vault, file: KeptFile, look: Snapshot) -> bool:
    try:
        for _ in vault.chunks(file, look):
            pass
    except DamagedData:
        return False
    return True


class _Whole:
    def __init__(self, vault: Vault, file: KeptFile, look: Snapshot) -> None:
        self.vault, self.file, self.look = vault, file, look

    def __call__(self) -> Iterator[bytes]:
        return self.vault.chunks(self.file, self.look)


class _Readable(_Whole):
    """Reads what is left of a damaged file.

    Of a file of lines, only whole lines: half a line on each side of a gap would become one wrong line.
    """

    def __call__(self) -> Iterator[bytes]:
        lines = self.file.path.endswith(".jsonl")
        rest, after_gap = b"", False
        for offset, piece in self.file.pieces(self.look):
            try:
                data = self.vault.piece(piece)[: self.look.size - offset]
            except BadBlock:
                rest, after_gap = b"", True
                continue
            if not lines:
                yield data
                continue
            if after_gap:
                start = data.find(b"\n") + 1
                if not start:
                    continue
                data, after_gap = data[start:], False
            cut = data.rfind(b"\n") + 1
            if not cut:
                rest += data
                continue
            yield rest + data[:cut]
            rest = data[cut:]
        if rest:
            yield rest
