"""Any flipped bit is found; what it touches is named; the rest comes back; and what can be healed is healed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.vault.scene import OTHER, Scene

from recollect.errors import DamagedData, Refused
from recollect.store.home import Home
from recollect.testing import uuid_from
from recollect.vault.capture import capture
from recollect.vault.compact import compact
from recollect.vault.vault import Vault, format_mark
from recollect.vault.verify import verify

ALL_BITS = os.environ.get("RECOLLECT_SOAK") == "1"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = Scene(tmp_path)
    scene.keep()
    return scene


def small_vault(folder: Path) -> Vault:
    """Two commits, of which the second has a file that grew."""
    home = Home(folder / "claude")
    for number in range(2):
        path = home.projects / "-p" / f"{uuid_from('small', number)}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b'{"type":"user","message":{"content":"%d"}}\n' % number)
    vault = Vault(folder / "data" / "vault")
    capture(vault, home)
    with open(path, "ab") as stream:
        stream.write(b"more\n")
    capture(vault, home)
    return vault


@pytest.mark.parametrize("compacted", [False, True], ids=["as captured", "compacted"])
def test_a_flipped_bit_at_every_position_is_found(tmp_path: Path, compacted: bool) -> None:
    vault = small_vault(tmp_path)
    if compacted:
        for path in (tmp_path / "claude").rglob("*.jsonl"):
            path.write_bytes(path.read_bytes() * 12)
        capture(vault, Home(tmp_path / "claude"))
        assert compact(vault).stored_after is not None
    whole = {key: b"".join(vault.chunks(file)) for key, file in vault.contents.files.items()}
    assert verify(vault, deep=True).findings == []
    paths = [path for path in vault.folder.rglob("*") if path.is_file()]
    notes = {"checked", "machine"}
    """Nothing that is kept depends on them."""
    assert {path.name for path in paths} - notes == {"format", "manifest", f"0000000{1 + compacted}.pack"}
    flips = lost = 0
    for path in paths:
        data = path.read_bytes()
        for position in range(len(data)):
            for bit in range(8) if ALL_BITS else (position % 8,):
                flipped = bytearray(data)
                flipped[position] ^= 1 << bit
                path.write_bytes(flipped)
                damaged = Vault(vault.folder)
                report = verify(damaged)
                assert report.findings and (path.name in notes or not report.is_sound), (
                    f"bit {bit} of byte {position} of {path.name} is not found"
                )
                lost += gives_back_what_is_not_named(
                    damaged, whole, {name for f in report.findings for name in f.files}
                )
                flips += 1
        path.write_bytes(data)
    assert flips > 1500
    assert lost > 0, "some flips destroy something"
    assert verify(vault).findings == []


def gives_back_what_is_not_named(vault: Vault, whole: dict[tuple[int, str], bytes], named: set[str]) -> int:
    """Every file is whole, or it is named and says so when it is read. How many are not whole."""
    lost = 0
    for key, data in whole.items():
        try:
            assert b"".join(vault.chunks(vault.contents.files[key])) == data
        except DamagedData:
            assert key[1] in named
            lost += 1
    return lost


def test_deep_compares_with_the_home(scene: Scene) -> None:
    report = verify(scene.vault, deep=True, homes=[scene.home])
    assert (report.findings, report.compared) == ([], len(scene.files()))


def test_deep_sees_bytes_that_changed_behind_everybodys_back(scene: Scene) -> None:
    """As a failing disk does it: other bytes, and nothing else tells."""
    vault = scene.vault
    file = next(file for file in vault.contents.files.values() if file.path.endswith(f"{OTHER}.jsonl"))
    path = scene.home.root / file.path
    path.write_bytes(b"X" + path.read_bytes()[1:])
    info = path.stat()
    file.looks[-1] = file.last._replace(mtime_ns=info.st_mtime_ns, ctime_ns=info.st_ctime_ns, inode=info.st_ino)
    vault.refresh = lambda: None  # type: ignore[method-assign]
    codes = [finding.code for finding in verify(vault, deep=True, homes=[scene.home]).findings]
    assert codes == ["vault-differs"]


def test_a_damaged_line_of_the_manifest_is_healed_from_the_packs(scene: Scene) -> None:
    path = scene.path()
    with open(path, "ab") as stream:
        stream.write(b"more\n")
    scene.keep()
    manifest = scene.data / "vault" / "manifest"
    data = manifest.read_bytes()
    manifest.write_bytes(data.replace(b"projects", b"projectS", 1))
    assert [finding.code for finding in verify(scene.vault).findings] == ["vault-manifest"]
    assert scene.all_kept() == scene.files(), "nothing is lost even before it is healed"
    with open(path, "ab") as stream:
        stream.write(b"and more\n")
    assert scene.keep().recovered
    assert verify(scene.vault, deep=True).findings == []
    assert scene.all_kept() == scene.files()
    assert manifest.read_bytes().startswith(data)
    assert [item.name for item in (scene.data / "vault" / "damaged").iterdir()] == ["manifest-1"]


@pytest.mark.parametrize("how", ["gone", "empty"])
def test_a_lost_manifest_is_made_again(scene: Scene, how: str) -> None:
    manifest = scene.data / "vault" / "manifest"
    data = manifest.read_bytes()
    manifest.unlink()
    if how == "empty":
        manifest.touch()
    assert not verify(scene.vault).is_sound
    assert scene.all_kept() == scene.files()
    scene.keep()
    assert manifest.read_bytes() == data
    assert verify(scene.vault, deep=True).findings == []


def test_a_damaged_block_is_named_and_the_rest_comes_back(scene: Scene) -> None:
    big = scene.path()
    big.write_bytes(
        b"".join(b'{"line":%d}\n' % number + os.urandom(20_000).hex().encode() + b"\n" for number in range(60))
    )
    scene.keep()
    vault = scene.vault
    file = next(file for file in vault.contents.files.values() if scene.home.root / file.path == big)
    pieces = file.generations[file.last.generation].pieces
    assert len(pieces) > 2
    place = vault.contents.blocks[pieces[1].block]
    with open(vault.pack_path(place.pack), "r+b") as stream:
        stream.seek(place.offset + place.size // 2)
        stream.write(b"XXXX")
    report = verify(scene.vault)
    assert [(finding.code, finding.files) for finding in report.findings] == [("vault-block", [file.path])]
    with pytest.raises(DamagedData, match=f"block {pieces[1].block} "):
        b"".join(scene.vault.chunks(file))
    rest = {path: data for path, data in scene.files().items() if path != file.path}
    vault = scene.vault
    assert {
        path: b"".join(vault.chunks(item)) for (_, path), item in vault.contents.files.items() if path != file.path
    } == rest


def test_what_is_damaged_is_healed_from_a_file_that_is_still_there(scene: Scene) -> None:
    vault = scene.vault
    place = vault.contents.blocks[0]
    with open(vault.pack_path(1), "r+b") as stream:
        stream.seek(place.offset + 20)
        stream.write(b"XXXX")
    assert not verify(scene.vault).is_sound
    assert scene.keep(full=True).healed == len(scene.files())
    report = verify(scene.vault, deep=True, homes=[scene.home])
    assert report.is_sound
    assert [finding.code for finding in report.findings] == ["vault-block"], "the damaged block is still told"
    assert scene.all_kept() == scene.files()


@pytest.mark.parametrize("what", ["removed", "cut", "emptied"])
def test_a_pack_that_lost_bytes(scene: Scene, what: str) -> None:
    pack = scene.vault.pack_path(1)
    data = pack.read_bytes()
    if what == "removed":
        pack.unlink()
    else:
        pack.write_bytes(data[: len(data) // 2] if what == "cut" else b"")
    report = verify(scene.vault)
    assert not report.is_sound
    assert {path for finding in report.findings for path in finding.files} == set(scene.files())


@pytest.mark.parametrize("what", ["removed", "cut", "emptied"])
def test_keeping_goes_on_in_a_new_pack_and_heals_what_is_there(scene: Scene, what: str) -> None:
    pack = scene.vault.pack_path(1)
    data = pack.read_bytes()
    if what == "removed":
        pack.unlink()
    else:
        pack.write_bytes(data[: len(data) // 2] if what == "cut" else b"")
    assert scene.keep(full=True).healed == len(scene.files())
    assert scene.all_kept() == scene.files()
    with open(scene.path(), "ab") as stream:
        stream.write(b"more\n")
    scene.keep()
    assert scene.all_kept() == scene.files()
    assert {path for finding in verify(scene.vault, deep=True).findings for path in finding.files} == set()


def test_a_manifest_that_lost_its_end_is_made_whole_from_the_packs(tmp_path: Path) -> None:
    vault = small_vault(tmp_path)
    whole = {key: b"".join(vault.chunks(file)) for key, file in vault.contents.files.items()}
    data = vault.manifest_path.read_bytes()
    home = Home(tmp_path / "claude")
    extra = home.projects / "-p" / f"{uuid_from('extra')}.jsonl"
    for length in range(0, len(data), 7):
        vault.manifest_path.write_bytes(data[:length])
        extra.write_bytes(b"%d\n" % length)
        capture(Vault(vault.folder), home)
        now = Vault(vault.folder)
        assert {key: b"".join(now.chunks(now.contents.files[key])) for key in whole} == whole
        assert now.manifest_path.read_bytes().startswith(data)
        assert verify(now, deep=True).findings == []
        data = now.manifest_path.read_bytes()[: len(data)]


BLOWS = st.tuples(st.integers(0, 2), st.floats(0, 1), st.integers(0, 400), st.binary(max_size=50))
"""Which file, where in it, how many bytes go, and what comes in their place."""


@given(st.lists(BLOWS, min_size=1, max_size=3))
def test_any_damage_is_a_finding_and_never_an_error(
    tmp_path_factory: pytest.TempPathFactory, blows: list[tuple[int, float, int, bytes]]
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    vault = small_vault(folder)
    whole = {key: b"".join(vault.chunks(file)) for key, file in vault.contents.files.items()}
    paths = sorted(path for path in vault.folder.rglob("*") if path.is_file())
    for number, where, gone, instead in blows:
        content = paths[number].read_bytes()
        start = int(where * len(content))
        paths[number].write_bytes(content[:start] + instead + content[start + gone :])
    damaged = Vault(vault.folder)
    report = verify(damaged, deep=True)
    named = {name for finding in report.findings for name in finding.files}
    for key, file in damaged.contents.files.items():
        try:
            given_back = b"".join(damaged.chunks(file))
        except DamagedData:
            assert file.path in named
            continue
        assert whole[key].startswith(given_back), "what is given back was there"
    capture(Vault(vault.folder), Home(folder / "claude"), full=True)
    after = Vault(vault.folder)
    assert {key[1]: b"".join(after.chunks(file)) for key, file in after.contents.files.items()} == {
        key[1]: content for key, content in whole.items()
    }


def test_bytes_behind_the_last_commit_are_no_damage(scene: Scene) -> None:
    with open(scene.vault.pack_path(1), "ab") as stream:
        stream.write(b"RCD1 half a block")
    report = verify(scene.vault)
    assert report.is_sound
    assert [finding.code for finding in report.findings] == ["vault-unfinished"]
    with open(scene.path(), "ab") as stream:
        stream.write(b"more\n")
    assert scene.keep().recovered
    assert verify(scene.vault, deep=True).findings == []


def test_a_stray_file_is_told(scene: Scene) -> None:
    (scene.data / "vault" / "notes.txt").write_text("mine")
    assert [finding.code for finding in verify(scene.vault).findings] == ["vault-stray-file"]
    assert verify(scene.vault).is_sound


def test_a_vault_from_the_future_is_not_touched(scene: Scene) -> None:
    (scene.data / "vault" / "format").write_bytes(format_mark(2))
    with open(scene.path(), "ab") as stream:
        stream.write(b"something to keep\n")
    for work in (scene.keep, lambda: verify(scene.vault), lambda: scene.vault.contents):
        with pytest.raises(Refused) as caught:
            work()
        assert caught.value.slug == "vault-from-the-future"
