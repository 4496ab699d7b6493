"""Errors of the system in words: the place that could not be written is named, whatever it was copied from."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from recollect.errors import Refused
from recollect.journal import disk


def _full(source: str, target: str, **_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device", source, None, target)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_copy_that_finds_no_room_names_its_target(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / "ours" / "a", tmp_path / "home" / "a"
    (source if kind == "folder" else source.parent).mkdir(parents=True)
    (source / "b" if kind == "folder" else source).write_text("x")
    target.parent.mkdir()
    monkeypatch.setattr(shutil, "copy2", _full)
    with pytest.raises(OSError) as caught:
        disk.copy_tree(source, target)
    told = disk.explain(caught.value, tmp_path)
    assert isinstance(told, Refused) and told.slug == "disk-full"
    assert str(target) in told.message and str(source) not in told.message
