"""Damage inside a line that leaves its object readable, at least for a patient reader."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from recollect.testing.damage.lines import insert_line

from .recipe import Inflict, Outcome, find_target, join_lines, recipe, sample_session, split_lines

PIECE = 1 << 20


def _in_text(data: bytes, seed: int, inserted: bytes) -> bytes:
    """Put bytes into the text of the message that is hit."""
    lines = split_lines(data)
    index = find_target(lines, seed)
    line = lines[index]
    for opening in (b'"content":"', b'"text":"'):
        place = line.find(opening)
        if place >= 0:
            cut = place + len(opening)
            lines[index] = line[:cut] + inserted + line[cut:]
            break
    return join_lines(lines)


def _as_field(data: bytes, seed: int, field: bytes) -> bytes:
    """Put a further field, given as JSON text, at the head of the row that is hit."""
    lines = split_lines(data)
    index = find_target(lines, seed)
    lines[index] = lines[index].replace(b"{", b"{" + field + b",", 1)
    return join_lines(lines)


def _text(inserted: bytes) -> Inflict:
    return partial(_insert_text, inserted)


def _insert_text(inserted: bytes, data: bytes, seed: int) -> bytes:
    return _in_text(data, seed, inserted)


def _field(field: bytes) -> Inflict:
    return partial(_insert_field, field)


def _insert_field(field: bytes, data: bytes, seed: int) -> bytes:
    return _as_field(data, seed, field)


_WHOLE = Outcome.WHOLE
_SKIPPED = Outcome.AFTER_TARGET  # Claude Code cannot parse the line

recipe("invalid-utf8", "A byte that no UTF-8 holds", "encoding", outcome=_WHOLE)(_text(b"\xff"))
recipe("half-character", "The first byte of a two-byte character alone", "encoding", outcome=_WHOLE)(_text(b"\xc3"))
recipe("overlong-utf8", "An overlong NUL", "encoding", outcome=_WHOLE)(_text(b"\xc0\x80"))
recipe("latin-1", "Text in Latin-1", "encoding", outcome=_WHOLE)(_text("Öl für Übermut ".encode("latin-1")))
recipe("raw-surrogate", "A surrogate as three raw bytes", "encoding", outcome=_WHOLE)(_text(b"\xed\xa0\xbd"))
recipe("lone-high-surrogate", "The first half of an emoji, escaped", "surrogate", outcome=_WHOLE)(_text(b"\\ud83d"))
recipe("lone-low-surrogate", "The second half of an emoji, escaped", "surrogate", outcome=_WHOLE)(_text(b"\\ude00"))
recipe("swapped-surrogates", "Both halves in the wrong order", "surrogate", outcome=_WHOLE)(_text(b"\\ude00\\ud83d"))
recipe("paired-surrogates", "An emoji as two escapes, which is sound", outcome=_WHOLE)(_text(b"\\ud83d\\ude00"))
recipe("line-separators", "U+2028, U+2029 and U+0085 in the text", outcome=_WHOLE)(_text("\u2028\u2029\u0085".encode()))
recipe("escaped-separators", "Vertical tab, form feed and NUL as escapes", outcome=_WHOLE)(_text(b"\\u000b\\f\\u0000"))
recipe("terminal-escapes", "Escape sequences for terminals, escaped", outcome=_WHOLE)(
    _text(b"\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m")
)
recipe("bidi-text", "Marks that turn the direction of the text", outcome=_WHOLE)(
    _text("\u202eback\u2066\u200b".encode())
)
recipe("raw-tab", "A raw tab in a string", "control-character", outcome=_SKIPPED)(_text(b"\t"))
recipe("raw-control", "A raw escape character in a string", "control-character", outcome=_SKIPPED)(_text(b"\x1b[31m"))
recipe("raw-separators", "Raw vertical tab and form feed", "control-character", outcome=_SKIPPED)(_text(b"\x0b\x0c"))

recipe("nan", "A field that is NaN", "nonstandard-number", outcome=_SKIPPED)(_field(b'"odd":NaN'))
recipe("infinity", "A field that is Infinity", "nonstandard-number", outcome=_SKIPPED)(_field(b'"odd":Infinity'))
recipe("minus-infinity", "-Infinity", "nonstandard-number", outcome=_SKIPPED)(_field(b'"odd":[-Infinity]'))
recipe("big-integer", "2 to the power of 70", outcome=_WHOLE)(_field(b'"odd":1180591620717411303424'))
recipe("many-digits", "An integer of 5,000 digits", outcome=_WHOLE)(_field(b'"odd":' + b"7" * 5_000))
recipe("huge-float", "1e400", outcome=_WHOLE)(_field(b'"odd":1e400'))
recipe("duplicate-keys", "A field twice in one object", outcome=_WHOLE)(_field(b'"odd":1,"odd":2'))
recipe("duplicate-type", "The field `type` twice: the last one counts", outcome=_WHOLE)(_field(b'"type":"odd"'))
recipe("empty-key", "A field without a name", outcome=_WHOLE)(_field(b'"":{"":null}'))


def deep_nesting(
    data: bytes, seed: int = 0, *, depth: int = 200_000, opening: bytes = b"[", closing: bytes = b"]"
) -> bytes:
    """A state line nested `depth` deep, between the others."""
    line = b'{"type":"deep","deep":' + opening * depth + b"1" + closing * depth + b"}"
    return insert_line(data, seed, line)


def huge_line(data: bytes, seed: int = 0, *, size: int = 4 << 20) -> bytes:
    """`size` more bytes in the text of one message."""
    return _in_text(data, seed, b"x" * size)


@recipe("deep-arrays", "A line of 200,000 nested arrays", "too-deep")
def _deep_arrays(data: bytes, seed: int) -> bytes:
    return deep_nesting(data, seed)


@recipe("deep-objects", "A line of 200,000 nested objects", "too-deep")
def _deep_objects(data: bytes, seed: int) -> bytes:
    return deep_nesting(data, seed, opening=b'{"a":', closing=b"}")


@recipe("huge-line", "A message of 4 MiB", outcome=_WHOLE)
def _huge_line(data: bytes, seed: int) -> bytes:
    return huge_line(data, seed)


def write_huge_file(path: Path, size: int, *, line: int | None = None) -> None:
    """The sample and `size` bytes of state lines, of `line` bytes each or in a single one; needs little memory."""
    head, middle, tail = b'{"type":"ballast","text":"', b"x", b'"}\n'
    with path.open("wb") as stream:
        stream.write(sample_session().to_bytes())
        left = size
        while left > 0:
            length = left if line is None else min(line, left)
            stream.write(head)
            for piece in _pieces(middle, length - len(head) - len(tail)):
                stream.write(piece)
            stream.write(tail)
            left -= length


def _pieces(byte: bytes, count: int) -> Iterator[bytes]:
    whole = byte * PIECE
    for _ in range(max(count, 0) // PIECE):
        yield whole
    yield byte * (max(count, 0) % PIECE)
