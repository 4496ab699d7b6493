"""Write bundles: sessions with all that belongs to them in one file, to be carried to another machine.

    recollect bundle 1\\n
    a RECORDS block         what is inside: sessions, and every file with its size, time and SHA-256
    DATA blocks             the bytes of the files, one after the other, in pieces of at most a mebibyte
    a RECORDS block         {"end": true}: nothing was cut off

The blocks are those of packs (blocks.py), and each payload begins with its unpacked length.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from ..format.path_text import to_text
from .blocks import DATA, RECORDS, encode_block
from .recovery import encode_records

VERSION: Final = 1
BUNDLE_BLOCK: Final = 1 << 20


def magic(version: int = VERSION) -> bytes:
    return b"recollect bundle %d\n" % version


class BundledFile(Struct, frozen=True):
    path: str
    """Encoded as text (`format.path_text`) in the bundle; `BundleReader` returns it as the system's path."""
    size: int
    mtime_ns: int
    sha256: bytes


class BundledSession(Struct, frozen=True):
    session_id: str
    folder: str
    project: str | None = None
    title: str | None = None


class BundleHead(Struct, frozen=True):
    root: str
    """The root of the home that the bundle came from: paths inside the transcripts begin with it."""
    made: float
    sessions: list[BundledSession]
    files: list[BundledFile]


class BundleEnd(Struct, frozen=True):
    end: bool


class FileToBundle(Struct, frozen=True):
    """A file and a function that reads it. It is read twice and must not change in between."""

    path: str
    mtime_ns: int
    chunks: Callable[[], Iterator[bytes]]


def encode_bundle(
    root: str, made: float, sessions: Sequence[BundledSession], files: Sequence[FileToBundle]
) -> Iterator[bytes]:
    """Yield the bytes of a bundle. Raises ValueError if a file changed while it was read."""
    listed = []
    for file in files:
        digest, size = hashlib.sha256(), 0
        for chunk in file.chunks():
            digest.update(chunk)
            size += len(chunk)
        listed.append(BundledFile(to_text(file.path), size, file.mtime_ns, digest.digest()))
    yield magic()
    head = BundleHead(root, made, list(sessions), listed)
    yield encode_block(RECORDS, encode_records(msgspec.json.encode(head)))
    waiting = bytearray()
    for file, told in zip(files, listed, strict=True):
        digest, size = hashlib.sha256(), 0
        for chunk in file.chunks():
            digest.update(chunk)
            size += len(chunk)
            waiting += chunk
            while len(waiting) >= BUNDLE_BLOCK:
                yield encode_block(DATA, encode_records(bytes(waiting[:BUNDLE_BLOCK])))
                del waiting[:BUNDLE_BLOCK]
        if (size, digest.digest()) != (told.size, told.sha256):
            raise ValueError(f"{file.path} was changed meanwhile")
    if waiting:
        yield encode_block(DATA, encode_records(bytes(waiting)))
    yield encode_block(RECORDS, encode_records(msgspec.json.encode(BundleEnd(True))))
