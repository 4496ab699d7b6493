"""What Recollect keeps for itself is for nobody else: folders 0700 and files 0600, whatever the umask says."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.scene import SESSION, TORN, Scene

COMMANDS = (
    ["keep"],
    ["keep"],
    ["search", "the"],
    ["usage"],
    ["rename", SESSION, "A new title"],
    ["repair", TORN, "--apply", "--yes"],
    ["todos"],
)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("umask", [0o022, 0o000], ids=["umask 022", "umask 000"])
def test_own_folders_are_private(tmp_path: Path, umask: int) -> None:
    scene = Scene(tmp_path)
    place = tmp_path / "not there yet"
    names = {
        f"RECOLLECT_{kind}_DIR": str(place / "deep" / kind.lower() / "recollect")
        for kind in ("DATA", "CACHE", "CONFIG")
    }
    for words in COMMANDS:
        subprocess.run(
            [sys.executable, "-m", "recollect", "--home", str(scene.home.root), *words], check=False, umask=umask,
            env={**os.environ, **names}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    found = {path: stat.S_IMODE(path.stat().st_mode) for path in [place, *place.rglob("*")]}
    assert any(path.name == "manifest" for path in found) and any(path.name == "catalogue.sqlite" for path in found)
    assert any("changes" in path.parts for path in found)
    open_to_others = {str(path.relative_to(tmp_path)): oct(mode) for path, mode in found.items() if mode & 0o077}
    assert open_to_others == {}
