"""Recollect's own folders (index, vault, settings) from one format to the next.

    <folder>/format.json            {"format": 2}; where there is none, the format is 1. The vault has a mark of its own
    <folder>.before-1               the folder as it was, kept until the next migration; `roll_back` puts it back
    <folder>.migrating              a copy in the making; left over only by a crash, and thrown away then

The steps work on a copy. Only when all of them were found right does it take the folder's place, by two renames; a crash between
the two is mended by whoever comes next.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...errors import NotFound
from ...journal import disk
from .framework import Done, Migration, carry_through, chain

FORMAT_FILE: Final = "format.json"
FIRST: Final = "1"


def _read_format_file(folder: Path) -> str | None:
    with contextlib.suppress(OSError, ValueError):
        told = json.loads((folder / FORMAT_FILE).read_bytes())
        if isinstance(told, dict) and "format" in told:
            return str(told["format"])
    return None


def _write_format_file(folder: Path, version: str) -> None:
    target = folder / FORMAT_FILE
    disk.remove_if_there(target)
    disk.write_new(target, [json.dumps({"format": version}).encode()])


@dataclass(frozen=True)
class OwnFolder:
    """One of Recollect's folders, the format that this version writes, and the steps that lead to it."""

    name: str
    path: Path
    current: str = FIRST
    migrations: Sequence[Migration[Path]] = ()
    read_format: Callable[[Path], str | None] = _read_format_file
    write_format: Callable[[Path, str], None] = _write_format_file
    lock: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext
    """Held while the folder is copied and exchanged, so that nobody adds to the old one meanwhile."""

    @property
    def version(self) -> str | None:
        """The format of what is there; None where nothing is."""
        self.recover()
        return self._version_there()

    def _version_there(self) -> str | None:
        return (self.read_format(self.path) or FIRST) if self.path.is_dir() else None

    @property
    def pending(self) -> list[Migration[Path]]:
        """Steps that are due. Raises Unavailable where a newer Recollect wrote the folder."""
        return self._due(self.version)

    def _due(self, version: str | None) -> list[Migration[Path]]:
        return [] if version is None else chain(self.migrations, version, self.current)

    def migrate(self) -> list[Done]:
        """Do what is due. All of it, or nothing."""
        if not self.pending:
            return []
        try:
            with self.lock():
                steps = self._due(self._version_there())  # somebody else may have done it meanwhile
                return self._migrate(steps) if steps else []
        except OSError as problem:
            raise disk.explain(problem, self.path) from problem

    def _migrate(self, steps: Sequence[Migration[Path]]) -> list[Done]:
        before = steps[0].from_version
        copy = _named(self.path, "migrating")
        disk.copy_tree(self.path, copy)
        try:
            done = carry_through(copy, steps)
            self.write_format(copy, self.current)
        except BaseException:
            disk.remove_tree(copy)
            raise
        kept = _named(self.path, f"before-{before}")
        for old in _kept(self.path):
            disk.remove_tree(old)
        disk.rename(self.path, kept)
        disk.rename(copy, self.path)
        disk.sync_folder(self.path.parent)
        return done

    def roll_back(self) -> str:
        """Put the folder back as it was before the last migration; the format it has then."""
        aside = _named(self.path, "migrating")
        with self.lock():
            kept = _kept(self.path)
            if not kept:
                raise NotFound(f"nothing is kept of an earlier {self.name}", slug="no-such-change")
            disk.rename(self.path, aside)
            disk.rename(kept[-1], self.path)
            disk.sync_folder(self.path.parent)
            disk.remove_tree(aside)
        return self.version or FIRST

    def recover(self) -> None:
        """Mend what a crash left: the folder under another name, or a copy that nobody will finish."""
        if is_unsettled(self.path):
            with self.lock():
                settle(self.path)


def is_unsettled(path: Path) -> bool:
    """Whether a migration of this folder is under way, or was ended by a crash."""
    return _named(path, "migrating").exists() or (not path.exists() and bool(_kept(path)))


def settle(path: Path) -> None:
    """Put in order what a crash left. Call with the folder's lock held."""
    copy, kept = _named(path, "migrating"), _kept(path)
    if not path.exists() and kept:
        disk.rename(kept[-1], path)
        disk.sync_folder(path.parent)
    if copy.exists() and path.exists():
        disk.remove_tree(copy)


def _named(path: Path, suffix: str) -> Path:
    return path.with_name(f"{path.name}.{suffix}")


def _kept(path: Path) -> list[Path]:
    start = f"{path.name}.before-"
    try:
        names = [name for name in os.listdir(path.parent) if name.startswith(start)]
    except FileNotFoundError:
        return []
    return [path.with_name(name) for name in sorted(names, key=lambda name: (path.parent / name).stat().st_mtime_ns)]
