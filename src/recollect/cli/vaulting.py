"""What the commands about the vault share: where it is, and how they speak of sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..environment import own_folder
from ..errors import NotFound

if TYPE_CHECKING:
    from ..vault.vault import Vault


def vault_folder() -> Path:
    return own_folder("data") / "vault"


def open_vault() -> Vault:
    """The vault in Recollect's own data folder, which need not be there yet."""
    from ..vault.vault import Vault

    return Vault(vault_folder())


def seen_folder() -> Path:
    return own_folder("cache") / "vault"


def existing_vault() -> Vault:
    vault = open_vault()
    if not vault.exists and not vault.packs.is_dir():
        raise NotFound(
            f"nothing was kept yet: there is no vault at {vault.folder}",
            hint="`recollect keep` keeps everything there is", slug="no-vault",
        )  # fmt: skip
    return vault
