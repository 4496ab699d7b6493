"""Check whether homes hold anything that the vault lacks, with few imports: a hook runs this after every turn."""

from __future__ import annotations

import os

from ..environment import home_folders, own_folder_name, refuse_inside
from ..errors import RecollectError
from ..vault.selection import SeenFiles, walk_root
from ..vault.selection import Walk as Walk

TYPE_CHECKING = False  # see vault/selection.py
if TYPE_CHECKING:
    from collections.abc import Sequence


def walk_homes(named: Sequence[str]) -> dict[str, Walk] | None:
    """Walk through the homes and compare their files with what was last kept; `Walk.is_kept` of each home is the result.

    The keys are the folders of the homes as they were named. Returns None if it takes more to find out which homes are meant,
    or whether they may be kept: `keep_homes` finds that out and reports what is wrong.
    """
    roots = _roots(named)
    if not roots or os.name == "nt":
        return None
    try:
        vault, cache = (os.path.join(own_folder_name(kind), "vault") for kind in ("data", "cache"))
        refuse_inside(vault, roots)
    except RecollectError:
        return None
    walks: dict[str, Walk] = {}
    for root in roots:
        walk = walks[root] = walk_root(root)
        walk.is_kept = SeenFiles(cache, vault, os.path.realpath(root)).is_all(walk.files)
    return walks


def _roots(named: Sequence[str]) -> list[str] | None:
    """List the folders of the homes, each once; None if it takes more to find out which they are, or whether they exist."""
    folders, are_named = home_folders(named)
    roots: dict[str, str] = {}
    for folder in folders:
        folder = folder.rstrip("/")
        if not are_named and not os.path.lexists(folder):
            continue
        if not os.path.isdir(f"{folder}/projects") or any(part in ("", ".") for part in folder.split("/")[1:]):
            return None
        roots.setdefault(os.path.realpath(folder), folder)
    return list(roots.values())
