"""Read a kept file as a seekable stream, a block at a time."""

from __future__ import annotations

import bisect
import io
import itertools
import os
from typing import TYPE_CHECKING

from ..errors import DamagedData
from .blocks import BadBlock
from .contents import KeptFile, Snapshot
from .vault import Vault

if TYPE_CHECKING:
    from typing import Any


class KeptStream(io.RawIOBase):
    """A snapshot of a kept file. Reading raises DamagedData if a block is damaged."""

    def __init__(self, vault: Vault, file: KeptFile, look: Snapshot | None = None) -> None:
        self._vault = vault
        self._look = file.last if look is None else look
        self._position = 0
        self._take(file)

    def _take(self, file: KeptFile) -> None:
        self._file = file
        self._pieces = [piece for _, piece in file.pieces(self._look)]
        self._starts = [0, *itertools.accumulate(piece.length for piece in self._pieces)]

    @property
    def size(self) -> int:
        return self._look.size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.size}[whence]
        self._position = max(start + offset, 0)
        return self._position

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        """Return `size` bytes, fewer only at the end."""
        end = self.size if size < 0 else min(self._position + size, self.size)
        parts: list[bytes] = []
        while self._position < end:
            number = bisect.bisect_right(self._starts, self._position) - 1
            piece, start = self._pieces[number], self._starts[number]
            try:
                data = self._vault.piece(piece)
            except BadBlock as problem:
                told = f"{self._file.path}: {self._vault.name_of(piece.block)} {problem}"
                elsewhere = self._vault.compacted(self._file)
                if elsewhere is None:
                    raise DamagedData(
                        told, slug="vault-damaged", hint="`recollect verify` tells all that is damaged"
                    ) from problem
                self._take(elsewhere)
                continue
            part = data[self._position - start : end - start]
            parts.append(part)
            self._position += len(part)
        return b"".join(parts)

    def readall(self) -> bytes:
        return self.read()
