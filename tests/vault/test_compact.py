"""Compacting: what is kept stays, with every generation and every moment; what nothing needs any more goes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.running import tree_state
from tests.vault.scene import OTHER, SESSION, Scene

from recollect.errors import DamagedData
from recollect.vault.blocks import compress, pack_numbers
from recollect.vault.compact import compact, survey
from recollect.vault.restore import KeptStream
from recollect.vault.vault import read_format
from recollect.vault.verify import verify

LINE = b'{"type":"tag","tag":"a line like any other","number":%d}\n'


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """A vault after many captures of a session that grew, one of another that was rewritten, and one that was moved."""
    scene = Scene(tmp_path)
    scene.keep()
    for number in range(30):
        with open(scene.path(), "ab") as stream:
            stream.write(LINE % number * 5)
        scene.keep()
    scene.path(OTHER).write_bytes(LINE % 7 * 100)
    scene.keep()
    moved = scene.path().with_name("moved.jsonl")
    shutil.copyfile(scene.path(), moved)
    scene.keep()
    return scene


def everything(scene: Scene) -> dict[str, list[tuple[float, int, int, bytes]]]:
    """Every file at every moment that can be asked for."""
    vault = scene.vault
    return {
        path: [(look.time, look.generation, look.mtime_ns, b"".join(vault.chunks(file, look))) for look in file.looks]
        for (_, path), file in vault.contents.files.items()
    }


def test_all_that_can_be_asked_for_stays_and_the_rest_goes(scene: Scene) -> None:
    before, last = everything(scene), scene.vault.contents.last_time
    packs = pack_numbers(scene.vault.packs)
    report = compact(scene.vault)
    assert everything(scene) == before
    assert len(before[scene.path().relative_to(scene.home.root).as_posix()]) > 30
    assert report.stored_after is not None and report.stored_after < report.stored - report.unused
    assert report.unused_blocks > 10
    assert scene.vault.contents.last_time == last
    assert verify(scene.vault, deep=True, homes=[scene.home]).findings == []
    assert not set(pack_numbers(scene.vault.packs)) & set(packs)
    names = {path.name for path in scene.vault.folder.iterdir()}
    assert names - {"checked", "machine"} == {"format", "manifest", "packs"}


def test_a_second_one_has_nothing_to_do(scene: Scene) -> None:
    compact(scene.vault)
    before = tree_state(scene.data / "vault")
    report = compact(scene.vault)
    assert (report.stored_after, report.unused) == (None, 0)
    assert tree_state(scene.data / "vault") == before


def test_looking_changes_nothing(scene: Scene) -> None:
    before = tree_state(scene.data)
    report = survey(scene.vault)
    assert report.is_worthwhile
    assert 0 < report.unused < report.stored
    assert tree_state(scene.data) == before


def test_keeping_goes_on_as_before(scene: Scene) -> None:
    compact(scene.vault)
    assert scene.keep().changed == 0
    with open(scene.path(), "ab") as stream:
        stream.write(LINE % 1000)
    assert scene.keep().grown == 1
    assert scene.all_kept() == {**scene.all_kept(), **scene.files()}
    assert compact(scene.vault).stored > 0
    assert verify(scene.vault, deep=True).findings == []


def test_the_manifest_comes_from_the_packs_as_before(scene: Scene) -> None:
    compact(scene.vault)
    before = everything(scene)
    scene.vault.manifest_path.unlink()
    assert everything(scene) == before
    scene.keep(full=True)
    assert {path: looks[: len(before[path])] for path, looks in everything(scene).items()} == before
    assert verify(scene.vault, deep=True).findings == []


def test_what_two_files_have_in_common_is_stored_once(scene: Scene) -> None:
    data = os.urandom(40_000).hex().encode() + b"\n"
    for name in ("one", "two"):
        (scene.home.projects / "-work-notes" / f"{name}.jsonl").write_bytes(data)
    scene.keep()
    report = compact(scene.vault)
    assert report.stored_after is not None and report.stored_after < 80_000


@pytest.mark.parametrize("what", ["block", "line"])
def test_a_damaged_vault_is_left_alone(scene: Scene, what: str) -> None:
    number = scene.vault.contents.files[(1, scene.path(SESSION).relative_to(scene.home.root).as_posix())]
    place = scene.vault.contents.blocks[number.generations[1].pieces[0].block]
    path = scene.vault.pack_path(place.pack) if what == "block" else scene.vault.manifest_path
    data = bytearray(path.read_bytes())
    data[place.offset + 20 if what == "block" else 100] ^= 1
    path.write_bytes(data)
    if what == "line":  # and its copy in the pack
        pack = scene.vault.pack_path(1)
        packed = bytearray(pack.read_bytes())
        packed[packed.index(b"RCR1") + 30] ^= 1
        pack.write_bytes(packed)
    before = _bytes_of(scene.data / "vault")
    with pytest.raises(DamagedData) as caught:
        compact(scene.vault)
    assert caught.value.slug == "vault-damaged"
    assert _bytes_of(scene.data / "vault") == before


def _bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_written_wrong_never_counts(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    before = everything(scene)
    monkeypatch.setattr("recollect.vault.writer.compress", lambda data: compress(bytes(data).replace(b"milk", b"wine")))
    with pytest.raises(DamagedData) as caught:
        compact(scene.vault)
    assert caught.value.slug == "write-failed"
    assert everything(scene) == before
    assert not scene.vault.compacting.exists()


def test_who_reads_meanwhile_reads_on(scene: Scene) -> None:
    path = scene.path()
    with open(path, "ab") as stream:
        for _ in range(3):  # several pieces that cannot be in memory already
            stream.write(os.urandom(800_000).hex().encode() + b"\n")
    scene.keep()
    scene.keep(full=True)
    vault = scene.vault
    file = vault.contents.files[(1, path.relative_to(scene.home.root).as_posix())]
    chunks, stream_of_it = vault.chunks(file), KeptStream(vault, file)
    begun, read = next(chunks), stream_of_it.read(1000)
    assert compact(scene.vault).stored_after is not None
    assert begun + b"".join(chunks) == path.read_bytes()
    assert read + stream_of_it.read() == path.read_bytes()


def test_packs_of_both_eras_without_a_manifest(scene: Scene) -> None:
    """A crash right after the switch, and then the manifest is lost."""
    before = everything(scene)
    old = {path.name: path.read_bytes() for path in scene.vault.packs.iterdir()}
    compact(scene.vault)
    for name, data in old.items():
        (scene.vault.packs / name).write_bytes(data)
    scene.vault.manifest_path.unlink()
    assert everything(scene) == before
    scene.keep(full=True)
    assert {path: looks[: len(before[path])] for path, looks in everything(scene).items()} == before
    assert verify(scene.vault, deep=True).findings == []


def test_nothing_is_cut_off_where_the_first_commit_is_lost_for_good(scene: Scene) -> None:
    """The manifest is gone and the copy of the first commit damaged: all others are still there, and stay."""
    before = everything(scene)
    pack = scene.vault.pack_path(1)
    data = bytearray(pack.read_bytes())
    data[data.index(b"RCR1") + 30] ^= 1
    pack.write_bytes(data)
    scene.vault.manifest_path.unlink()
    scene.keep()
    assert pack.read_bytes() == bytes(data)
    other = scene.path(OTHER).relative_to(scene.home.root).as_posix()
    vault = scene.vault
    file = vault.contents.files[(1, other)]
    looks = {look.time: b"".join(vault.chunks(file, look)) for look in file.looks}
    assert looks[before[other][-1][0]] == before[other][-1][3]
    scene.keep(full=True)
    assert scene.all_kept() == {**scene.all_kept(), **scene.files()}


def test_other_files_among_the_packs_are_none(scene: Scene) -> None:
    packs = pack_numbers(scene.vault.packs)
    for name in ("\u00b2" * 8, "\u0663" * 8, "0000000x", "9" * 9):
        (scene.vault.packs / f"{name}.pack").touch()
    assert pack_numbers(scene.vault.packs) == packs


def test_a_format_of_endless_digits_is_a_damaged_one(scene: Scene) -> None:
    (scene.vault.folder / "format").write_bytes(b"recollect vault " + b"9" * 5000 + b"\n")
    assert read_format(scene.vault.folder) is None
