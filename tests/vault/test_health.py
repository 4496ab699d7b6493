"""A vault that lost something says so, heals itself from what is still there, and reads its own bytes again and again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.vault.scene import OTHER, SESSION, Scene

from recollect.store.scan import scan_home
from recollect.vault import health
from recollect.vault.capture import capture
from recollect.vault.compact import compact
from recollect.vault.health import CYCLE, Checkup, is_as_left, lost_blocks, read_state
from recollect.vault.retention import Guard, guard
from recollect.vault.selection import STEP
from recollect.vault.vault import Vault
from recollect.vault.verify import verify

DAY = 86_400.0


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = Scene(tmp_path)
    for path in scene.home.root.rglob("*"):
        if path.is_file():
            os.utime(path, (1_700_000_000, 1_700_000_000))
    scene.keep()
    with open(scene.path(OTHER), "ab") as stream:
        stream.write(b'{"type":"tag","tag":"x"}\n' * 40)
    scene.keep()
    return scene


def remove(pack: Path) -> None:
    pack.unlink()


def cut(pack: Path) -> None:
    data = pack.read_bytes()
    pack.write_bytes(data[: len(data) // 3])


def empty(pack: Path) -> None:
    pack.write_bytes(b"")


def flip(pack: Path) -> None:
    data = bytearray(pack.read_bytes())
    data[200] ^= 4
    pack.write_bytes(data)


def remove_all(pack: Path) -> None:
    for path in pack.parent.iterdir():
        path.unlink()
    pack.parent.rmdir()


BLOWS = [remove, cut, empty, flip, remove_all]
Blow = Callable[[Path], None]


def look(scene: Scene) -> Guard:
    return guard(scene.vault, scene.home, scan_home(scene.home).sessions, now=time.time())


def test_a_sound_vault_is_as_it_was_left(scene: Scene) -> None:
    assert is_as_left(scene.vault)
    assert lost_blocks(scene.vault) == set()
    assert look(scene).damaged == []


@pytest.mark.parametrize("blow", BLOWS)
def test_the_guard_does_not_call_kept_what_the_packs_have_lost(scene: Scene, blow: Blow) -> None:
    assert (look(scene).kept, look(scene).damaged) == (3, [])
    blow(scene.vault.pack_path(1))
    found = look(scene)
    assert not is_as_left(scene.vault)
    assert found.kept < 3
    assert len(found.behind) == 3 - found.kept
    assert found.damaged


@pytest.mark.parametrize("blow", BLOWS)
def test_a_keep_heals_from_the_home(scene: Scene, blow: Blow) -> None:
    blow(scene.vault.pack_path(1))
    damaged = len(look(scene).damaged)
    report = scene.keep()
    assert (report.healed, report.lost) == (damaged, [])
    assert scene.all_kept() == scene.files()
    assert look(scene).kept == 3
    assert lost_blocks(scene.vault) == set()
    again = scene.keep()
    assert (again.healed, again.changed) == (0, 0), "it is told once"


@pytest.mark.parametrize("blow", BLOWS)
@pytest.mark.parametrize("first", [False, True], ids=["at once", "after a plain keep"])
def test_verify_is_satisfied_when_everything_was_healed(scene: Scene, blow: Blow, first: bool) -> None:
    blow(scene.vault.pack_path(1))
    if first:
        scene.keep()
    assert scene.keep(full=True).lost == []
    assert read_state(scene.vault).bad == []
    report = verify(scene.vault, deep=True, homes=[scene.home])
    assert report.is_sound, report.findings
    assert scene.all_kept() == scene.files()
    with open(scene.path(), "ab") as stream:
        stream.write(b"more\n")
    assert scene.keep().grown == 1
    assert verify(scene.vault, deep=True).is_sound
    assert scene.all_kept() == scene.files()


@pytest.mark.parametrize("blow", [remove, cut, flip])
def test_what_only_the_vault_had_is_told_until_it_is_back(scene: Scene, blow: Blow) -> None:
    lost = scene.path().relative_to(scene.home.root).as_posix()
    scene.path().unlink()
    scene.keep()
    pack = scene.vault.pack_path(1)
    data, info = pack.read_bytes(), pack.stat()
    blow(pack)
    assert look(scene).lost == 0, "it cannot be given back"
    for _ in range(3):
        assert scene.keep().lost == [lost]
    assert scene.keep(full=True).lost == [lost]
    assert not verify(scene.vault).is_sound
    pack.write_bytes(data)
    os.utime(pack, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert scene.keep().lost == []
    assert look(scene).lost == 1


def test_a_flipped_bit_that_no_time_tells_is_found_by_reading_on(scene: Scene) -> None:
    """As a failing disk does it."""
    pack = scene.vault.pack_path(1)
    info = pack.stat()
    flip(pack)
    os.utime(pack, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert lost_blocks(scene.vault) == set(), "nobody has read it yet"
    state = read_state(scene.vault)
    assert state.time is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: state.time + STEP + 1)
        assert scene.keep().healed > 0
    assert scene.all_kept() == scene.files()


def test_a_copy_is_never_referred_to_a_block_that_is_lost(scene: Scene) -> None:
    """Also where nothing else needs that block any more, and so nobody looks after it."""
    flip(scene.vault.pack_path(1))
    assert scene.keep().healed
    copy = scene.path().with_name("11111111-2222-4333-8444-555555555555.jsonl")
    copy.write_bytes(scene.path().read_bytes())
    scene.keep()
    assert scene.kept_bytes(copy) == copy.read_bytes()


def test_damage_that_touches_no_file_is_tidied_up(scene: Scene) -> None:
    """The copy of a commit behind its blocks, the first line of a pack, the mark of the format."""
    vault = scene.vault
    pack = vault.pack_path(1)
    whole = pack.read_bytes()
    for place in (3, vault.manifest.commits[0][1] - 5):
        data = bytearray(pack.read_bytes())
        data[place] ^= 1
        pack.write_bytes(data)
        (vault.folder / "format").write_bytes(b"recollect vaulT 1\n")
        assert not verify(scene.vault).is_sound
        assert scene.keep(full=True).lost == []
        assert verify(scene.vault, deep=True).findings == []
        assert scene.all_kept() == scene.files()
        pack = scene.vault.pack_path(max(int(path.name[:8]) for path in pack.parent.iterdir()))
    assert pack.read_bytes() != whole


def test_every_block_is_read_once_in_thirty_days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(tmp_path)
    for number in range(40):
        path = scene.home.projects / "-p" / f"{number:08d}-2222-4333-8444-555555555555.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(os.urandom(500).hex().encode() + b"\n")
        scene.keep()
    vault = scene.vault
    blocks = health.used_blocks(vault.contents)
    assert len(blocks) >= 40
    monkeypatch.setattr(health, "LEAST", 1)
    read_at: dict[int, float] = {}
    longest = 0.0
    most = 0
    reading = health.unreadable

    def noted(vault: Vault, numbers: list[int]) -> set[int]:
        nonlocal longest, most
        chosen = list(numbers)
        most = max(most, len(chosen))
        for number in chosen:
            longest = max(longest, now - read_at.get(number, begun))
            read_at[number] = now
        return reading(vault, chosen)

    monkeypatch.setattr(health, "unreadable", noted)
    begun = now = read_state(vault).time or 0.0
    hours = [1, 7, 30, 2, 100, 8, 240, 6, 50, 0.1]
    for turn in range(150):
        now += hours[turn % len(hours)] * 3600
        checkup = Checkup(vault, now)
        assert checkup.run() == set()
        checkup.write(())
    assert set(read_at) == blocks
    assert max(longest, *(now - moment for moment in read_at.values())) <= 30 * DAY
    assert most < len(blocks), "never everything at once"
    since = read_state(vault).read_since
    assert since is not None and now - since < 2 * CYCLE


def test_a_clock_that_goes_backwards_stops_no_reading(scene: Scene) -> None:
    state = read_state(scene.vault)
    assert state.time is not None
    earlier = state.time - 400 * DAY
    checkup = Checkup(scene.vault, earlier)
    assert checkup.run() == set()
    checkup.write(())
    assert read_state(scene.vault).time == earlier


def test_a_damaged_note_is_as_good_as_none(scene: Scene) -> None:
    note = scene.vault.folder / "checked"
    data = note.read_bytes()
    for bad in (b"", b"{}", data[:-1], data.replace(b"time", b"timE"), data + b"x", b"\xff" * 50, b"1\n2\n3\n"):
        note.write_bytes(bad)
        assert read_state(scene.vault).time is None
        assert [finding.code for finding in verify(scene.vault).findings] == ["vault-note"]
        assert scene.keep().lost == []
        assert read_state(scene.vault).time is not None
    assert verify(scene.vault).findings == []


def test_many_packs_that_look_other_are_read_in_turns(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a copy of the whole folder: each keep reads some of them, and none is forgotten."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recollect.vault.writer.PACK", 1)
        for number in range(4):
            with open(scene.path(), "ab") as stream:
                stream.write(b'{"type":"tag","tag":"%d"}\n' % number)
            scene.keep()
    packs = sorted(scene.vault.packs.iterdir())
    assert len(packs) >= 5
    monkeypatch.setattr(health, "AT_ONCE", 1)
    monkeypatch.setattr("recollect.vault.capture._SETTLED_SECONDS", -1.0)
    for pack in packs:
        os.utime(pack, (1_600_000_000, 1_600_000_000))
    turns = 0
    while not is_as_left(scene.vault):
        scene.keep()
        turns += 1
        assert turns <= len(packs)
    assert turns == len(packs)


def test_a_compaction_begins_the_reading_anew(scene: Scene) -> None:
    for number in range(20):
        with open(scene.path(), "ab") as stream:
            stream.write(b'{"type":"tag","tag":"%d"}\n' % number * 50)
        scene.keep()
    assert compact(scene.vault).stored_after is not None
    assert lost_blocks(scene.vault) == set()
    scene.keep()
    assert is_as_left(scene.vault)
    remove(sorted(scene.vault.packs.iterdir())[0])
    assert scene.keep().healed == len(scene.files())
    assert scene.all_kept() == scene.files()


def test_two_homes_are_healed_each_by_its_own_keep(scene: Scene, tmp_path: Path) -> None:
    other = Scene(tmp_path / "another")
    capture(scene.vault, other.home, cache=scene.cache)
    remove(scene.vault.pack_path(1))
    first = scene.keep()
    assert first.healed and not [path for path in first.lost if SESSION in path and path not in other.files()]
    assert capture(scene.vault, other.home, cache=scene.cache).lost == []
    assert lost_blocks(scene.vault) == set()
