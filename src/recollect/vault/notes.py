"""Small files of the vault that prove themselves: a line of JSON and its SHA-256. What does not is as good as missing."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from ..journal import disk

T = TypeVar("T", bound=Struct)


def read_note(path: Path, kind: type[T]) -> T | None:
    """What the file says; None where it is missing or damaged."""
    try:
        line, digest, rest = path.read_bytes().split(b"\n")
        if rest or hashlib.sha256(line).hexdigest().encode() != digest:
            return None
        return msgspec.json.decode(line, type=kind)
    except (OSError, ValueError):
        return None


def write_note(path: Path, told: Struct) -> None:
    """Raises OSError; then the file is as it was."""
    line = msgspec.json.encode(told)
    fresh = path.with_name(f"{path.name}.new")
    disk.remove_if_there(fresh)
    disk.write_new(fresh, [line + b"\n" + hashlib.sha256(line).hexdigest().encode() + b"\n"])
    disk.replace(fresh, path)
