"""Index transcripts that a home has lost and the vault still has: their bytes are read from the vault.

To the index they are ordinary files, with a device number of their own. The list of the vault's files is read once per
commit of the vault and stored as a note in the catalogue, so a query with an unchanged vault does not open it.
"""

from __future__ import annotations

import marshal
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import apsw

from ...format.path_text import to_text

if TYPE_CHECKING:
    from ...vault.manifest import KeptFile
    from ...vault.vault import Vault

DEVICE = -1
"""The device number under which the index records files of the vault."""
_FORM = 1
_Listed = list[tuple[str, str, int, int, int]]


class KeptTranscripts:
    """The transcripts that a vault holds, of any home."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = os.fspath(folder)
        self._vault: Vault | None = None
        self._opened_at: tuple[int, int] | None = None
        self._files: dict[tuple[str, str], KeptFile] = {}

    @property
    def manifest(self) -> str:
        """Return the path of the vault's manifest, which changes with every commit of the vault."""
        return os.path.join(self.folder, "manifest")

    def files(self, db: apsw.Connection, root: str) -> dict[str, tuple[str, int, int, int, int, int]]:
        """List a home's transcripts by path, each as (kind, size, mtime_ns, 0, number for the inode, `DEVICE`)."""
        stamp = self._stamp()
        if stamp is None:
            return {}
        name = f"kept:{to_text(root)}"
        noted = db.execute("SELECT value FROM notes WHERE name = ?", (name,)).get
        listed: _Listed | None = None
        if isinstance(noted, bytes):
            form, at, found = marshal.loads(noted)
            listed = found if (form, at) == (_FORM, stamp) else None
        if listed is None:
            listed = self._list(root)
            self._note(db, name, marshal.dumps((_FORM, stamp, listed)))
        return {path: (kind, size, mtime_ns, 0, number, DEVICE) for path, kind, size, mtime_ns, number in listed}

    def open(self, root: str, path: str) -> BinaryIO:
        """Copy a file of the vault to an unnamed temporary file and return that. Raises DamagedData or NotFound."""
        import shutil
        import tempfile

        stream = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - the caller closes it
        try:
            shutil.copyfileobj(self._stream(root, path), stream, 4 << 20)
            stream.seek(0)
        except BaseException:
            stream.close()
            raise
        return stream

    def reader(self, db: apsw.Connection) -> Callable[[int, int, int], bytes | None]:
        """Return a function that reads bytes by (file id, offset, length), or None if they are not in the vault."""

        def read(file_id: int, offset: int, length: int) -> bytes | None:
            from ...errors import RecollectError

            place = db.execute(
                "SELECT h.path, f.path FROM files f JOIN homes h ON h.id = f.home_id WHERE f.id = ? AND f.device = ?",
                (file_id, DEVICE),
            ).fetchone()
            if place is None:
                return None
            try:
                stream = self._stream(*place)
                stream.seek(offset)
                return stream.read(length)
            except (RecollectError, OSError):
                return None

        return read

    def _stamp(self) -> tuple[int, int] | None:
        try:
            info = os.stat(self.manifest)
        except OSError:
            return None
        return info.st_size, info.st_mtime_ns

    def _list(self, root: str) -> _Listed:
        from ...errors import RecollectError
        from ...store.layout import FileKind, kind_of_file

        kinds = {FileKind.TRANSCRIPT: "session", FileKind.SUBAGENT_TRANSCRIPT: "subagent"}
        try:
            self._read_contents()
        except (RecollectError, OSError):
            return []  # what cannot be read now is listed after the next commit of the vault
        return [
            (path, kind, file.last.size, file.last.mtime_ns, _number(path, file.last.generation))
            for (home, path), file in self._files.items()
            if home == to_text(root) and (kind := kinds.get(kind_of_file(path.split("/")))) is not None
        ]

    def _read_contents(self) -> None:
        stamp = self._stamp()
        if self._vault is not None and stamp == self._opened_at:
            return
        from pathlib import Path

        from ...vault.vault import Vault

        self._vault = Vault(Path(self.folder))
        contents = self._vault.contents
        self._files = {
            (to_text(contents.homes[home]), to_text(path)): file for (home, path), file in contents.files.items()
        }
        self._opened_at = stamp

    def _stream(self, root: str, path: str) -> BinaryIO:
        from typing import cast

        from ...errors import NotFound
        from ...vault.restore import KeptStream

        self._read_contents()
        file = self._files.get((to_text(root), path))
        if file is None or self._vault is None:
            raise NotFound(f"{path} is not in the vault", slug="no-such-file")
        return cast("BinaryIO", KeptStream(self._vault, file))

    @staticmethod
    def _note(db: apsw.Connection, name: str, value: bytes) -> None:
        import apsw

        try:
            db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))
        except apsw.Error:  # another process is writing: the next query stores the note
            return


def _number(path: str, generation: int) -> int:
    """Compute a number that stands for an inode: it differs by file and by generation of the file."""
    return -(zlib.crc32(path.encode("utf-8", "surrogateescape")) << 16 | generation & 0xFFFF) - 2
