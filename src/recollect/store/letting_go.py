"""Removed files whose copies in the journal are not needed, because they are kept elsewhere."""

from __future__ import annotations

from . import disk
from .actions import Remove
from .changes import Journal, Record


def let_go(journal: Journal, record: Record) -> None:
    """Delete what a change moved into the journal, for good. It cannot be undone afterwards."""
    folder = journal.folder_of(record)
    try:
        for action in record.actions:
            if isinstance(action, Remove) and (folder / action.backup).exists():
                disk.remove_tree(folder / action.backup)
    except OSError as problem:
        raise disk.explain(problem, folder) from problem
