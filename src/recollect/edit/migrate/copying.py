"""A copy of a home's sessions, to be changed while the home itself stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ...errors import Refused
from ...journal import disk
from ...store.home import Home

#: What belongs to sessions. Nothing else is copied: no account, no key, no setting.
FOLDERS: Final = ("projects", "todos", "tasks", "file-history", "plans")


def copy_home(source: Home, target: Path) -> Home:
    """Copy the sessions of a home and what belongs to them into a new folder."""
    if target.exists() and any(target.iterdir()):
        raise Refused(f"{target} is not empty", hint="name a folder that does not exist yet", slug="exists")
    real = target.absolute().resolve()
    if real.is_relative_to(source.real_root):
        raise Refused(f"{target} lies in {source.root}", hint="name a folder outside of it", slug="outside-home")
    try:
        disk.make_folders(target)
        for name in FOLDERS:
            if (source.root / name).is_dir():
                disk.copy_tree(source.root / name, target / name)
    except OSError as problem:
        raise disk.explain(problem, target) from problem
    return Home(target)
