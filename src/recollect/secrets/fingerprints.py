"""Name a value without showing it: a keyed hash, with a key that never leaves this machine."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

from ..journal import disk

FILE: Final = "fingerprint.key"
_LENGTH: Final = 32


class Fingerprints:
    """Makes fingerprints with the key in a folder, which is made when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._key: bytes | None = None

    def of(self, value: str) -> str:
        """Return the fingerprint of a value: 12 hexadecimal digits."""
        if self._key is None:
            self._key = self._read() or self._make()
        return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), key=self._key, digest_size=6).hexdigest()

    def _read(self) -> bytes | None:
        try:
            key = self._path.read_bytes()
        except OSError:
            return None
        return key if len(key) == _LENGTH else None

    def _make(self) -> bytes:
        """Write a new key; if the folder cannot be written, the key is forgotten with this process."""
        key = os.urandom(_LENGTH)
        fresh = self._path.with_name(f"{FILE}.{os.getpid()}")
        try:
            disk.make_folders(self._path.parent)
            disk.remove_if_there(fresh)
            disk.write_new(fresh, [key])
            disk.replace(fresh, self._path)
        except OSError:
            return key
        return self._read() or key
