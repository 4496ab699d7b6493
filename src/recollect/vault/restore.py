"""Prepare files of the vault for restoring: whole, or the readable rest of a damaged one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..edit.restore_files import FileToRestore
from ..errors import DamagedData
from .blocks import BadBlock
from .contents import KeptFile, Snapshot
from .vault import Vault


def files_to_restore(
    vault: Vault, files: Iterable[tuple[KeptFile, Snapshot]], *, mtime_ns: int | None = None, partly: bool = False
) -> Iterator[FileToRestore]:
    """Yield each file as it was in its snapshot, or at `mtime_ns` if given.

    With `partly`, what can still be read of a damaged file.
    """
    for file, look in files:
        whole = not partly or is_whole(vault, file, look)
        chunks = _Whole(vault, file, look) if whole else _Readable(vault, file, look)
        size = look.size if whole else sum(len(chunk) for chunk in chunks())
        yield FileToRestore(file.path, size, look.mtime_ns if mtime_ns is None else mtime_ns, chunks)


def is_whole(vault: Vault, file: KeptFile, look: Snapshot) -> bool:
    try:
        for _ in vault.chunks(file, look):
            pass
    except DamagedData:
        return False
    return True


class _Whole:
    def __init__(self, vault: Vault, file: KeptFile, look: Snapshot) -> None:
        self.vault, self.file, self.look = vault, file, look

    def __call__(self) -> Iterator[bytes]:
        return self.vault.chunks(self.file, self.look)


class _Readable(_Whole):
    """Reads what is left of a damaged file.

    Of a file of lines, only whole lines: half a line on each side of a gap would become one wrong line.
    """

    def __call__(self) -> Iterator[bytes]:
        lines = self.file.path.endswith(".jsonl")
        rest, after_gap = b"", False
        for offset, piece in self.file.pieces(self.look):
            try:
                data = self.vault.piece(piece)[: self.look.size - offset]
            except BadBlock:
                rest, after_gap = b"", True
                continue
            if not lines:
                yield data
                continue
            if after_gap:
                start = data.find(b"\n") + 1
                if not start:
                    continue
                data, after_gap = data[start:], False
            cut = data.rfind(b"\n") + 1
            if not cut:
                rest += data
                continue
            yield rest + data[:cut]
            rest = data[cut:]
        if rest:
            yield rest
