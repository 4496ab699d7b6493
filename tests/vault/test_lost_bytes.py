"""Bytes that are lost for good: what is left of their files comes back, and they can be given up."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.running import tree_state
from tests.vault.scene import OTHER, SESSION, Scene

from recollect.errors import DamagedData, Refused
from recollect.journal import disk
from recollect.vault.blocks import DATA, MAGIC, RECORDS, BadBlock, encode_block, walk_blocks
from recollect.vault.capture import capture
from recollect.vault.compact import compact, forget_lost, lost_files
from recollect.vault.manifest import LOST, FileRecord, KeptFile, Piece, Snapshot
from recollect.vault.restore import files_to_restore, is_whole
from recollect.vault.vault import Vault
from recollect.vault.verify import verify
from recollect.vault.writer import VaultWriter

PIECE = 10


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def damage(vault: Vault, block: int) -> None:
    place = vault.contents.blocks[block]
    with open(vault.pack_path(place.pack), "r+b") as stream:
        stream.seek(place.offset + 20)
        stream.write(b"XXXX")


def kept_file(scene: Scene, vault: Vault, path: Path) -> KeptFile:
    return vault.contents.files[(1, path.relative_to(scene.home.root).as_posix())]


def keep_in_short_pieces(scene: Scene, path: Path, data: bytes) -> None:
    """Each piece in a block of its own, so that one of them can be lost alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("capture", "writer"):
            patch.setattr(f"recollect.vault.{module}.BLOCK", PIECE)
        scene.keep()


# --- what is left of a damaged file -----------------------------------------------------------------------------------

LINES = [b"a\n", b"a line over several pieces of a block\n", b"b\n", b"c c c c\n", b"1234567\n", b"12\n", b"no end"]


def left_of(scene: Scene, path: Path) -> bytes:
    vault = scene.vault
    file = kept_file(scene, vault, path)
    (restored,) = files_to_restore(vault, [(file, file.last)], partly=True)
    data = b"".join(restored.chunks())
    assert restored.size == len(data)
    return data


def test_of_a_transcript_all_lines_come_back_that_lost_nothing(scene: Scene) -> None:
    """Except the line behind the gap: nobody can tell whether it begins there."""
    path, text = scene.path(), b"".join(LINES)
    keep_in_short_pieces(scene, path, text)
    vault = scene.vault
    file = kept_file(scene, vault, path)
    pack = vault.pack_path(1)
    whole = pack.read_bytes()
    assert left_of(scene, path) == text
    for start, piece in list(file.pieces(file.last)):
        damage(vault, piece.block)
        end = start + piece.length
        expected, position = [], 0
        for line in LINES:
            if position + len(line) <= start or text.find(b"\n", end) + 1 in range(1, position + 1):
                expected.append(line)
            position += len(line)
        assert left_of(scene, path) == b"".join(expected), f"bytes {start} to {end}"
        pack.write_bytes(whole)


def test_of_any_other_file_every_byte_comes_back_that_is_there(scene: Scene) -> None:
    path = scene.home.root / "plans" / "long.md"
    keep_in_short_pieces(scene, path, b"0123456789" * 4)
    vault = scene.vault
    file = kept_file(scene, vault, path)
    assert is_whole(vault, file, file.last)
    damage(vault, list(file.pieces(file.last))[1][1].block)
    assert not is_whole(scene.vault, file, file.last)
    assert left_of(scene, path) == b"0123456789" * 3


# --- giving up --------------------------------------------------------------------------------------------------------


def test_only_the_generation_that_is_lost_is_given_up(scene: Scene) -> None:
    """Of a file that was rewritten, what it was before stays; a file without any other generation goes."""
    first = scene.path().read_bytes()
    scene.keep()
    for path in (scene.path(), scene.path().with_name("only-once.jsonl")):
        path.write_bytes(os.urandom(500).hex().encode() + b"\n")
    scene.keep()
    others = {name: data for name, data in scene.all_kept().items() if SESSION not in name and "only-once" not in name}
    vault = scene.vault
    lost = kept_file(scene, vault, scene.path())
    damage(vault, lost.generations[2].pieces[0].block)
    names = sorted([lost.path, lost.path.replace(SESSION, "only-once")])
    assert sorted(lost_files(scene.vault)) == names
    assert sorted(forget_lost(scene.vault)) == names
    kept = scene.all_kept()
    assert kept[lost.path] == first
    assert names[1 - names.index(lost.path)] not in kept
    assert {name: kept[name] for name in others} == others
    assert verify(scene.vault, deep=True).findings == []
    assert forget_lost(scene.vault) == lost_files(scene.vault) == []


def test_where_nothing_is_lost_nothing_is_written(scene: Scene) -> None:
    scene.keep()
    before = tree_state(scene.data / "vault")
    assert forget_lost(scene.vault) == []
    assert tree_state(scene.data / "vault") == before


def _forget(scene: Scene) -> None:
    vault = scene.vault
    damage(vault, kept_file(scene, vault, scene.path()).generations[1].pieces[0].block)
    forget_lost(scene.vault)


def _compact(scene: Scene) -> None:
    compact(scene.vault)


@pytest.mark.parametrize("work", [_forget, _compact])
def test_a_full_disk_leaves_the_vault_as_it_was(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, work: Callable[[Scene], None]
) -> None:
    scene.keep()
    for number in range(6):  # so that compacting is worth while
        with open(scene.path(OTHER), "ab") as stream:
            stream.write(b'{"type":"tag","tag":"%d"}\n' % number * 50)
        scene.keep()
    manifest = scene.vault.manifest_path.read_bytes()

    def refuse(*paths: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(paths[0]))

    monkeypatch.setattr(disk, "rename", refuse)
    with pytest.raises(Refused) as caught:
        work(scene)
    assert caught.value.slug == "disk-full"
    assert scene.vault.manifest_path.read_bytes() == manifest
    assert not scene.vault.compacting.exists()


def test_a_capture_on_a_full_disk_is_refused(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(disk, "append_bytes", refuse)
        with pytest.raises(Refused, match="no room") as caught:
            scene.keep()
    assert caught.value.slug == "disk-full"
    scene.keep()
    assert scene.all_kept() == scene.files()


# --- a compaction that went wrong -------------------------------------------------------------------------------------


def _forget_a_file(record: FileRecord) -> FileRecord | None:
    return None if SESSION in record.path else record


def _tell_another_time(record: FileRecord) -> FileRecord:
    record.mtime_ns += SESSION in record.path
    return record


def _mix_up_pieces(record: FileRecord) -> FileRecord:
    record.pieces.reverse()
    return record


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_forget_a_file, "other files than before"),
        (_tell_another_time, "has another history"),
        (_mix_up_pieces, "has other bytes"),
    ],
)
def test_what_reads_back_otherwise_never_counts(
    scene: Scene,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[FileRecord], FileRecord | None],
    told: str,
) -> None:
    scene.path().write_bytes(os.urandom(700_000).hex().encode() + b"\n")  # two pieces
    scene.keep()
    for number in range(6):
        with open(scene.path(OTHER), "ab") as stream:
            stream.write(b'{"type":"tag","tag":"%d"}\n' % number * 50)
        scene.keep()
    before = scene.all_kept()
    record_as_it_is = VaultWriter.record

    def record(writer: VaultWriter, item: FileRecord) -> None:
        changed = change(item)
        if changed is not None:
            record_as_it_is(writer, changed)

    monkeypatch.setattr(VaultWriter, "record", record)
    with pytest.raises(DamagedData, match=told) as caught:
        compact(scene.vault)
    assert caught.value.slug == "write-failed"
    assert scene.all_kept() == before
    assert verify(scene.vault, deep=True).findings == []


def test_progress_ends_with_all_done(scene: Scene) -> None:
    told: list[tuple[int, int]] = []
    capture(scene.vault, scene.home, progress=lambda done, todo: told.append((done, todo)))
    count = len(scene.files())
    assert told == [(number, count) for number in range(1, count + 1)]
    for number in range(6):
        with open(scene.path(OTHER), "ab") as stream:
            stream.write(b'{"type":"tag","tag":"%d"}\n' % number * 50)
        scene.keep()
    told.clear()
    report = compact(scene.vault, progress=lambda done, todo: told.append((done, todo)))
    assert told == [(number, 2 * count) for number in range(1, 2 * count + 1)], "written, and read back"
    assert report.as_dict()["stored_after"] == scene.vault.stored_bytes()


# --- blocks and pieces ------------------------------------------------------------------------------------------------


def test_what_is_behind_a_damaged_block_is_found(tmp_path: Path) -> None:
    blocks = [encode_block(DATA, b"one"), encode_block(DATA, b"two"), encode_block(RECORDS, b"three")]
    path = tmp_path / "pack"
    for noise in (b"", b"x" * 50, b"\0" * (3 << 20)):
        path.write_bytes(MAGIC + blocks[0] + b"!" + noise + blocks[2])
        with open(path, "rb") as stream:
            assert [block.payload for block in walk_blocks(stream)] == [b"one", b"three"]
    path.write_bytes(MAGIC + blocks[0] + b"x" * (2 << 20))
    with open(path, "rb") as stream:
        assert [block.payload for block in walk_blocks(stream)] == [b"one"]


def test_a_piece_that_nothing_is_known_of_is_lost(scene: Scene) -> None:
    scene.keep()
    vault = scene.vault
    for piece in (Piece(LOST, 0, 5, b""), Piece(4711, 0, 5, b"")):
        with pytest.raises(BadBlock, match="is lost"):
            vault.piece(piece)
    file = kept_file(scene, vault, scene.path())
    piece = file.generations[1].pieces[0]
    with pytest.raises(BadBlock, match="other bytes"):
        vault.piece(Piece(piece.block, piece.start + 1, piece.length, piece.sha256))
    assert vault.name_of(4711) == "a block that is lost"


def test_a_file_that_the_vault_gave_up_meanwhile_is_told(scene: Scene) -> None:
    scene.keep()
    vault = scene.vault
    file = kept_file(scene, vault, scene.path())
    for pack in vault.packs.iterdir():
        pack.unlink()
    gone = KeptFile(1, "projects/-p/given-up.jsonl", file.generations, file.looks)
    with pytest.raises(DamagedData, match="given-up"):
        b"".join(vault.chunks(gone, Snapshot(*file.last)))


def test_a_manifest_that_is_a_folder_is_damage(scene: Scene) -> None:
    scene.keep()
    path = scene.vault.manifest_path
    path.unlink()
    path.mkdir()
    with pytest.raises(DamagedData, match="manifest") as caught:
        _ = scene.vault.contents
    assert caught.value.slug == "vault-damaged"


def test_a_pack_that_is_a_folder_tells_no_format(scene: Scene) -> None:
    scene.keep()
    vault = scene.vault
    (vault.folder / "format").unlink()
    vault.pack_path(1).unlink()
    vault.pack_path(1).mkdir()
    vault.check_format()
    assert not verify(scene.vault).is_sound
    assert set(lost_files(scene.vault)) == set(scene.files())


# --- what stands around -----------------------------------------------------------------------------------------------


def test_strange_files_are_told_and_do_no_harm(scene: Scene) -> None:
    scene.keep()
    folder = scene.vault.folder
    (folder / "notes.txt").touch()
    (folder / "packs" / "notes.txt").touch()
    (folder / "compacting").mkdir()
    report = verify(scene.vault)
    assert report.is_sound
    assert [(finding.code, finding.place) for finding in report.findings] == [
        ("vault-stray-file", str(folder / "notes.txt")),
        ("vault-unfinished", str(folder / "compacting")),
        ("vault-stray-file", str(folder / "packs" / "notes.txt")),
    ]
    assert report.findings[0].as_dict() == {
        "code": "vault-stray-file", "place": str(folder / "notes.txt"), "message": "is not part of the vault",
        "harmless": True, "files": [],
    }  # fmt: skip


def test_a_format_that_is_gone_is_told(scene: Scene) -> None:
    scene.keep()
    (scene.vault.folder / "format").unlink()
    assert [finding.code for finding in verify(scene.vault).findings] == ["vault-format"]


def test_only_files_that_look_as_when_they_were_kept_are_compared(scene: Scene, tmp_path: Path) -> None:
    scene.keep()
    scene.path().unlink()
    scene.path(OTHER).write_bytes(b"something else\n")
    elsewhere = Scene(tmp_path / "never kept")
    report = verify(scene.vault, deep=True, homes=[scene.home, elsewhere.home])
    assert report.findings == []
    assert report.compared == len(scene.all_kept()) - 2


def test_a_commit_that_neither_manifest_nor_pack_has(scene: Scene) -> None:
    """Its number is missing between the others; what its blocks held belongs to nothing."""
    scene.keep()
    for number in range(2):
        with open(scene.path(), "ab") as stream:
            stream.write(b'{"type":"tag","tag":"%d"}\n' % number * 500)
        scene.keep()
    pack = scene.vault.pack_path(1)
    data = bytearray(pack.read_bytes())
    second = data.index(b"RCR1", scene.vault.manifest.commits[0][1])
    data[second + 30] ^= 1
    pack.write_bytes(data)
    lines = scene.vault.manifest_path.read_bytes().splitlines(keepends=True)
    scene.vault.manifest_path.write_bytes(lines[0] + b"damaged\n" + lines[2])
    report = verify(scene.vault)
    told = [finding.message for finding in report.findings if not finding.harmless]
    assert any("is not what it was" in text for text in told)
    assert any("belong to nothing" in text for text in told)
    before = [path.read_bytes() for path in (pack, scene.vault.manifest_path)]
    assert compact(scene.vault).stored_after is None
    assert [path.read_bytes() for path in (pack, scene.vault.manifest_path)] == before, "nothing of it is cut off"
