"""Use the vault of a library: `library.vault`. It holds copies of all sessions where Claude Code cannot delete them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..errors import NotFound, RecollectError
from ..export.formatting import plural
from ..format.times import to_iso
from ..vault.capture import CaptureReport
from ..vault.compact import CompactReport, compact, forget_lost, lost_files, survey
from ..vault.health import files_with, is_as_left, lost_blocks, read_state
from ..vault.retention import SOON_DAYS as SOON_DAYS
from ..vault.retention import Guard as Guard
from ..vault.retention import guard
from ..vault.vault import Vault
from ..vault.verify import VerifyReport as VerifyReport
from ..vault.verify import verify
from .keeping import keep_homes, keep_on
from .plan import Committed, Plan

if TYPE_CHECKING:
    from ..store.scan import SessionFile
    from .keeping import Progress, Walk
    from .library import Library
    from .restoring import VaultSessions

WORTH_FREEING: Final = 1_000_000
"""If `compact` would free fewer bytes than this, it is not worth mentioning."""


@dataclass
class VaultStatus:
    """What the vault has of the homes, and how much disk space it uses."""

    folder: Path
    homes: list[Guard]
    """For each home: what Claude Code will delete soon, and what of it the vault has."""
    files: int = 0
    bytes: int = 0
    """The size of all files that can be restored, counting every generation."""
    stored: int = 0
    reclaimable: int = 0
    """How many bytes `compact` frees at least."""
    last_kept: float | None = None
    read_since: float | None = None
    """Every block was read and verified since this time."""
    other_machine: str | None = None
    """The name of another machine that writes to the vault: then this one keeps nothing there."""

    @property
    def is_damaged(self) -> bool:
        return any(item.damaged for item in self.homes)

    @property
    def is_worth_compacting(self) -> bool:
        return self.reclaimable > max(self.stored // 4, WORTH_FREEING)

    def as_dict(self) -> dict[str, Any]:
        return {
            "vault": str(self.folder),
            "homes": [asdict(item) for item in self.homes],
            "files": self.files,
            "bytes": self.bytes,
            "stored": self.stored,
            "ratio": round(self.bytes / self.stored, 2) if self.stored else None,
            "reclaimable": self.reclaimable,
            "last_kept": to_iso(self.last_kept),
            "read_since": to_iso(self.read_since),
            "other_machine": self.other_machine,
        }


class LibraryVault:
    """Keeps, checks and compacts the vault, and reports what it has of the library's homes. The vault need not exist yet."""

    def __init__(self, library: Library, *, is_read: bool) -> None:
        self._library = library
        self._is_read = is_read

    @property
    def folder(self) -> Path:
        return self.store.folder

    @property
    def exists(self) -> bool:
        """Return whether anything was ever kept."""
        return self.store.exists

    @property
    def store(self) -> Vault:
        """Return the vault's files, opened anew."""
        return Vault(self._library.own_folder("data") / "vault")

    def existing(self) -> Vault:
        """Return the vault's files. Raises NotFound if nothing was ever kept."""
        vault = self.store
        if not vault.exists and not vault.packs.is_dir():
            raise NotFound(
                f"nothing was kept yet: there is no vault at {vault.folder}",
                hint="`recollect keep` keeps everything there is", slug="no-vault",
            )  # fmt: skip
        return vault

    @cached_property
    def sessions(self) -> VaultSessions | None:
        """Return the sessions of the homes that the vault has; None if nothing was ever kept."""
        if not self._is_read or not self.folder.is_dir():
            return None
        from .restoring import VaultSessions

        return VaultSessions(self._library.homes, self.store, self._library.own_folder("cache"))

    # --- keeping ------------------------------------------------------------------------------------------------------

    def keep(
        self, *, full: bool = False, progress: Progress | None = None, walks: Mapping[str, Walk] | None = None
    ) -> list[CaptureReport]:
        """Copy everything new in the homes into the vault, and report what was copied, home by home."""
        library = self._library
        return keep_homes(library.homes, full=full, progress=progress, walks=walks, folders=library.own_folder)

    def keep_on(self, *, polling: bool = False) -> Iterator[list[CaptureReport]]:
        """Keep now, and again whenever something changes in the homes, until interrupted."""
        return keep_on(self._library.homes, polling=polling, folders=self._library.own_folder)

    def take_over(self) -> None:
        """Make this machine the one that writes to the vault. Call it only if the other machine no longer does."""
        self.store.take_over()

    # --- status -------------------------------------------------------------------------------------------------------

    def status(self, *, now: float | None = None) -> VaultStatus:
        """Report what is kept, and what Claude Code will delete soon."""
        vault = self.store
        status = VaultStatus(vault.folder, self.guards(now=now))
        if vault.exists:
            contents = vault.contents
            status.files, status.bytes, status.stored = len(contents.files), contents.raw_bytes(), vault.stored_bytes()
            status.reclaimable, status.last_kept = survey(vault).unused, contents.last_time
            status.read_since = read_state(vault).read_since
            status.other_machine = vault.other_machine
        return status

    def guards(self, *, now: float | None = None) -> list[Guard]:
        """Report for each home which sessions Claude Code will delete soon, and which the vault has as they are now."""
        library, vault, moment = self._library, self.store, time.time() if now is None else now
        return [
            guard(vault, home, [file for file in library.files() if file.home is home], now=moment)
            for home in library.homes
        ]

    def not_kept(self, files: list[SessionFile], *, now: float | None = None) -> set[str]:
        """Return the paths of those transcripts that the vault does not have as they are now.

        Without `files` the vault is not opened. A vault that cannot be read counts as having nothing.
        """
        if not files or self.sessions is None:
            return {str(file.path) for file in files}
        vault, moment = self.store, time.time() if now is None else now
        found: set[str] = set()
        for home in self._library.homes:
            here = [file for file in files if file.home is home]
            try:
                names = guard(vault, home, here, now=moment).behind
            except (RecollectError, OSError):
                names = [file.session_id for file in here]
            found.update(str(file.path) for file in here if file.session_id in names)
        return found

    def problem(self) -> str | None:
        """Return a problem of the vault that a quick check finds, or None. Opens it only if it changed since the last keep."""
        if self.sessions is None:
            return None
        vault = self.store
        try:
            vault.check_format()
            if is_as_left(vault):
                return None
            if read_state(vault).packs and not vault.contents.files:
                return "the vault has lost everything that it had"
            files = files_with(vault.contents, lost_blocks(vault))
        except (RecollectError, OSError) as problem:
            return str(problem)
        return f"the vault has lost part of {plural(len(files), 'kept file')}" if files else None

    def other_machine(self) -> str | None:
        """Return the name of another machine that writes to the vault, so that this one keeps nothing there; else None."""
        return None if self.sessions is None else self.store.other_machine

    def verify(self, *, deep: bool = False) -> VerifyReport:
        """Read the whole vault and check every hash. `deep` also compares it with the files that are still in the homes."""
        homes = [home for home in self._library.homes if home.root.is_dir()] if deep else []
        return verify(self.existing(), deep=deep, homes=homes)

    # --- changing -----------------------------------------------------------------------------------------------------

    def compact(self) -> CompactPlan:
        """Rewrite the vault's packs without unused blocks to free space. Nothing that was kept is lost."""
        return CompactPlan(self.existing())

    def forget_lost(self) -> Plan:
        """Give up what the vault has lost for good, so that keeping no longer reports it."""
        return _ForgetPlan(self.existing())


class CompactPlan(Plan):
    """Compacts the vault. `report` estimates what can be freed, and after `commit` says what was freed."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self.report: CompactReport = survey(vault)
        super().__init__(None, self._data())

    def _data(self) -> dict[str, Any]:
        return {"vault": str(self._vault.folder), **self.report.as_dict()}

    @property
    def title(self) -> str:
        return f"Compact the vault at {self._vault.folder}"

    @property
    def steps(self) -> list[str]:
        return [f"store {plural(self.report.files, 'file')} anew"] if self.report.is_worthwhile else []

    def commit(self, progress: Callable[[int, int], None] | None = None) -> Committed:
        steps = self.steps
        self.report = compact(self._vault, progress=progress)
        self.result = self._data()
        return Committed(None, self.title, steps, self.result, None)


class _ForgetPlan(Plan):
    """Gives up the generations of kept files that can no longer be read whole."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        files = lost_files(vault)
        super().__init__(None, {"vault": str(vault.folder), "files": files}, destructive=bool(files))

    @property
    def title(self) -> str:
        return f"Give up what is lost of {plural(len(self.result['files']), 'kept file')}"

    @property
    def steps(self) -> list[str]:
        return [f"give up {path}" for path in self.result["files"]]

    def commit(self) -> Committed:
        steps = self.steps
        if steps:
            self.result["files"] = forget_lost(self._vault)
        return Committed(None, self.title, steps, self.result, None)
