"""Repair a vault after a crash, a full disk or damage, so that manifest and packs agree again.

Every commit ends with a block that holds the commit itself, so a commit that reached its pack is added to the manifest,
and an incomplete one is cut off. A damaged manifest is copied into `damaged/` and rebuilt from the packs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..journal import disk
from .blocks import (
    MAGIC,
    RECORDS,
    BadBlock,
    Stored,
    compress,
    decompress,
    pack_name,
    pack_numbers,
    read_block,
    walk_blocks,
)
from .manifest import Commit, Manifest, decode_commit, encode_line, encode_lines
from .vault import Vault


def encode_records(data: bytes) -> bytes:
    """Return a commit as the payload of its block: its length, then the zstd frame."""
    return len(data).to_bytes(8, "big") + compress(data)


def decode_records(block: Stored) -> Commit:
    """Decode the commit in a block. Raises BadBlock."""
    length = int.from_bytes(block.payload[:8], "big")
    try:
        return decode_commit(decompress(block.payload[8:], min(length, 1 << 32)))
    except ValueError as problem:
        raise BadBlock(str(problem)) from problem


def commits_in_packs(packs: Path, numbers: list[int] | None = None) -> Iterator[tuple[Commit, int]]:
    """Yield the commits found in the packs, with the offset where each ends."""
    for number in pack_numbers(packs) if numbers is None else numbers:
        try:
            with open(packs / pack_name(number), "rb") as stream:
                for block in walk_blocks(stream):
                    if block.kind == RECORDS:
                        try:
                            yield decode_records(block), block.end
                        except BadBlock:
                            continue
        except OSError:
            continue


def commits_that_miss(packs: Path, manifest: Manifest, numbers: list[int] | None = None) -> list[tuple[Commit, int]]:
    """Return the commits that are in the packs and missing from the manifest, all of one era.

    There are packs of two eras only while a compaction ends. The old packs are removed from the first to the last:
    while the first is there, all of them are.
    """
    found = list(commits_in_packs(packs, numbers))
    if manifest.commits:
        era = manifest.commits[0][0].era
    else:
        eras = sorted({commit.era for commit, _ in found})
        era = next((item for item in eras if _is_gapless(found, item)), eras[-1] if eras else 0)
    known = {commit.number for commit, _ in manifest.commits}
    return [(commit, end) for commit, end in found if commit.era == era and commit.number not in known]


def _is_gapless(commits: list[tuple[Commit, int]], era: int) -> bool:
    numbers = sorted(commit.number for commit, _ in commits if commit.era == era)
    return numbers == list(range(1, len(numbers) + 1))


def recover(vault: Vault) -> bool:
    """Repair what a crash left; return whether there was something to do. Call with the lock held."""
    if not vault.exists and not pack_numbers(vault.packs):
        return False
    healed = _heal_manifest(vault)
    carried = _carry_on(vault)
    cut = _cut_torn_line(vault)
    ended = _end_compaction(vault)
    return healed or carried or cut or ended


def _heal_manifest(vault: Vault) -> bool:
    """Replace damaged lines of the manifest from the packs, if that is possible for all of them."""
    manifest = vault.manifest
    lost = not manifest.commits and not manifest.torn and pack_numbers(vault.packs)
    if not manifest.bad and not lost:
        return False
    known = {commit.number: (commit, end) for commit, end in manifest.commits}
    known.update((commit.number, (commit, end)) for commit, end in commits_that_miss(vault.packs, manifest))
    if sorted(known) != list(range(1, len(known) + 1)) or len(known) < len(manifest.commits) + len(manifest.bad):
        return False  # something is lost for good: the damaged lines stay, in case more can be read from them
    aside = vault.folder / "damaged"
    disk.make_folders(aside)
    if vault.manifest_path.exists():
        place = aside / f"manifest-{len(os.listdir(aside)) + 1}"
        disk.link_or_copy(vault.manifest_path, place)
        disk.sync_folder(aside)
    fresh = vault.folder / "manifest.new"
    disk.remove_if_there(fresh)
    disk.write_new(fresh, [encode_lines(known[number] for number in sorted(known))])
    disk.replace(fresh, vault.manifest_path)
    vault.refresh()
    return bool(known)


def _carry_on(vault: Vault) -> bool:
    """Add commits that reached their pack to the manifest, and cut off what follows the last commit.

    If commits are lost from the packs as well, nothing is cut: bytes that seem to belong to nothing may be all that is
    left of them. The next capture then begins a new pack.
    """
    manifest = vault.manifest
    if not manifest.is_whole:
        return False
    era = manifest.commits[0][0].era if manifest.commits else 0
    if not manifest.commits:
        told = list(commits_in_packs(vault.packs))
        era = min((commit.era for commit, _ in told), default=0)
        if not _is_gapless(told, era):
            return False
    expected = len(manifest.commits) + 1
    last_pack, end = max(((commit.pack, end) for commit, end in manifest.commits), default=(0, 0))
    done = False
    for number in pack_numbers(vault.packs):
        if number < last_pack:
            continue
        start = end if number == last_pack else len(MAGIC)
        path = vault.pack_path(number)
        size = path.stat().st_size
        if size <= start and number == last_pack:
            continue
        if size < len(MAGIC):
            disk.remove_file(path)
            done = True
            continue
        good = start
        with open(path, "rb") as stream:
            found = list(_following_commits(stream, start, expected, era))
        for commit, good in found:
            _append_to_manifest(vault, commit, good)
            expected += 1
            done = True
        if good == len(MAGIC) and number != last_pack:  # an unfinished pack, or one of an unfinished compaction
            if good < size:
                disk.remove_file(path)
                done = True
        elif good < size:
            disk.truncate(path, good, expected=size, mtime_ns=path.stat().st_mtime_ns)
            done = True
    if done:
        vault.refresh()
    return done


def _following_commits(stream: object, offset: int, expected: int, era: int) -> Iterator[tuple[Commit, int]]:
    while True:
        try:
            block = read_block(stream, offset)  # type: ignore[arg-type]
            offset = block.end
            if block.kind != RECORDS:
                continue
            commit = decode_records(block)
        except BadBlock:
            return
        if (commit.era, commit.number) != (era, expected):
            return
        expected += 1
        yield commit, offset


def _end_compaction(vault: Vault) -> bool:
    """Remove the packs of the era before, the first one first, and the folder of an unfinished compaction."""
    manifest = vault.manifest
    done = False
    if manifest.commits and manifest.is_whole and manifest.commits[0][0].era:
        first = min(commit.pack for commit, _ in manifest.commits)
        for number in pack_numbers(vault.packs):
            if number < first:
                disk.remove_file(vault.pack_path(number))
                done = True
    if vault.compacting.exists():
        disk.remove_tree(vault.compacting)
        disk.sync_folder(vault.folder)
        done = True
    return done


def is_in_the_making(vault: Vault) -> bool:
    """Return whether the incomplete last line of the manifest is the start of the next commit's line in the packs."""
    manifest = vault.manifest
    expected = max((commit.number for commit, _ in manifest.commits), default=0) + len(manifest.bad) + 1
    with open(vault.manifest_path, "rb") as stream:
        stream.seek(manifest.size)
        tail = stream.read()
    for commit, end in commits_that_miss(vault.packs, manifest, pack_numbers(vault.packs)[-2:]):
        if commit.number == expected:
            line = encode_line(commit, end, manifest.last_check)[0]
            return len(tail) < len(line) and line.startswith(tail)
    return False


def _append_to_manifest(vault: Vault, commit: Commit, end: int) -> None:
    _cut_torn_line(vault)
    line, check = encode_line(commit, end, vault.manifest.last_check)
    append_line(vault, line)
    vault.manifest.commits.append((commit, end))
    vault.manifest.last_check = check
    vault.manifest.size += len(line)


def append_line(vault: Vault, line: bytes) -> None:
    """Append a line to the manifest and sync it."""
    size = vault.manifest.size
    new = not vault.manifest_path.exists()
    disk.append_bytes(vault.manifest_path, line, create=new, expected=0 if new else size)


def _cut_torn_line(vault: Vault) -> bool:
    manifest = vault.manifest
    if not manifest.torn:
        return False
    path = vault.manifest_path
    disk.truncate(path, manifest.size, expected=manifest.size + manifest.torn, mtime_ns=path.stat().st_mtime_ns)
    manifest.torn = 0
    return True
