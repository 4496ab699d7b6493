"""A real disk that is full or read-only while keeping: refused in words, nothing kept is lost, and room heals it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.faults.test_full_disk import _fill, small_disk
from tests.faults.vault_scene import NEW, VaultScene

from recollect.errors import Refused
from recollect.vault.verify import verify

__all__ = ["small_disk"]


@pytest.fixture
def scene(small_disk: Path) -> VaultScene:
    scene = VaultScene(small_disk)
    scene.path(NEW).write_bytes(os.urandom(3 << 20))
    scene.new = scene.live()
    return scene


def test_no_room_in_the_middle(scene: VaultScene, small_disk: Path) -> None:
    filler = _fill(small_disk)
    os.truncate(filler, filler.stat().st_size - (1 << 20))  # a third of what is needed
    with pytest.raises(Refused) as caught:
        scene.keep()
    assert caught.value.slug == "disk-full"
    assert verify(scene.vault).is_sound
    kept = scene.kept()
    assert all(data in (scene.old.get(name), scene.new.get(name)) for name, data in kept.items())
    assert kept.keys() >= scene.old.keys()
    filler.unlink()
    scene.keep()
    assert scene.kept() == {**scene.old, **scene.new}
    assert verify(scene.vault, deep=True).findings == []


def test_a_read_only_disk(scene: VaultScene, small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    try:
        with pytest.raises(Refused) as caught:
            scene.keep()
        assert caught.value.slug == "read-only"
        assert scene.kept() == scene.old
        assert verify(scene.vault, deep=True).is_sound
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    scene.keep()
    assert scene.kept() == {**scene.old, **scene.new}
