"""Mask secrets in a vault: everything is rewritten as a compaction does it, with the masked bytes of the files that held one.

Every generation and every snapshot stays, at the size that it has when masked. The new packs are read back before the manifest
replaces the old one, and then the old packs are removed: from that moment on the old bytes are gone.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ..errors import DamagedData, RecollectError
from ..journal import disk
from .blocks import BadBlock, pack_name, pack_numbers
from .compact import Compaction, Progress
from .manifest import FileRecord, Generation, KeptFile, Piece, Seen, to_text
from .vault import Vault
from .writer import BLOCK, VaultWriter, recover

Pairs = Callable[[str, Iterable[bytes]], Iterator[tuple[bytes, bytes]]]
"""Given the path of a file and its bytes: the bytes in pieces, each with what takes its place."""
_Key = tuple[int, str, int]


def generations(vault: Vault) -> Iterator[tuple[KeptFile, Generation]]:
    """Yield every generation of every kept file."""
    for file in vault.contents.files.values():
        for generation in file.generations.values():
            yield file, generation


def generation_bytes(vault: Vault, file: KeptFile, generation: Generation) -> Iterator[bytes]:
    """Yield the bytes of a generation. Raises DamagedData."""
    for piece in generation.pieces:
        try:
            yield vault.piece(piece)
        except BadBlock as problem:
            raise DamagedData(
                f"{file.path}: {vault.name_of(piece.block)} {problem}; a damaged vault is not masked", slug="vault-damaged",
                hint="`recollect verify` tells what is damaged, `recollect keep --full` heals what the homes still have",
            ) from problem  # fmt: skip


def mask_vault(vault: Vault, pairs: Pairs, holding: set[_Key], progress: Progress | None = None) -> None:
    """Rewrite a vault with the generations of `holding` (home, path, generation) masked. Call with its lock held.

    Raises DamagedData, Refused and StoreBusy; then the vault is unchanged.
    """
    end_interrupted(vault)
    try:
        try:
            _Masking(vault, pairs, holding, progress).run()
        finally:
            vault.refresh()
            with contextlib.suppress(OSError, RecollectError):
                recover(vault)
            vault.refresh()
        _refuse_old_packs(vault)
    except OSError as problem:
        raise disk.explain(problem, vault.folder) from problem


def end_interrupted(vault: Vault) -> None:
    """End what a crash left half done: after a masking, old packs may still be there. Call with the lock held."""
    try:
        vault.refresh()
        recover(vault)
        vault.refresh()
        if vault.manifest.is_whole:
            _refuse_old_packs(vault)
    except OSError as problem:
        raise disk.explain(problem, vault.folder) from problem


def _refuse_old_packs(vault: Vault) -> None:
    """Raise if a pack that the manifest no longer names is still there: it holds the old bytes."""
    named = {commit.pack for commit, _ in vault.manifest.commits}
    old = [number for number in pack_numbers(vault.packs) if number not in named]
    if old or vault.compacting.exists():
        what = vault.packs / pack_name(old[0]) if old else vault.compacting
        raise DamagedData(
            f"the vault is masked, but {what} could not be removed", slug="write-failed", hint="remove it, or try again"
        )


class _Masking(Compaction):
    def __init__(self, vault: Vault, pairs: Pairs, holding: set[_Key], progress: Progress | None) -> None:
        super().__init__(vault, progress)
        self._pairs = pairs
        self._holding = holding
        self._sizes: dict[_Key, dict[int, int]] = {}
        """The new sizes of the snapshots of each masked generation, by their old sizes."""

    def _write(self, writer: VaultWriter) -> None:
        super()._write(writer)
        self.old = replace(self.old, files={key: self._expected(file) for key, file in self.old.files.items()})

    def _store(self, writer: VaultWriter, file: KeptFile, generation: Generation) -> None:
        key = (file.home, file.path, generation.number)
        if key not in self._holding:
            super()._store(writer, file, generation)
            return
        looks = [look for look in file.looks if look.generation == generation.number]
        sizes = _Sizes(look.size for look in looks)
        digest = hashlib.sha256()
        pieces: list[Piece] = []
        waiting = bytearray()

        def flush() -> None:
            if waiting:
                data = bytes(waiting)
                digest.update(data)
                pieces.append(writer.add(data))
                waiting.clear()

        for old, new in self._pairs(file.path, generation_bytes(self.vault, file, generation)):
            sizes.pass_by(len(old), len(new), is_same=old is new or old == new)
            for start in range(0, len(new), BLOCK):
                waiting += new[start : start + BLOCK]
                if len(waiting) >= BLOCK:
                    flush()
        flush()
        self._sizes[key] = sizes.new
        self.hashes[key] = digest.digest()
        *before, last = [look._replace(size=sizes.new[look.size]) for look in looks]
        writer.record(
            FileRecord(
                file.home, to_text(file.path), generation.number, last.size, last.mtime_ns, last.ctime_ns, last.inode,
                0, pieces, last.time, [Seen(look.time, look.size, look.mtime_ns) for look in before],
            )
        )  # fmt: skip

    def _expected(self, file: KeptFile) -> KeptFile:
        looks = [
            look._replace(size=self._sizes.get((file.home, file.path, look.generation), {}).get(look.size, look.size))
            for look in file.looks
        ]
        return KeptFile(file.home, file.path, file.generations, looks)


class _Sizes:
    """Finds where the ends of snapshots lie in the masked bytes, while these are made."""

    def __init__(self, sizes: Iterable[int]) -> None:
        self._waiting = sorted(set(sizes))
        self._old = self._new = 0
        self.new: dict[int, int] = {0: 0}

    def pass_by(self, old: int, new: int, *, is_same: bool) -> None:
        """Note the next piece: its old and its new length. A snapshot that ends inside of a changed one ends inside of it."""
        while self._waiting and self._waiting[0] <= self._old + old:
            size = self._waiting.pop(0)
            into = size - self._old
            self.new[size] = self._new + (new if into == old else into if is_same else min(into, new))
        self._old, self._new = self._old + old, self._new + new
