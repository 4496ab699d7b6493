"""The library for commands that work on the vault alone: the home may be what was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .command_run import CommandRun

if TYPE_CHECKING:
    from ..library.library import Library


def library_of_vault(run: CommandRun) -> Library:
    """Open the library of homes that need not be there any more."""
    from ..library.library import open_library

    library = open_library(run.homes, lost=True)
    library.tell = run.say
    library.changes.journal.lock_seconds = run.lock_seconds
    return library
