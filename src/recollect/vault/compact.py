"""Compact a vault: rewrite everything it can restore, close together, and free the space of the rest.

A session that is kept after every turn leaves blocks behind that were stored again together with later ones, and small
blocks compress badly. Nothing that can be restored is lost: every generation and every snapshot of every file stays.

The new packs and their manifest are written beside the old ones and read back. Then the packs are moved into place, the
manifest replaces the old one (from that moment on the new packs count), and the old packs are removed. The next capture
cleans up after a crash (writer.py).
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from ..errors import DamagedData, RecollectError
from ..journal import disk
from .blocks import BadBlock, pack_name, pack_numbers
from .health import files_with, unreadable, used_blocks
from .manifest import Contents, FileRecord, Generation, KeptFile, Piece, Seen, Snapshot, to_text
from .vault import Vault
from .verify import verify
from .writer import BLOCK, VaultWriter, recover

Progress = Callable[[int, int], None]
"""Called with the number of steps done and the number of steps to do."""
_FULL_SHARE: Final = 0.5
"""Compaction is worthwhile if blocks hold on average less than this share of what a block may hold."""
_Key = tuple[int, str, int]


@dataclass
class CompactReport:
    """The size of a vault, before and after a compaction."""

    files: int = 0
    bytes: int = 0
    """Bytes that the vault can restore."""
    blocks: int = 0
    unused_blocks: int = 0
    unused: int = 0
    """Bytes of blocks that no file needs: a compaction frees at least this much."""
    stored: int = 0
    blocks_after: int | None = None
    stored_after: int | None = None
    """None if nothing was done."""

    @property
    def is_worthwhile(self) -> bool:
        used = self.blocks - self.unused_blocks
        return self.unused > 0 or used > 2 + self.bytes / (BLOCK * _FULL_SHARE)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def survey(vault: Vault) -> CompactReport:
    """Return what a compaction would gain. Reads only the manifest."""
    contents = vault.contents
    used = {piece.block for _, generation in _generations(contents) for piece in generation.pieces}
    unused = [place for number, place in contents.blocks.items() if number not in used]
    return CompactReport(
        len(contents.files), contents.raw_bytes(), len(contents.blocks), len(unused), sum(place.size for place in unused),
        vault.stored_bytes(),
    )  # fmt: skip


def compact(vault: Vault, *, progress: Progress | None = None) -> CompactReport:
    """Rewrite the vault, if that gains anything.

    Raises DamagedData if something cannot be read, Refused (no room, read-only) and StoreBusy; then the vault is
    unchanged.
    """
    try:
        with vault.locked():
            return compact_locked(vault, progress)
    except OSError as problem:
        raise disk.explain(problem, vault.folder) from problem
    finally:
        vault.refresh()


def compact_locked(vault: Vault, progress: Progress | None = None, *, needed: bool = False) -> CompactReport:
    """Compact a vault whose lock is held; `needed` does it whatever it gains. Raises OSError unwrapped."""
    vault.refresh()
    recover(vault)
    vault.refresh()
    report = survey(vault)
    if not report.is_worthwhile and not needed:
        return report
    try:
        Compaction(vault, progress).run()
    finally:  # removes the unfinished new packs, or the replaced old ones: the manifest decides
        vault.refresh()
        with contextlib.suppress(OSError, RecollectError):
            recover(vault)
    report.blocks_after, report.stored_after = len(vault.contents.blocks), vault.stored_bytes()
    return report


def lost_files(vault: Vault) -> list[str]:
    """Return the kept files of which something can no longer be read. Reads everything."""
    return files_with(vault.contents, unreadable(vault, sorted(used_blocks(vault.contents))))


def forget_lost(vault: Vault) -> list[str]:
    """Drop every generation of a file that cannot be read completely, and return the files that had one.

    Everything else is rewritten. Raises DamagedData if the manifest is damaged, too, Refused and StoreBusy.
    """
    try:
        with vault.locked():
            vault.refresh()
            recover(vault)
            vault.refresh()
            bad = unreadable(vault, sorted(used_blocks(vault.contents)))
            found = files_with(vault.contents, bad)
            if found:
                try:
                    Compaction(vault, None, without=bad).run()
                finally:
                    vault.refresh()
                    with contextlib.suppress(OSError, RecollectError):
                        recover(vault)
            return found
    except OSError as problem:
        raise disk.explain(problem, vault.folder) from problem
    finally:
        vault.refresh()


def _contents_without(contents: Contents, blocks: set[int]) -> Contents:
    """Return the contents without the generations that need one of these blocks; files with no other are dropped."""
    files = {}
    for key, file in contents.files.items():
        whole = {
            number: generation
            for number, generation in file.generations.items()
            if not any(piece.block in blocks for piece in generation.pieces)
        }
        looks = [look for look in file.looks if look.generation in whole]
        if looks:
            files[key] = KeptFile(file.home, file.path, whole, looks)
    return replace(contents, files=files)


class Compaction:
    """Rewrites a vault, once. Masking is one, too, with other bytes (masking.py)."""

    def __init__(self, vault: Vault, progress: Progress | None, *, without: set[int] | None = None) -> None:
        self.vault = vault
        self.old = _contents_without(vault.contents, without) if without else vault.contents
        self.progress = progress
        self.done, self.todo = 0, 2 * len(self.old.files)
        self.hashes: dict[_Key, bytes] = {}
        users = Counter(piece for _, generation in _generations(self.old) for piece in generation.pieces)
        self.shared = {piece for piece, count in users.items() if count > 1}

    def run(self) -> None:
        if not self.vault.manifest.is_whole:
            raise _damaged(f"{self.vault.manifest_path} is damaged")
        numbers = pack_numbers(self.vault.packs)
        self._write(
            VaultWriter(Vault(self.vault.compacting), era=self.old.era + 1, first_pack=max(numbers, default=0) + 1)
        )
        fresh = Vault(self.vault.compacting)
        self._read_back(fresh)
        for number in pack_numbers(fresh.packs):
            disk.rename(fresh.packs / pack_name(number), self.vault.pack_path(number))
        disk.sync_folder(self.vault.packs)
        disk.replace(fresh.manifest_path, self.vault.manifest_path)

    # --- writing --------------------------------------------------------------------------------------------------------

    def _write(self, writer: VaultWriter) -> None:
        for number, root in self.old.homes.items():
            writer.known_home(number, root)
        for file in sorted(self.old.files.values(), key=_first_block):
            for generation in file.generations.values():
                self._store(writer, file, generation)
            if writer.is_due:
                writer.commit(self.old.last_time)
            self._tick()
        writer.commit(self.old.last_time)

    def _store(self, writer: VaultWriter, file: KeptFile, generation: Generation) -> None:
        digest = hashlib.sha256()
        pieces: list[Piece] = []
        for data in self._runs(file, generation):
            digest.update(data)
            pieces.append(writer.add(data))
        self.hashes[(file.home, file.path, generation.number)] = digest.digest()
        *before, last = [look for look in file.looks if look.generation == generation.number]
        writer.record(
            FileRecord(
                file.home, to_text(file.path), generation.number, last.size, last.mtime_ns, last.ctime_ns, last.inode,
                0, pieces, last.time, [Seen(look.time, look.size, look.mtime_ns) for look in before],
            )
        )  # fmt: skip

    def _runs(self, file: KeptFile, generation: Generation) -> Iterator[bytes]:
        """Yield the bytes of a generation in pieces as long as possible; shared pieces are kept as they are."""
        waiting = bytearray()
        for piece in generation.pieces:
            data = self._bytes(file, piece)
            if waiting and (piece in self.shared or len(waiting) + len(data) > BLOCK):
                yield bytes(waiting)
                waiting.clear()
            if piece in self.shared:
                yield data
            else:
                waiting += data
        if waiting:
            yield bytes(waiting)

    def _bytes(self, file: KeptFile, piece: Piece) -> bytes:
        try:
            return self.vault.piece(piece)
        except BadBlock as problem:
            raise _damaged(f"{file.path}: {self.vault.name_of(piece.block)} {problem}") from problem

    # --- reading back ---------------------------------------------------------------------------------------------------

    def _read_back(self, fresh: Vault) -> None:
        """Check every byte and every snapshot of the new vault on disk. Raises DamagedData if anything differs."""
        report = verify(fresh)
        new = fresh.contents
        if report.findings or new.homes != self.old.homes or new.files.keys() != self.old.files.keys():
            raise _failed(report.findings[0].message if report.findings else "other files than before")
        for key, file in self.old.files.items():
            now = new.files[key]
            if (
                _story(now) != _story(file)
                or now.last != file.last
                or now.generations.keys() != file.generations.keys()
            ):
                raise _failed(f"{file.path} has another history")
            for generation in now.generations.values():
                digest = hashlib.sha256()
                for piece in generation.pieces:
                    try:
                        digest.update(fresh.piece(piece))
                    except BadBlock as problem:
                        raise _failed(f"{file.path}: {problem}") from problem
                if digest.digest() != self.hashes[(file.home, file.path, generation.number)]:
                    raise _failed(f"{file.path} has other bytes")
            self._tick()

    def _tick(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.todo)


def _generations(contents: Contents) -> Iterator[tuple[KeptFile, Generation]]:
    for file in contents.files.values():
        for generation in file.generations.values():
            yield file, generation


def _first_block(file: KeptFile) -> tuple[int, int, str]:
    """Sort key of files by their first block, so that files that were kept together are read together."""
    first = next((piece.block for generation in file.generations.values() for piece in generation.pieces), -1)
    return first, file.home, file.path


def _story(file: KeptFile) -> list[tuple[float, int, int, int]]:
    def told(look: Snapshot) -> tuple[float, int, int, int]:
        return look.time, look.generation, look.size, look.mtime_ns

    return [told(look) for look in file.looks]


def _damaged(what: str) -> DamagedData:
    return DamagedData(
        f"{what}; a damaged vault is not compacted, so that nothing is thrown away that could be saved",
        hint="`recollect verify` tells what is damaged, `recollect keep --full` heals what the homes still have",
        slug="vault-damaged",
    )  # fmt: skip


def _failed(what: str) -> DamagedData:
    return DamagedData(
        f"the compacted vault is not what it should be: {what}", hint="the vault is as it was", slug="write-failed"
    )
