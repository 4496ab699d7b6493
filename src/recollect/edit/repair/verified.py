"""A change to files that were read: they must still be what was read, byte for byte, and so must the copies kept of them.

Under the lock, before anything happens, the files are hashed again. The copy of each in the journal is read back and hashed
before something takes the file's place: a copy that is not what was read cannot be undone to, so the change is refused.
"""

from __future__ import annotations

from pathlib import Path

from ...errors import DamagedData, NotFound, StoreBusy
from ...journal.actions import Replace
from ...journal.changes import Change, Journal, Record
from ...journal.content_hash import hash_of
from ...store.home import Home


class VerifiedChange(Change):
    def __init__(self, journal: Journal, home: Home, name: str, title: str) -> None:
        super().__init__(journal, home, name, title)
        self._hashes: dict[str, str] = {}

    def read_from(self, path: Path) -> None:
        """The plan is made from this file as it is now. Call it before reading."""
        self.rely_on(path)
        try:
            self._hashes[str(path)] = hash_of(path)
        except FileNotFoundError as problem:
            raise NotFound(f"no such file: {path}", slug="no-such-file") from problem
        except OSError as problem:
            raise DamagedData(f"cannot read {path}: {problem.strerror or problem}", slug="unreadable-file") from problem

    def _make_sure(self) -> None:
        super()._make_sure()
        for path, digest in self._hashes.items():
            if hash_of(Path(path)) != digest:
                raise StoreBusy(
                    f"{path} was changed by somebody else meanwhile",
                    hint="nothing was done; try again", slug="changed-meanwhile",
                )  # fmt: skip

    def begin(self) -> Record:
        for step in self.steps:
            if isinstance(step, Replace) and step.before is not None:
                step.before_hash = self._hashes.get(step.path)
        return super().begin()
