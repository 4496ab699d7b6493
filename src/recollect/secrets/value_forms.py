"""Search texts for values that are already known, in every form in which they may stand there: plain or encoded.

A value found at one place stands at others too, where nothing beside it says what it is: inside JSON in a string, in an
address, in base64. All forms of all values are searched for at once.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import quote, quote_plus

Reach = Literal["anywhere", "base64", "delimited", "word"]
"""Where a form counts: anywhere; inside of base64; only where no letter or digit touches it; not beside `_` either."""

_ANCHOR: Final = 16
"""All forms are found by their first letters, which are compared in one step."""
_LEAST_PIECE: Final = 16
"""Lines of a value that are shorter than this are not searched for on their own."""
_LEAST_CORE: Final = 10
_BASE64_LETTER: Final = re.compile(r"[A-Za-z0-9+/_-]")
_BASE64_END: Final = re.compile(r"[A-Za-z0-9+/_-]?={0,2}")
_ENCODED_BEFORE: Final = re.compile(r"(?:%[0-9A-Fa-f]{2}|\\[nrt])\Z")
"""A letter that is written as an escape: the last letter of it is none of the word behind it."""


@dataclass(frozen=True, slots=True)
class KnownForm:
    """One way in which a value may be written."""

    text: str
    owner: Any
    reach: Reach


class Hit(NamedTuple):
    """A known value in a text."""

    start: int
    end: int
    form: KnownForm


def secret_forms(value: str) -> set[str]:
    """Return the ways in which a secret may be written: as it is, escaped, URL-encoded, and line by line."""
    forms = {value}
    for text in (value, value.strip()):
        forms |= {text, html.escape(text), html.escape(text, quote=False), text.replace("/", "\\/")}
        for escaped in (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
            forms |= {escaped, json.dumps(escaped)[1:-1], json.dumps(escaped, ensure_ascii=False)[1:-1]}
        sayable = text.encode("utf-8", "replace")
        for encoded in (quote(sayable, safe=""), quote(sayable), quote_plus(sayable)):
            forms |= {encoded, re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), encoded)}
    lines = [line.strip() for line in value.splitlines()]
    if len(lines) > 1:
        forms |= {line for line in lines if len(line) >= _LEAST_PIECE and not line.startswith("-----")}
    return {form for form in forms if form}


def base64_cores(data: bytes) -> Iterator[str]:
    """Yield what base64 of any text holds that has these bytes in it, at each of the three places in a group of letters."""
    for before in range(3):
        whole = base64.b64encode(bytes(before) + data).decode()
        core = whole[(0, 2, 3)[before] : 8 * (before + len(data)) // 6]
        if len(core) >= _LEAST_CORE:
            yield core
            yield core.replace("+", "-").replace("/", "_")


class KnownValues:
    """A search for known forms. Forms may be added at any time."""

    def __init__(self) -> None:
        self._forms: dict[str, KnownForm] = {}
        self._pattern: re.Pattern[str] | None = None
        self._by_anchor: dict[str, list[KnownForm]] = {}

    def __len__(self) -> int:
        return len(self._forms)

    def add(self, texts: Iterable[str], owner: Any, reach: Reach) -> None:
        """Search for these texts too. A text that is known already keeps its owner."""
        for text in texts:
            if text not in self._forms:
                self._forms[text] = KnownForm(text, owner, reach)
                self._pattern = None

    def search(self, text: str) -> Iterator[Hit]:
        """Yield every known form in a text, in order and without overlap; where several begin, the longest."""
        if not self._forms:
            return
        pattern = self._pattern or self._built()
        place = 0
        while (found := pattern.search(text, place)) is not None:
            place = found.start()
            form = self._at(text, place, found[0])
            if form is None:
                place += 1
            else:
                end = place + len(form.text)
                yield Hit(place, end, form) if form.reach != "base64" else _with_shared_letters(text, place, end, form)
                place = end

    def may_be_in(self, text: str) -> bool:
        """Return whether a text holds the first letters of a known form; wherever a form stands, it does."""
        return bool(self._forms) and (self._pattern or self._built()).search(text) is not None

    def _at(self, text: str, place: int, anchor: str) -> KnownForm | None:
        for length in range(len(anchor), 0, -1):
            for form in self._by_anchor.get(anchor[:length], ()):
                if text.startswith(form.text, place) and _is_delimited(text, place, place + len(form.text), form.reach):
                    return form
        return None

    def _built(self) -> re.Pattern[str]:
        self._by_anchor = {}
        for form in sorted(self._forms.values(), key=lambda item: -len(item.text)):
            self._by_anchor.setdefault(form.text[:_ANCHOR], []).append(form)
        self._pattern = re.compile(_any_of(sorted(self._by_anchor)))
        return self._pattern


def _with_shared_letters(text: str, start: int, end: int, form: KnownForm) -> Hit:
    """Return a hit with the letters before and after it, which hold bits of its first and last byte, and what fills it up."""
    before = _BASE64_LETTER.match(text, start - 1) if start else None
    after = _BASE64_END.match(text, end)
    return Hit(start - 1 if before is not None else start, end if after is None else after.end(), form)


def _is_delimited(text: str, start: int, end: int, reach: Reach) -> bool:
    if reach in ("anywhere", "base64"):
        return True
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    if after.isalnum() or (reach == "word" and (before == "_" or after == "_")):
        return False
    return not before.isalnum() or _ENCODED_BEFORE.search(text, max(start - 3, 0), start) is not None


def _any_of(texts: list[str]) -> str:
    """Return a pattern for the longest of some sorted texts that fits: beginnings in common are written once."""
    ends = bool(texts) and not texts[0]
    groups: dict[str, list[str]] = {}
    for text in texts[1:] if ends else texts:
        groups.setdefault(text[0], []).append(text[1:])
    if not groups:
        return ""
    branches = [re.escape(first) + _any_of(rest) for first, rest in groups.items()]
    body = branches[0] if len(branches) == 1 and not ends else f"(?:{'|'.join(branches)})"
    return f"{body}?" if ends else body
