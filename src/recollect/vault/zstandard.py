"""Compress with Zstandard, from the standard library where it has it (3.14), and decompress within bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from types import ModuleType

LEVEL: Final = 3
_module: ModuleType | None = None


def _zstd() -> Any:
    global _module
    if _module is None:
        try:
            from compression import zstd  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            from backports import zstd  # type: ignore[no-redef, unused-ignore]
        _module = zstd
    return _module


def compress(data: bytes | bytearray) -> bytes:
    packed: bytes = _zstd().compress(data, LEVEL)
    return packed


def decompress(data: bytes, length: int) -> bytes:
    """Return the bytes of one frame, which must be exactly `length`; no more are ever unpacked. Raises ValueError."""
    zstd = _zstd()
    try:
        unpacker = zstd.ZstdDecompressor()
        raw: bytes = unpacker.decompress(data, length + 1)
        while len(raw) <= length and not unpacker.eof and not unpacker.needs_input:
            more: bytes = unpacker.decompress(b"", length + 1 - len(raw))
            if not more:
                break
            raw += more
    except (zstd.ZstdError, EOFError, MemoryError) as problem:
        raise ValueError(f"cannot be unpacked: {problem}") from problem
    if len(raw) != length or not unpacker.eof or unpacker.unused_data:
        raise ValueError("unpacks to another length than it says")
    return raw
