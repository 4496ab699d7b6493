"""What the last capture saw of a home: enough to know that nothing is new without reading the manifest.

It lies in the cache folder as text that is compared as a whole with the same text of now: whatever is wrong with it, the
manifest is read instead. Few modules are needed for that, since most captures end here, at the end of every turn.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from .selection import Stamp


class SeenFiles:
    def __init__(self, folder: Path | None, vault: Path, root: str) -> None:
        self._vault = vault
        self._root = root
        key = hashlib.sha256(f"{vault}\0{root}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._path = None if folder is None else folder / f"seen-{key}"

    def is_all(self, files: dict[str, Stamp]) -> bool:
        """Whether these are the files that were seen, unchanged, and the vault is as it was left."""
        if self._path is None:
            return False
        try:
            seen = self._path.read_bytes()
        except OSError:
            return False
        return seen == self._text(files)

    def write(self, files: dict[str, Stamp]) -> None:
        """Note what was seen; without it, only the next capture takes longer."""
        text = self._text(files)
        if self._path is None or not text:
            return
        from ..store import disk

        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            disk.make_folders(self._path.parent)
            disk.remove_if_there(fresh)
            disk.write_new(fresh, [text])
            disk.replace(fresh, self._path)
        except OSError:
            return

    def _text(self, files: dict[str, Stamp]) -> bytes:
        """Empty where the vault has no state to speak of."""
        try:
            info = os.stat(self._vault / "manifest")
            newest = max(name for name in os.listdir(self._vault / "packs") if name.endswith(".pack"))
            size = os.stat(self._vault / "packs" / newest).st_size
        except (OSError, ValueError):
            return b""
        lines = [f"{name}\0{stamp}\n" for name, stamp in files.items()]
        lines.sort()
        state = f"{self._root}\0{info.st_size} {info.st_mtime_ns} {newest} {size}\n"
        return (state + "".join(lines)).encode("utf-8", "surrogateescape")
