"""Choose the files of a home that are kept: all of its conversations; no tokens, accounts, settings or running state.

The walk uses bare system calls and this module imports next to nothing, since most captures find nothing new.
"""

from __future__ import annotations

import os
import time

from ..store.file_stamp import FileStamp, file_stamp
from ..store.opening import STORE_FOLDERS, is_secret_file_name, is_store_place, why_not_followed

TYPE_CHECKING = False  # typing and pathlib take as long as the walk itself
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from ..store.home import Home

#: Folders of a home whose files are kept, and files at its top.
KEPT_FOLDERS: Final = STORE_FOLDERS
KEPT_FILES: Final = ("history.jsonl",)
_DEEPEST: Final = 32


class Walk:
    """The files of a home that are kept, as one walk through it found them."""

    __slots__ = ("files", "is_kept", "skipped", "time")

    def __init__(self) -> None:
        self.time = time.time()
        """When the walk began."""
        self.files: dict[str, FileStamp] = {}
        self.skipped: list[str] = []
        """Links, pipes and unreadable folders, with why."""
        self.is_kept: bool | None = None
        """Whether the last capture saw exactly these files; None if they were not compared yet."""


def walk_home(home: Home) -> Walk:
    """List every file to be kept, by its path below the home."""
    return walk_root(str(home.root))


def walk_root(root: str) -> Walk:
    """List every file to be kept in the home at `root`. Needs no `Home`, whose import takes longer than the walk."""
    found = Walk()
    for name in KEPT_FOLDERS:
        path = os.path.join(root, name)
        if os.path.islink(path) and (why := why_not_followed(root, path)) is not None:
            found.skipped.append(f"{name}: {why}")
        elif os.path.isdir(path):
            _walk(root, path, name + "/", found, _DEEPEST)
    for name in KEPT_FILES:
        try:
            info = os.lstat(os.path.join(root, name))
        except OSError:
            continue
        if os.path.isfile(os.path.join(root, name)) and not os.path.islink(os.path.join(root, name)):
            found.files[name] = file_stamp(info)
    return found


def _walk(root: str, folder: str, prefix: str, found: Walk, depth: int) -> None:
    files = found.files
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    if depth:
                        _walk(root, entry.path, f"{prefix}{name}/", found, depth - 1)
                    continue
                if not entry.is_file(follow_symlinks=False):
                    _note_strange(root, entry, prefix, found, depth)
                    continue
                if is_secret_file_name(name):
                    continue
                info = entry.stat(follow_symlinks=False)
                files[prefix + name] = file_stamp(info)
    except OSError as problem:
        found.skipped.append(f"{prefix}: {problem.strerror or problem}")


def _note_strange(root: str, entry: os.DirEntry[str], prefix: str, found: Walk, depth: int) -> None:
    """Follow a link of the store; record any other link, pipe or device as skipped."""
    path = f"{prefix}{entry.name}"
    why: str | None = "not a regular file"
    if entry.is_symlink():
        why = why_not_followed(root, entry.path) if is_store_place(path.split("/")) else "a link"
    if why is not None:
        found.skipped.append(f"{path}: {why}")
    elif entry.is_dir():
        _walk(root, entry.path, f"{path}/", found, depth - 1)
    else:
        info = entry.stat()
        found.files[path] = file_stamp(info)


def is_kept_path(parts: Sequence[str]) -> bool:
    """Return whether a file at this path below a home is one that is kept (and so may be restored into a home)."""
    from ..store.layout import FileKind, kind_of_file

    if not parts or kind_of_file(parts) is FileKind.SECRET:
        return False
    return (len(parts) == 1 and parts[0] in KEPT_FILES) or (len(parts) > 1 and parts[0] in KEPT_FOLDERS)
