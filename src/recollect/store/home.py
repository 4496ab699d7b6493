"""A Claude home (the folder with `projects/`, and the global config file that belongs to it), and checked access to its files.

With CLAUDE_CONFIG_DIR, the config is ``<dir>/.claude.json``; without, the home is ``~/.claude`` and the config lies
beside it (``~/.claude.json``). Claude Code up to 1.0.0 wrote ``<home>/config.json``.

Every file that is read in a home is checked and opened here: nothing outside it, no secret, no pipe or device. A link is
followed only if it ends inside the home, or is a link of the store. `opening` describes the rules, which every opening keeps.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from ..errors import NotFound, Refused
from .opening import is_below, is_part_of, is_store_place, open_regular, parts_below, why_not_followed
from .opening import is_secret as is_secret

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


def is_inside(home: Home, path: Path | str) -> bool:
    """Return whether a path lies in the home, in the target of a link of its store, or is its config file.

    All links in the path are resolved first.
    """
    try:
        real = os.path.realpath(path)
    except ValueError:  # a NUL byte, which no path can contain
        return False
    if is_below(home.real_root, real) or real == os.path.realpath(home.config_file):
        return True
    return is_part_of(str(home.root), str(path), real)


def why_left_out(home: Home, link: Path | str) -> str | None:
    """Return why a link in the home is not followed; None if it is followed."""
    if is_store_place(parts_below(str(home.root), str(link)) or ()):
        return why_not_followed(str(home.root), str(link))
    return None if is_inside(home, link) else "leads out of the home"


def place_to_write(home: Home, path: Path) -> Path:
    """Return where bytes for this path are written: the path itself, or the target of a session's link.

    Raises Refused for other links.
    """
    if not path.is_symlink():
        return path
    if not is_session_link(home, path):
        raise Refused(f"{path} is a link; links are not written through", slug="outside-home")
    return Path(os.path.realpath(path))


def is_session_link(home: Home, path: Path) -> bool:
    """Return whether a path is a link of the store to a session's transcript."""
    parts = parts_below(str(home.root), str(path)) or ()
    return len(parts) == 3 and path.is_symlink() and is_store_place(parts) and why_left_out(home, path) is None


def refuse_in_homes(homes: Iterable[Home], path: Path, *, hint: str) -> None:
    """Raise Refused if a path that must lie outside of these homes lies in one of them."""
    for home in homes:
        if is_inside(home, path):
            raise Refused(f"{path} lies in the Claude home {home.root}", hint=hint, slug="inside-home")


def open_inside(home: Home, path: Path, *, buffering: int = 1 << 20) -> BinaryIO:
    """Open a regular file inside the home for reading. Raises Refused, NotFound or DamagedData (unreadable)."""
    descriptor, real = open_regular(home.real_root, str(path), str(home.root))
    try:
        if not (
            is_below(home.real_root, real)
            or _is_config(home, descriptor, path)
            or is_part_of(str(home.root), str(path), real)
        ):
            raise Refused(f"{path} leads out of {home.root}", slug="outside-home")
        return os.fdopen(descriptor, "rb", buffering=buffering)
    except BaseException:
        with contextlib.suppress(OSError):
            os.close(descriptor)
        raise


def read_inside(home: Home, path: Path, limit: int | None = None) -> bytes:
    """Return the bytes of a file inside the home, at most `limit` of them."""
    with open_inside(home, path, buffering=0) as stream:
        if limit is not None:
            return _read_up_to(stream, limit)
        return stream.read()


def _read_up_to(stream: BinaryIO, limit: int) -> bytes:
    parts: list[bytes] = []
    while limit > 0:
        data = stream.read(limit)
        if not data:
            break
        parts.append(data)
        limit -= len(data)
    return b"".join(parts)


def list_inside(home: Home, folder: Path) -> list[Path]:
    """List a folder of the home by name. Empty if it does not exist, cannot be read, or leads out of the home."""
    if not is_inside(home, folder):
        return []
    try:
        return sorted(folder / name for name in os.listdir(folder))
    except OSError:
        return []


def contained(home: Home, text: str) -> Path:
    """Return a path that a user gave. Raises Refused unless it lies inside the home."""
    path = Path(text)
    if not path.is_absolute():
        path = home.root / path
    if "\x00" in text or not is_inside(home, path):
        raise Refused(f"{text} is outside of {home.root}", slug="outside-home")
    return path


def _is_config(home: Home, fd: int, path: Path) -> bool:
    """Return whether the open file is the home's config file, which lies beside ``~/.claude``."""
    if Path(path) != home.config_file:
        return False
    try:
        return os.path.samestat(os.fstat(fd), os.stat(home.config_file, follow_symlinks=False))
    except OSError:
        return False
