"""What can be migrated: Recollect's own folders, and sessions in old layouts of the client."""

from __future__ import annotations

from pathlib import Path

from ..environment import own_folder
from ..store.home import Home
from ..store.migrate.copying import copy_home
from ..store.migrate.own_folder import OwnFolder
from .library import Library


def own_folders() -> list[OwnFolder]:
    """The index, the vault and the settings, each with the format that this version writes and the steps that lead there."""
    return [
        OwnFolder("index", own_folder("cache")),
        OwnFolder("vault", own_folder("data") / "vault"),
        OwnFolder("settings", own_folder("config")),
    ]


def library_of_copy(library: Library, target: Path) -> Library:
    """A copy of the sessions of a library's only home, opened."""
    return Library([copy_home(library.homes[0], target)])


def only_home(library: Library) -> Home:
    return library.homes[0]
