"""Find a font for the text of pictures: resvg draws no text at all if the requested family is not installed.

Families that systems usually have are tried by name first. If none is installed, the font files of the system are read for
the name of their family.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

_USUAL: Final = (
    "DejaVu Sans", "Liberation Sans", "Noto Sans", "Helvetica Neue", "Helvetica", "Arial", "Segoe UI", "Verdana", "Roboto",
    "Open Sans", "Ubuntu", "Cantarell", "FreeSans", "Nimbus Sans", "Droid Sans", "Tahoma", "Lucida Grande", "Adwaita Sans",
)  # fmt: skip
_MOST_FILES: Final = 200
_LARGEST_TABLE: Final = 1 << 20
_FAMILY: Final = 1
_TRIAL: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="20" font-family="sans-serif" font-size="12">'
    '<text x="2" y="14">{}</text></svg>'
)

#: Draws an SVG with a family for `sans-serif`.
Draw = Callable[[str, str], bytes]


def usable_family(draw: Draw, folders: Iterable[Path]) -> str | None:
    """Return the first family with which letters and digits are visible; None if there is none."""
    empty = draw(_TRIAL.format(""), _USUAL[0])
    for family in _candidates(folders):
        if draw(_TRIAL.format("Cost $1.5"), family) != empty:
            return family
    return None


def _candidates(folders: Iterable[Path]) -> Iterator[str]:
    yield from _USUAL
    families = set(_USUAL)
    for path in islice(_font_files(folders), _MOST_FILES):
        family = family_of(path)
        if family is not None and family not in families:
            families.add(family)
            yield family


def _font_files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in sorted(names):
                if name.lower().endswith((".ttf", ".otf", ".ttc", ".otc")):
                    yield Path(place) / name


def family_of(path: Path) -> str | None:
    """Return the family that a TrueType or OpenType file has in its table `name`; None if it is not such a file."""
    try:
        with path.open("rb") as stream:
            start = 0
            if stream.read(4) == b"ttcf":  # a collection: its first font
                stream.seek(12)
                start = int.from_bytes(stream.read(4))
            stream.seek(start + 4)
            tables = int.from_bytes(stream.read(2))
            stream.seek(start + 12)
            for _ in range(tables):
                record = stream.read(16)
                if record[:4] == b"name":
                    stream.seek(int.from_bytes(record[8:12]))
                    return _family_in(stream.read(min(int.from_bytes(record[12:16]), _LARGEST_TABLE)))
    except OSError:
        pass
    return None


def _family_in(table: bytes) -> str | None:
    count, texts = int.from_bytes(table[2:4]), int.from_bytes(table[4:6])
    for place in range(6, 6 + 12 * count, 12):
        platform, _, _, name, length, offset = (
            int.from_bytes(table[at : at + 2]) for at in range(place, place + 12, 2)
        )
        if name == _FAMILY:
            data = table[texts + offset : texts + offset + length]
            family = data.decode("mac_roman" if platform == 1 else "utf-16-be", "replace").strip("\0 ")
            if family:
                return family
    return None
