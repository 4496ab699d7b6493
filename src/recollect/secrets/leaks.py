"""Search files that were written without secrets for secrets that are left in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from ..format.line import read_lines
from .redact import Redaction, Redactor
from .rewrite import Replacement, rewrite_strings
from .untouched import is_untouched

_PIECE: Final = 4 << 20
_OVERLAP: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Leak:
    """A value that is left in a written file: of which kind, and on which line (0 in a file that is not text)."""

    path: Path
    line: int
    kind: str


def leaks(paths: Iterable[Path], redaction: Redaction) -> list[Leak]:
    """Return the values in written files that were to be left out, in any form, and all other definite secrets."""
    if redaction.profile == "none":
        return []
    found: dict[Leak, None] = {}
    for path in paths:
        with open(path, "rb") as stream:
            read = _in_lines if path.suffix == ".jsonl" else _in_text
            found.update(dict.fromkeys(read(stream, path, redaction.redactor)))
    return list(found)


def _in_lines(stream: BinaryIO, path: Path, redactor: Redactor) -> Iterable[Leak]:
    for line in read_lines(stream):
        if line.more or line.part:
            continue
        found: list[str] = []

        def look(pointer: str, text: str, found: list[str] = found) -> Sequence[Replacement]:
            if not is_untouched(pointer, text):
                found += (kind for _, kind in redactor.left_in(text))
            return ()

        rewrite_strings(line.data, look, change_key=look)
        yield from (Leak(path, line.number, kind) for kind in found)


def _in_text(stream: BinaryIO, path: Path, redactor: Redactor) -> Iterable[Leak]:
    before, line = "", 1
    is_text = True
    while data := stream.read(_PIECE):
        is_text = is_text and b"\x00" not in data
        text = before + data.decode("utf-8" if is_text else "latin-1", "surrogateescape")
        for place, kind in redactor.left_in(text, known_only=not is_text):
            yield Leak(path, line + text.count("\n", 0, place) if is_text else 0, kind)
        before = text[-_OVERLAP:]
        line += text.count("\n") - before.count("\n")
