"""What can be migrated: Recollect's own folders, and sessions in old layouts of the client."""

from __future__ import annotations

from pathlib import Path

from ..edit.migrate.framework import Migration
from ..edit.migrate.own_folder import OwnFolder
from ..edit.migrate.session_layout import copy_home
from ..environment import own_folder
from ..store.home import Home
from ..vault import vault
from .library import Library

VAULT_MIGRATIONS: tuple[Migration[Path], ...] = ()
"""From each format that a vault ever had to the next. There has been one so far."""


def own_folders() -> list[OwnFolder]:
    """The index, the vault and the settings, each with the format that this version writes and the steps that lead there.

    An index of another schema needs no step: it is built anew when it is next used.
    """
    return [
        OwnFolder("index", own_folder("cache") / "index"),
        vault_folder(own_folder("data") / "vault"),
        OwnFolder("settings", own_folder("config")),
    ]


def vault_folder(path: Path) -> OwnFolder:
    """The vault, with the mark of its format that it has anyway, locked while it is exchanged."""
    return OwnFolder(
        "vault", path, str(vault.VERSION), VAULT_MIGRATIONS,
        read_format=lambda folder: None if (version := vault.read_format(folder)) is None else str(version),
        write_format=lambda folder, version: vault.write_format(folder, int(version)),
        lock=lambda: vault.Vault(path).locked(),
    )  # fmt: skip


def library_of_copy(library: Library, target: Path) -> Library:
    """A copy of the sessions of a library's only home, opened."""
    return Library([copy_home(library.homes[0], target)])


def only_home(library: Library) -> Home:
    return library.homes[0]
