"""Read and write the manifest: one line per commit, append-only, each with a SHA-256 over itself and the line before.

CHECK END JSON\\n        CHECK = SHA-256(CHECK of the line before, END, JSON); END = where the commit ends in its pack
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .records import Commit, decode_commit, encode_commit

_CHECK: Final = 64
_SURROGATES: Final = 0xDC00


@dataclass
class BadLine:
    """A damaged line of the manifest."""

    number: int
    offset: int
    length: int


@dataclass
class Manifest:
    """The parsed manifest and its damage."""

    commits: list[tuple[Commit, int]] = field(default_factory=list)
    """Each with the offset in its pack where it ends."""
    bad: list[BadLine] = field(default_factory=list)
    size: int = 0
    """Bytes of the complete lines."""
    torn: int = 0
    """Bytes after the complete lines: a line that was never finished."""
    last_check: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the manifest holds every commit from the first to its last."""
        numbers = [commit.number for commit, _ in self.commits]
        return not self.bad and numbers == list(range(1, len(numbers) + 1))


def read_manifest(path: Path) -> Manifest:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        data = b""
    manifest = Manifest()
    offset = number = 0
    while (end := data.find(b"\n", offset)) >= 0:
        number += 1
        line = data[offset:end]
        told = decode_line(line, manifest.last_check)
        if told is None:
            manifest.bad.append(BadLine(number, offset, end + 1 - offset))
        else:
            manifest.commits.append(told)
        manifest.last_check = line[:_CHECK].decode("latin-1")
        offset = end + 1
    manifest.size, manifest.torn = offset, len(data) - offset
    return manifest


def decode_line(line: bytes, before: str) -> tuple[Commit, int] | None:
    """Decode a line that follows the line with the check `before`; return None if it is damaged."""
    if _check(before.encode("latin-1"), line[_CHECK + 1 :]) != line[:_CHECK] or line[_CHECK : _CHECK + 1] != b" ":
        return None
    end, _, body = line[_CHECK + 1 :].partition(b" ")
    try:
        return decode_commit(body), int(end)
    except ValueError:
        return None


def encode_line(commit: Commit, end: int, before: str) -> tuple[bytes, str]:
    """Return the line of a commit and its check."""
    body = b"%d %s" % (end, encode_commit(commit))
    check = _check(before.encode("latin-1"), body)
    return check + b" " + body + b"\n", check.decode()


def encode_lines(commits: Iterable[tuple[Commit, int]]) -> bytes:
    """Return the bytes of a whole manifest."""
    lines, check = [], ""
    for commit, end in commits:
        line, check = encode_line(commit, end, check)
        lines.append(line)
    return b"".join(lines)


def _check(before: bytes, body: bytes) -> bytes:
    digest = hashlib.sha256(before)
    digest.update(body)
    return digest.hexdigest().encode()


def to_text(path: str) -> str:
    """Encode a path of any bytes as text for JSON: a byte that is not UTF-8 becomes NUL and two hex digits."""
    if path.isascii():
        return path
    return "".join(f"\x00{ord(char) - _SURROGATES:02x}" if "\udc80" <= char <= "\udcff" else char for char in path)


def from_text(text: str) -> str:
    if "\x00" not in text:
        return text
    first, *rest = text.split("\x00")
    return first + "".join(chr(_SURROGATES + int(part[:2], 16)) + part[2:] for part in rest)
