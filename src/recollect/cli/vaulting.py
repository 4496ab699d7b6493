"""Open the library for commands that use only the vault: the home itself may be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .command_run import CommandRun

if TYPE_CHECKING:
    from ..library.library import Library


def library_of_vault(run: CommandRun) -> Library:
    """Open the library of homes that need not exist any more."""
    from ..library.library import open_library

    library = open_library(run.homes, lost=True)
    library.tell = run.say
    library.changes.journal.lock_seconds = run.lock_seconds
    return library
