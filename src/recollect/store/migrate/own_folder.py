"""Recollect's own folders (index, vault, settings) from one format to the next.

    <folder>/format.json            {"format": 2}; where there is none, the format is 1
    <folder>.before-1               the folder as it was, kept until the next migration; `roll_back` puts it back
    <folder>.migrating              a copy in the making; left over only by a crash, and thrown away then

The steps work on a copy. Only when all of them were found right does it take the folder's place, by two renames; a crash between
the two is mended by whoever comes next.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...errors import NotFound
from .. import disk
from .framework import Done, Migration, carry_through, chain

FORMAT_FILE: Final = "format.json"
FIRST: Final = "1"


@dataclass(frozen=True)
class OwnFolder:
    """One of Recollect's folders, the format that this version writes, and the steps that lead to it."""

    name: str
    path: Path
    current: str = FIRST
    migrations: Sequence[Migration[Path]] = ()

    @property
    def version(self) -> str | None:
        """The format of what is there; None where nothing is."""
        self.recover()
        if not self.path.is_dir():
            return None
        with contextlib.suppress(OSError, ValueError):
            told = json.loads((self.path / FORMAT_FILE).read_bytes())
            if isinstance(told, dict) and "format" in told:
                return str(told["format"])
        return FIRST

    @property
    def pending(self) -> list[Migration[Path]]:
        """Steps that are due. Raises Unavailable where a newer Recollect wrote the folder."""
        version = self.version
        return [] if version is None else chain(self.migrations, version, self.current)

    def migrate(self) -> list[Done]:
        """Do what is due. All of it, or nothing."""
        steps = self.pending
        if not steps:
            return []
        before = steps[0].from_version
        copy = self._named("migrating")
        disk.copy_tree(self.path, copy)
        try:
            done = carry_through(copy, steps)
            self._note_version(copy)
        except BaseException:
            disk.remove_tree(copy)
            raise
        kept = self._named(f"before-{before}")
        for old in self._kept():
            disk.remove_tree(old)
        disk.rename(self.path, kept)
        disk.rename(copy, self.path)
        disk.sync_folder(self.path.parent)
        return done

    def roll_back(self) -> str:
        """Put the folder back as it was before the last migration; the format it has then."""
        kept = self._kept()
        if not kept:
            raise NotFound(f"nothing is kept of an earlier {self.name}", slug="no-such-change")
        aside = self._named("migrating")
        disk.rename(self.path, aside)
        disk.rename(kept[-1], self.path)
        disk.remove_tree(aside)
        return self.version or FIRST

    def recover(self) -> None:
        """Mend what a crash left: the folder under another name, or a copy that nobody will finish."""
        if not self.path.parent.is_dir():
            return
        copy = self._named("migrating")
        if not self.path.exists():
            kept = self._kept()
            if kept:
                disk.rename(kept[-1], self.path)
        if copy.exists() and self.path.exists():
            disk.remove_tree(copy)

    def _note_version(self, folder: Path) -> None:
        target = folder / FORMAT_FILE
        disk.remove_if_there(target)
        disk.write_new(target, [json.dumps({"format": self.current}).encode()])

    def _named(self, suffix: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{suffix}")

    def _kept(self) -> list[Path]:
        start = f"{self.path.name}.before-"
        try:
            names = [name for name in os.listdir(self.path.parent) if name.startswith(start)]
        except FileNotFoundError:
            return []
        return [
            self.path.with_name(name)
            for name in sorted(names, key=lambda name: (self.path.parent / name).stat().st_mtime_ns)
        ]
