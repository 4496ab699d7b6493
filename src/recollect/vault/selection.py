"""Choose the files of a home that are kept (all of its conversations; no tokens, accounts, settings or running state),
and remember those that the last capture saw, to detect that nothing is new without reading the manifest.

The walk uses bare system calls and this module imports next to nothing, since most captures, at the end of every turn, find
nothing new. The cache folder holds what was seen as text, which is compared as a whole with the text of now; if the two
differ for any reason, the manifest is read instead.
"""

from __future__ import annotations

import os
import time
import zlib

from ..store.opening import STORE_FOLDERS, FileStamp, file_stamp, is_secret_file_name, is_store_place, why_not_followed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from ..store.home import Home
    from ..store.opening import FileStamp


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


CHECKED: Final = "checked"
"""The file of the vault that records its state after the last keep (health.py)."""
STEP: Final = 6 * 3600.0
"""Seconds after which another part of the vault is read."""


class SeenFiles:
    def __init__(self, folder: str | os.PathLike[str] | None, vault: str | os.PathLike[str], root: str) -> None:
        self._vault = os.fspath(vault)
        self._place = f"{self._vault}\0{root}"
        key = zlib.crc32(self._place.encode("utf-8", "surrogateescape"))
        self._path = None if folder is None else os.path.join(folder, f"seen-{key:08x}")

    def is_all(self, files: dict[str, FileStamp]) -> bool:
        """Return whether exactly these files were seen, unchanged, and the vault is unchanged, too."""
        if self._path is None or self._is_time_to_read():
            return False
        try:
            with open(self._path, "rb", buffering=0) as stream:
                seen = stream.read()
        except OSError:
            return False
        return seen == self._text(files)

    def write(self, files: dict[str, FileStamp]) -> None:
        """Write down the files that were seen. If that fails, only the next capture takes longer."""
        text = self._text(files)
        if self._path is None or not text:
            return
        from pathlib import Path

        from ..journal import disk

        path = Path(self._path)
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            disk.make_folders(path.parent)
            disk.remove_if_there(fresh)
            disk.write_new(fresh, [text])
            disk.replace(fresh, path)
        except OSError:
            return

    def _is_time_to_read(self) -> bool:
        """Return whether a part of the vault is due to be read: the time of `checked` is old, or in the future."""
        try:
            return not 0 <= time.time() - os.stat(os.path.join(self._vault, CHECKED)).st_mtime < STEP
        except OSError:
            return True

    def _text(self, files: dict[str, FileStamp]) -> bytes:
        """Return the state of the vault and the files as text; empty if the vault has no packs or cannot be read."""
        try:
            with open(os.path.join(self._vault, "format"), "rb", buffering=0) as stream:
                state = [self._place, repr(stream.read(1000))]
            state.append(_look(os.stat(os.path.join(self._vault, "manifest"))))
            with os.scandir(os.path.join(self._vault, "packs")) as entries:
                packs = [f"{entry.name} {_look(entry.stat())}" for entry in entries if entry.name.endswith(".pack")]
        except OSError:
            return b""
        if not packs:
            return b""
        packs.sort()
        lines = [f"{name}\0{stamp}\n" for name, stamp in files.items()]
        lines.sort()
        return ("\0".join([*state, *packs]) + "\n" + "".join(lines)).encode("utf-8", "surrogateescape")


def _look(info: os.stat_result) -> str:
    return f"{info.st_size} {info.st_mtime_ns}"
