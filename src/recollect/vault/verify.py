"""Verify a vault: every byte is covered by a hash or has a known value, so any flipped bit is found.

Without `deep`, all packs are read and every block's hash is checked. With it, every block is unpacked as well, every
piece of every file is compared with the hash that it had in the home, and so are the files of the homes that are still
unchanged.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from msgspec import Struct

from ..errors import RecollectError
from ..store.home import Home, open_inside
from ..store.opening import file_stamp
from .blocks import DATA, MAGIC, RECORDS, BadBlock, decompress, pack_name, pack_numbers, read_block
from .manifest import LOST, Commit, Contents, KeptFile, Piece, encode_commit, read_note
from .selection import CHECKED
from .vault import MACHINE, Vault, format_mark
from .writer import commits_that_miss, decode_records, is_in_the_making

_KNOWN_NAMES: Final = {"format", "manifest", "packs", "damaged", "compacting", CHECKED, MACHINE}


@dataclass
class VaultFinding:
    """Something in the vault that is damaged or does not belong there."""

    code: str
    place: str
    message: str
    harmless: bool = False
    """Nothing that is kept depends on it."""
    files: list[str] = field(default_factory=list)
    """Files that cannot be restored completely because of it."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class VerifyReport:
    findings: list[VaultFinding] = field(default_factory=list)
    packs: int = 0
    blocks: int = 0
    files: int = 0
    bytes: int = 0
    """Bytes read."""
    compared: int = 0
    """Files of homes that were compared (deep)."""

    @property
    def is_sound(self) -> bool:
        return all(finding.harmless for finding in self.findings)


def verify(vault: Vault, *, deep: bool = False, homes: Iterable[Home] = ()) -> VerifyReport:
    """Read the whole vault and report what is damaged. Changes nothing."""
    while True:
        vault.refresh()
        era = vault.contents.era
        report = _Verifier(vault, deep).run(list(homes))
        if report.is_sound:
            return report
        vault.refresh()
        if vault.contents.era == era:  # else a compaction removed what was being read
            return report


class _Verifier:
    def __init__(self, vault: Vault, deep: bool) -> None:
        self.vault = vault
        self.deep = deep
        self.report = VerifyReport()
        self.contents: Contents = vault.contents
        self.by_block = _users(self.contents)

    def run(self, homes: list[Home]) -> VerifyReport:
        self._check_names()
        self._check_manifest()
        commits = {commit.number: (commit, end) for commit, end in self.vault.manifest.commits}
        if not self.vault.manifest.is_whole or self.vault.manifest.torn or not commits:
            missing = commits_that_miss(self.vault.packs, self.vault.manifest)
            commits.update((commit.number, (commit, end)) for commit, end in missing)
        self._check_packs([commits[number] for number in sorted(commits)])
        self._check_files()
        if self.deep:
            for home in homes:
                self._compare(home)
        self.report.files = len(self.contents.files)
        return self.report

    def _tell(self, code: str, place: Path | str, message: str, *, harmless: bool = False, block: int = LOST) -> None:
        files = sorted({file.path for file, _ in self.by_block.get(block, [])})
        if block != LOST and not files:
            message, harmless = f"{message}; nothing depends on it", True
        self.report.findings.append(VaultFinding(code, str(place), message, harmless, files))

    # --- what stands around ---------------------------------------------------------------------------------------------

    def _check_names(self) -> None:
        folder = self.vault.folder
        try:
            mark = (folder / "format").read_bytes()
        except OSError:
            mark = b""
        if mark != format_mark():
            self._tell("vault-format", folder / "format", "the mark of the format is not what it was")
        for name in (CHECKED, MACHINE):
            if (folder / name).exists() and read_note(folder / name, Struct) is None:
                self._tell(
                    "vault-note", folder / name, "is not what it was; the next keep writes it anew", harmless=True
                )
        for path in sorted(folder.iterdir() if folder.is_dir() else []):
            if path.name not in _KNOWN_NAMES:
                self._tell("vault-stray-file", path, "is not part of the vault", harmless=True)
        if self.vault.compacting.exists():
            self._tell(
                "vault-unfinished", self.vault.compacting, "a compaction is under way, or was ended before its time",
                harmless=True,
            )  # fmt: skip
        known = {pack_name(number) for number in pack_numbers(self.vault.packs)}
        for path in sorted(self.vault.packs.iterdir() if self.vault.packs.is_dir() else []):
            if path.name not in known:
                self._tell("vault-stray-file", path, "is not part of the vault", harmless=True)

    def _check_manifest(self) -> None:
        manifest = self.vault.manifest
        path = self.vault.manifest_path
        for bad in manifest.bad:
            self._tell("vault-manifest", f"{path}:{bad.number}", f"the line at byte {bad.offset:,} is not what it was")
        if manifest.torn:
            self._tell(
                "vault-manifest", path, f"the last {manifest.torn:,} bytes are not a complete line",
                harmless=is_in_the_making(self.vault),
            )  # fmt: skip
        if not manifest.commits and not manifest.bad and pack_numbers(self.vault.packs):
            self._tell("vault-manifest", path, "is gone or empty; the packs tell what it said")
        numbers = sorted(commit.number for commit, _ in manifest.commits)
        missing = sorted(set(range(1, (numbers[-1] if numbers else 0) + 1)) - set(numbers))
        if missing and not manifest.bad:
            self._tell("vault-manifest", path, f"{len(missing)} commits are missing")

    # --- packs --------------------------------------------------------------------------------------------------------

    def _check_packs(self, commits: list[tuple[Commit, int]]) -> None:
        by_pack: dict[int, list[tuple[Commit, int]]] = {}
        for commit, end in commits:
            by_pack.setdefault(commit.pack, []).append((commit, end))
        for number in sorted({*by_pack, *pack_numbers(self.vault.packs)}):
            path = self.vault.pack_path(number)
            try:
                with open(path, "rb") as stream:
                    self._check_pack(path, stream, by_pack.get(number, []))
            except OSError as problem:
                self._tell("vault-pack", path, f"cannot be read: {problem.strerror or problem}")
                for commit, _ in by_pack.get(number, []):
                    for block in range(commit.first_block, commit.first_block + len(commit.blocks)):
                        self._tell("vault-block", self.vault.name_of(block), "is gone", block=block)

    def _check_pack(self, path: Path, stream: BinaryIO, commits: list[tuple[Commit, int]]) -> None:
        self.report.packs += 1
        size = stream.seek(0, os.SEEK_END)
        self.report.bytes += size
        stream.seek(0)
        if stream.read(len(MAGIC)) != MAGIC:
            self._tell("vault-pack", path, "does not begin as a pack")
        position = len(MAGIC)
        for commit, end in commits:
            if commit.start != position:
                self._tell("vault-pack", path, f"bytes {position:,} to {commit.start:,} belong to nothing")
            position = self._check_commit(path, stream, commit, end)
        if position < size:
            self._tell(
                "vault-unfinished", path, f"{size - position:,} bytes behind the last commit; the next keep sees to them",
                harmless=True,
            )  # fmt: skip
        elif position > size:
            self._tell("vault-pack", path, f"is cut off: {position - size:,} bytes are missing")

    def _check_commit(self, path: Path, stream: BinaryIO, commit: Commit, end: int) -> int:
        position = commit.start
        for number, block in enumerate(commit.blocks, commit.first_block):
            self.report.blocks += 1
            if block.offset != position:
                self._tell("vault-pack", path, f"bytes {position:,} to {block.offset:,} belong to nothing")
            self._check_block(stream, number, block.offset, block.size, block.raw)
            position = block.offset + block.size
        try:
            records = read_block(stream, position, end - position)
            if records.kind != RECORDS or encode_commit(decode_records(records)) != encode_commit(commit):
                raise BadBlock("says something else than the manifest")
        except BadBlock as problem:
            self._tell("vault-records", f"{path} at byte {position:,}", f"the copy of commit {commit.number} {problem}")
        return end

    def _check_block(self, stream: BinaryIO, number: int, offset: int, size: int, raw: int) -> None:
        try:
            stored = read_block(stream, offset, size)
            if stored.kind != DATA:
                raise BadBlock("is of another kind")
            if not self.deep:
                return
            try:
                data = decompress(stored.payload, raw)
            except ValueError as problem:
                raise BadBlock(str(problem)) from problem
            for file, piece in self.by_block.get(number, []):
                found = data[piece.start : piece.start + piece.length]
                if hashlib.sha256(found).digest() != piece.sha256:
                    raise BadBlock(f"holds other bytes of {file.path} than were kept")
        except BadBlock as problem:
            self._tell("vault-block", self.vault.name_of(number), str(problem), block=number)

    # --- files --------------------------------------------------------------------------------------------------------

    def _check_files(self) -> None:
        for file in self.contents.files.values():
            for generation in file.generations.values():
                for piece in generation.pieces:
                    place = self.contents.blocks.get(piece.block)
                    if place is None or piece.start + piece.length > place.raw:
                        self.report.findings.append(
                            VaultFinding(
                                "vault-lost", file.path, f"{piece.length:,} bytes of it are lost", False, [file.path]
                            )
                        )

    def _compare(self, home: Home) -> None:
        """Compare files of a home whose stamp is unchanged with their kept hashes; a difference is a finding."""
        number = self.contents.home_number(home.real_root)
        if number is None:
            return
        for path, file in self.contents.files_of(number).items():
            look = file.last
            try:
                with open_inside(home, home.root / path, buffering=0) as stream:
                    if file_stamp(os.fstat(stream.fileno())) != look.stamp:
                        continue
                    self.report.compared += 1
                    for offset, piece in file.pieces(look):
                        stream.seek(offset)
                        if hashlib.sha256(stream.read(piece.length)).digest() != piece.sha256:
                            self.report.findings.append(
                                VaultFinding(
                                    "vault-differs", str(home.root / path),
                                    f"other bytes at {offset:,} than were kept, though the file looks unchanged: "
                                    "`recollect keep --full` keeps both", False, [path],
                                )
                            )  # fmt: skip
                            break
            except (RecollectError, OSError):
                continue


def _users(contents: Contents) -> dict[int, list[tuple[KeptFile, Piece]]]:
    users: dict[int, list[tuple[KeptFile, Piece]]] = {}
    for file, piece in _pieces(contents):
        users.setdefault(piece.block, []).append((file, piece))
    return users


def _pieces(contents: Contents) -> Iterator[tuple[KeptFile, Piece]]:
    for file in contents.files.values():
        for generation in file.generations.values():
            for piece in generation.pieces:
                yield file, piece
