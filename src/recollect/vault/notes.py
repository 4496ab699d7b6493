"""Read and write small files of the vault: a line of JSON and its SHA-256. A damaged one counts as missing."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from ..journal import disk

T = TypeVar("T", bound=Struct)


def read_note(path: Path, kind: type[T]) -> T | None:
    """Return the content of the file; None if it is missing or damaged."""
    try:
        line, digest, rest = path.read_bytes().split(b"\n")
        if rest or hashlib.sha256(line).hexdigest().encode() != digest:
            return None
        return msgspec.json.decode(line, type=kind)
    except (OSError, ValueError):
        return None


def write_note(path: Path, told: Struct) -> None:
    """Replace the file atomically. Raises OSError; then the file is unchanged."""
    line = msgspec.json.encode(told)
    fresh = path.with_name(f"{path.name}.new")
    disk.remove_if_there(fresh)
    disk.write_new(fresh, [line + b"\n" + hashlib.sha256(line).hexdigest().encode() + b"\n"])
    disk.replace(fresh, path)
