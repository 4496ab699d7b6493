"""A Claude home: the folder with `projects/`, and the global config file that belongs to it.

With CLAUDE_CONFIG_DIR, the config is ``<dir>/.claude.json``; without, the home is ``~/.claude`` and the config lies
beside it (``~/.claude.json``). Claude Code up to 1.0.0 wrote ``<home>/config.json``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..errors import NotFound

#: Names that mark a folder as a Claude home, besides `projects/`.
_MARKS = (
    "history.jsonl", "settings.json", ".claude.json", "config.json", "todos", "file-history", "statsig", "sessions",
    "plans", "tasks", "shell-snapshots", "CLAUDE.md",
)  # fmt: skip


@dataclass(frozen=True)
class Home:
    """One home. `root` is the path as given; `real_root` is `root` with links resolved, which no read may leave."""

    root: Path
    kept_from: Path | None = None
    """The home whose files in the vault are shown here; None for a home on disk. Nothing may be changed in such a view."""

    @cached_property
    def real_root(self) -> str:
        return os.path.realpath(self.root)

    @property
    def projects(self) -> Path:
        return self.root / "projects"

    @cached_property
    def config_file(self) -> Path:
        """The global config: the first of its known places that exists, or the newest place if none does."""
        inside = self.root / ".claude.json"
        beside = self.root.parent / ".claude.json"
        oldest = self.root / "config.json"
        candidates = [inside, beside, oldest] if self.root.name == ".claude" else [inside, oldest]
        return next((path for path in candidates if path.is_file()), inside)

    @property
    def backups(self) -> Path:
        return self.root / "backups"

    def exists(self) -> bool:
        return self.root.is_dir()

    def missing(self) -> str | None:
        """Return why this folder is not a Claude home, in words; None if it is one."""
        if not self.root.exists():
            return f"{self.root} does not exist"
        if not self.root.is_dir():
            return f"{self.root} is not a folder"
        if self.projects.is_dir() or any((self.root / name).exists() for name in _MARKS):
            return None
        return f"{self.root} has no projects/ folder and no other file of Claude Code"


def check_home(root: Path) -> Home:
    """Return the home at `root`. Raises NotFound with what is missing."""
    home = Home(root)
    problem = home.missing()
    if problem is not None:
        raise NotFound(
            f"not a Claude home: {problem}",
            hint="name the folder that holds projects/ (usually ~/.claude) with --home",
            slug="not-a-home",
        )
    return home


def existing_homes(candidates: Iterable[Path]) -> list[Home]:
    """Return the candidates that are homes, each once, in order."""
    found: list[Home] = []
    seen: set[str] = set()
    for path in candidates:
        home = Home(path)
        if home.missing() is None and home.real_root not in seen:
            seen.add(home.real_root)
            found.append(home)
    return found
