"""Folders above what an undo brings back: somebody may have removed them since."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import Refused
from ..store.home import Home
from ..store.paths import is_inside
from . import disk


def missing_above(path: Path) -> list[Path]:
    """The folders above a path that are not there, the topmost first."""
    missing = [folder for folder in path.parents if not os.path.lexists(folder)]
    return missing[::-1]


def make_above(path: Path) -> None:
    for folder in missing_above(path):
        disk.make_folder(folder)


def remove_empty(folders: list[Path]) -> None:
    """Take back what `make_above` made, as far as nothing stands in it; the topmost comes first."""
    for folder in reversed(folders):
        if folder.is_dir() and not any(folder.iterdir()):
            disk.remove_folder(folder)


def refuse_without_place(path: Path, home: Home) -> None:
    """Raise Refused where nothing can be brought back to this path: folders are made again only inside the home."""
    above = next(folder for folder in path.parents if os.path.lexists(folder))
    if not above.is_dir():
        raise Refused(
            f"cannot undo: {path}: {above} is no folder", slug="no-place",
            hint="nothing was undone; move it away, then try again",
        )  # fmt: skip
    if above != path.parent and not is_inside(home, path):
        raise Refused(
            f"cannot undo: {path}: the folder {path.parent} is gone", slug="no-place",
            hint=f"nothing was undone; make {path.parent} again, then try again: it lies outside of {home.root}",
        )  # fmt: skip
