"""Remember the files that the last capture saw, to detect that nothing is new without reading the manifest.

The cache folder holds them as text, which is compared as a whole with the text of now; if the two differ for any
reason, the manifest is read instead. This needs few modules, since most captures, at the end of every turn, find
nothing new.
"""

from __future__ import annotations

import os
import time
import zlib

TYPE_CHECKING = False  # see selection.py
if TYPE_CHECKING:
    from typing import Final

    from ..store.file_stamp import FileStamp


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
