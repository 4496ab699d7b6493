"""Make text from transcripts safe for a terminal: no escape sequence, control or direction mark gets through.

Escape sequences (colours, titles, clipboard, links) are removed; other control characters are shown as visible symbols, so
that nothing is hidden silently. This applies with and without a terminal; `recollect cat` prints the raw bytes.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False  # importing typing takes a good part of the time that a search has
if TYPE_CHECKING:
    from typing import Final

_SEQUENCES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x9b[0-?]*[ -/]*[@-~]"  # CSI in 8 bit
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|(?=\x1b)|\Z)"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]"  # two-character sequences
)
# Marks that reorder or hide text: embeddings, overrides, isolates, zero-width characters (joiners for scripts and emoji stay).
_HIDDEN: Final = frozenset(
    "\u061c\u200b\u200e\u200f\u2028\u2029\u2060\u2061\u2062\u2063\u2064\ufeff\u00ad\u180e"
) | frozenset(
    chr(code)
    for code in (*range(0x202A, 0x202F), *range(0x2066, 0x2070), *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080))
)
_SUSPECT: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)

# A formula begins with one of these in some spreadsheet; the wide, small and other forms count as the plain ones.
_FORMULA: Final = ("=", "+", "-", "@", "|", "\t", "\r", "\n", "＝", "＋", "－", "＠", "｜", "﹦", "﹢", "﹣", "﹫", "−")
_BLANK: Final = " \u00a0\u2003\u200b\u3000\ufeff"


def safe(text: str) -> str:
    """Make text safe to print: line feeds and tabs stay, all else that a terminal would act on is removed or shown."""
    if _SUSPECT.search(text) is None:
        return text
    return _SUSPECT.sub(_visible, _SEQUENCES.sub("", text))


def harmless_cell(text: str) -> str:
    """Make text safe for a CSV file: a `'` is put before what a spreadsheet would read as a formula."""
    is_formula = text.startswith(("\t", "\r", "\n")) or text.lstrip(_BLANK).startswith(_FORMULA)
    return f"'{safe(text)}" if is_formula else safe(text)


def safe_line(text: str, width: int | None = None) -> str:
    """Make one safe line of a text: white space collapsed, cut to `width` characters."""
    line = " ".join(safe(text).split())
    if width is not None and len(line) > width:
        line = line[: max(width - 1, 0)] + "…"
    return line


def _visible(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    if code == 0x0D:
        return ""
    if code < 0x20:
        return chr(0x2400 + code)  # the symbol of that control character
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    if character in _HIDDEN or code < 0xA0:
        return f"<U+{code:04X}>"
    return character
