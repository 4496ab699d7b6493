"""Find given values again, in every form in which they may stand in a file, and put a mark in their place.

A value that was found once is looked for by itself: plain, with the escapes of JSON once or twice, with the line numbers, diff
signs and line breaks that tools put into it, URL-encoded, and inside of base64. A copy counts where it is delimited; inside of
a longer word it may be chance, and only `everywhere` takes those, too.
"""

from __future__ import annotations

import base64
import binascii
import bisect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

_NEEDLE: Final = 6
_MOST_NEEDLES: Final = 8
_FEW_NEEDLES: Final = 3
_WRAPPED_FROM: Final = 16
"""A shorter value is not looked for across line breaks: its two halves may be words of two lines."""
_INSIDE_BASE64_FROM: Final = 6
_DEPTH: Final = 2

_NEW_LINE: Final = r"(?<!\\)(?:\\*+\r?\n|(?:\\++r)?\\++n)"
_NUMBER: Final = r"(?:\d{1,9}(?:→|\t|\\++t|[:|]))?"
_MARGIN: Final = rf"[ \t]*{_NUMBER}[ \t]*(?:[+\-|>][ \t]*)?"
_QUOTES: Final = "\"'`"
_BREAKS: Final = (
    re.compile(rf"{_NEW_LINE}[ \t]*+{_NUMBER}[ \t]*+(?:\\*+[{_QUOTES}])?"),
    re.compile(rf"{_NEW_LINE}[ \t]*+{_NUMBER}[ \t]*+(?:[+\-|>][ \t]*+)?"),
)
"""Line breaks inside of a value: between quoted parts of it, and with what tools put before each line."""
_NOISE: Final = re.compile(
    r"(?:(?<!\\)\\++[nrt]|%0[aAdD]|%2[bB]|(?<![0-9])[0-9]{1,9}(?:→|\t|(?<!\\)\\++t)|[^A-Za-z0-9/=\\%]|\\|%)+"
)
"""What stands between the letters of a key block, and the letters that a finder may have left out of it."""
_KEY: Final = "-----BEGIN"
_KEY_END: Final = re.compile(r"[^A-Za-z0-9]{0,40}(?:\\*[nr][^A-Za-z0-9]{0,20}){0,2}END [A-Z ]{2,40}-----")
_KEY_HEAD: Final = 400
"""How far before the first letters of a key its first line may stand."""
_LEAST_KEY: Final = 40
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#(?:39|x27);"}
_RUN: Final = re.compile(r"[A-Za-z0-9+/_-]{8,}+(?:[ \t]*+\r?\n[ \t]*+[A-Za-z0-9+/_-]{16,}+)*+={0,2}")
_WORDS: Final = re.compile(r"[A-Za-z0-9]+")
_BEFORE: Final = re.compile(
    r"(?:\\+[nrtbf0]|%[0-9A-Fa-f]{2}|\\+u[0-9A-Fa-f]{4}|(?:\x1b|\\+u001[bB]|\\+x1[bB]|\\+033)\[[0-9;]*[A-Za-z])\Z"
)


@dataclass(frozen=True, slots=True)
class SecretValue:
    """One value to mask: what kind it is of, and the fingerprint by which it is named instead of itself."""

    kind: str
    fingerprint: str
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands in a text, and what comes there."""

    start: int
    end: int
    value: SecretValue
    text: str


class ValueFinder:
    """Finds all given values in texts and in raw bytes."""

    def __init__(self, values: Iterable[SecretValue], *, everywhere: bool = False, same_length: bool = False) -> None:
        unique = {item.value: item for item in values if item.value.strip()}
        self.values: Sequence[SecretValue] = sorted(unique.values(), key=lambda item: -len(item.value))
        """The longest first: a value may be part of another."""
        self.everywhere = everywhere
        self.same_length = same_length
        self._patterns: dict[SecretValue, re.Pattern[str]] = {}
        self._by_needle: dict[bytes, list[SecretValue]] = {}
        self._by_code: dict[bytes, list[SecretValue]] = {}
        self._always: dict[SecretValue, tuple[str, ...]] = {}
        """Values with so few needles that each is looked for by itself, with these."""
        for item in self.values:
            needles = _needles(item.value)
            if len(needles) < _FEW_NEEDLES:
                self._always[item] = needles
            for needle in needles:
                self._by_needle.setdefault(needle.encode(), []).append(item)
            for needle in _in_base64(item.value):
                self._by_code.setdefault(needle.encode(), []).append(item)
        self._without_needle = any(not needles for needles in self._always.values())

    @cached_property
    def _filter(self) -> Any:
        """The expression that every text with one of the values matches, over raw bytes; letters may be written as escapes."""
        needles = [b""] if self._without_needle else [*self._by_needle, *self._by_code]
        return _any_of([*needles, b"\\u00"])

    @cached_property
    def _needle_filter(self) -> Any:
        return _any_of(list(self._by_needle))

    @cached_property
    def _code_filter(self) -> Any:
        return _any_of(list(self._by_code))

    def may_hold(self, data: bytes) -> bool:
        """Return whether some bytes may hold one of the values: False is certain."""
        return bool(self.values) and self._filter.search(data) is not None

    def places(
        self, text: str, *, everywhere: bool | None = None, size: Callable[[str], int] = len, depth: int = 0
    ) -> list[Place]:
        """Return where the values stand in a text, in order and without overlap.

        `size` says how much room a part of the text takes, for marks of the same length.
        """
        anywhere = self.everywhere if everywhere is None else everywhere
        data = text.encode("utf-8", "surrogatepass")
        found: list[Place] = []
        candidates = self._candidates(text, data)
        for item in candidates:
            if item.value.startswith(_KEY):
                found += self._key_places(text, item, size)
            for match in self._pattern(item).finditer(text):
                if anywhere or _is_delimited(text, *match.span(), item.value):
                    found.append(Place(*match.span(), item, self._mark(item, size(match[0]))))
        found += self._broken_places(text, candidates, anywhere, size)
        if depth < _DEPTH and self._by_code and self._code_filter.search(data) is not None:
            found += self._encoded_places(text, depth)
        return _without_overlap(found)

    def _candidates(self, text: str, data: bytes) -> list[SecretValue]:
        """Return the values that a text may hold, by their needles."""
        needles = {match.group() for match in self._needle_filter.finditer(data)} if self._by_needle else set()
        found = dict.fromkeys(item for needle in needles for item in self._by_needle.get(needle, ()))
        for item, few in self._always.items():
            if not few or any(needle in text for needle in few):
                found[item] = None
        return list(found)

    def _key_places(self, text: str, item: SecretValue, size: Callable[[str], int]) -> Iterator[Place]:
        """Yield the key blocks with these letters, whatever line breaks, blank lines and headers stand between them."""
        lines = [line for line in item.value.splitlines()[1:] if "-----" not in line]
        letters = _NOISE.sub("", "\n".join(lines))
        if len(letters) < _LEAST_KEY:
            return
        joined, cuts = _joined(text, _NOISE)
        at = joined.find(letters)
        while at >= 0:
            start, end = _unjoined(cuts, at), _unjoined(cuts, at + len(letters) - 1) + 1
            head = text.rfind(_KEY, max(start - _KEY_HEAD, 0), start)
            last = _KEY_END.match(text, end)
            span = (head if head >= 0 else start, last.end() if last is not None else end)
            yield Place(*span, item, self._mark(item, size(text[span[0] : span[1]])))
            at = joined.find(letters, at + len(letters))

    def _broken_places(
        self, text: str, candidates: Sequence[SecretValue], anywhere: bool, size: Callable[[str], int]
    ) -> Iterator[Place]:
        """Yield the values that line breaks cut into pieces."""
        long = [item for item in candidates if len(item.value) >= _WRAPPED_FROM and "\n" not in item.value]
        if not long:
            return
        for breaks in _BREAKS:
            joined, cuts = _joined(text, breaks, quoted=breaks is _BREAKS[0])
            if not cuts:
                continue
            for item in long:
                for match in self._pattern(item).finditer(joined):
                    start, end = _unjoined(cuts, match.start()), _unjoined(cuts, match.end() - 1) + 1
                    if end - start == match.end() - match.start():
                        continue  # it is whole
                    if anywhere or _is_delimited(text, start, end, item.value):
                        yield Place(start, end, item, self._mark(item, size(text[start:end])))

    def holds(self, text: str) -> bool:
        return bool(self.places(text))

    def _pattern(self, item: SecretValue) -> re.Pattern[str]:
        known = self._patterns.get(item)
        if known is None:
            known = self._patterns[item] = re.compile(_expression(item.value))
        return known

    def _mark(self, item: SecretValue, length: int) -> str:
        return mark(item.kind, length if self.same_length else None)

    def _encoded_places(self, text: str, depth: int) -> Iterator[Place]:
        """Yield the runs of base64 that hold a value. What else stands in such a run is encoded again as it was."""
        for run in _RUN.finditer(text):
            body = run[0].rstrip("=")
            if self._code_filter.search(re.sub(r"\s+", "", body).encode()) is None:
                continue
            for skipped in range(4):  # the run may begin with letters that are not part of it
                if skipped >= len(body):
                    break
                place = self._encoded_place(run.start() + skipped, run.end(), text, depth)
                if place is not None:
                    yield place
                    break

    def _encoded_place(self, start: int, end: int, text: str, depth: int) -> Place | None:
        written = re.sub(r"\s+", "", text[start:end])
        body = written.rstrip("=")
        body = body[: len(body) - 1] if len(body) % 4 == 1 else body
        is_url_safe = "-" in body or "_" in body
        try:
            raw = base64.b64decode(body.replace("-", "+").replace("_", "/") + "=" * (-len(body) % 4), validate=True)
        except (binascii.Error, ValueError):
            return None
        inner = raw.decode("utf-8", "surrogateescape")
        # Nothing delimits the letters of base64: what stands around the value is part of the decoded text.
        places = self.places(inner, depth=depth + 1)
        if not places:
            return None
        item = places[0].value
        if len(places) == 1 and inner.strip() == inner[places[0].start : places[0].end]:
            return Place(start, end, item, self._mark(item, end - start))
        new = base64.b64encode(replaced(inner, places).encode("utf-8", "surrogateescape")).decode()
        if is_url_safe:
            new = new.replace("+", "-").replace("/", "_")
        if not written.endswith("="):
            new = new.rstrip("=")
        return Place(start, end, item, new)


def mark(kind: str, length: int | None = None) -> str:
    """Return the text that stands for a value of this kind; with a length, one of so many letters."""
    text = f"[redacted: {kind}]"
    if length is None:
        return text
    if length < len(text) + 1:
        return "*" * length
    return f"{text[:-1]}{'*' * (length - len(text))}]"


def replaced(text: str, places: Sequence[Place]) -> str:
    """Return the text with its places replaced."""
    parts: list[str] = []
    at = 0
    for place in places:
        parts += (text[at : place.start], place.text)
        at = place.end
    return "".join([*parts, text[at:]])


def _without_overlap(found: list[Place]) -> list[Place]:
    """Return the places in order; of places that overlap, the longest."""
    chosen: list[Place] = []
    for place in sorted(found, key=lambda item: (item.start, -item.end)):
        if chosen and place.start < chosen[-1].end:
            if place.end - place.start > chosen[-1].end - chosen[-1].start:
                chosen[-1] = place
            continue
        chosen.append(place)
    return chosen


def _is_delimited(text: str, start: int, end: int, value: str) -> bool:
    """Return whether no word goes on before or after a place; escapes and colours of a terminal are no part of a word."""
    goes_on = start > 0 and _is_word(text[start - 1]) and _is_word(value[0])
    if goes_on and _BEFORE.search(text, max(start - 24, 0), start) is None:
        return False
    return end >= len(text) or not _is_word(text[end]) or not _is_word(value[-1])


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


# --- what a value looks like ------------------------------------------------------------------------------------------


def _needles(value: str) -> tuple[str, ...]:
    """Return short pieces of a value of which one stands in every form of it but base64; none where there is no such piece."""
    runs = [match[0] for match in _WORDS.finditer(value)]
    pieces = [run[at : at + _NEEDLE] for run in runs for at in range(0, len(run) - _NEEDLE + 1, _NEEDLE)]
    if len(pieces) > _MOST_NEEDLES:
        step = len(pieces) / _MOST_NEEDLES
        pieces = [pieces[int(number * step)] for number in range(_MOST_NEEDLES)]
    if not pieces or (len(pieces) < 2 and len(value) >= _WRAPPED_FROM):
        pieces += [run for run in sorted(runs, key=len) if 3 <= len(run) < 2 * _NEEDLE][-2:]
    return tuple(dict.fromkeys(pieces))


def _in_base64(value: str) -> tuple[str, ...]:
    """Return pieces of which one stands in base64 of any text that holds the value, whatever stands before it."""
    data = value.encode("utf-8", "surrogatepass")
    if len(data) < _INSIDE_BASE64_FROM:
        return ()
    found: list[str] = []
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
        first = -(-before * 8 // 6) + (1 if before else 0)
        last = (before + len(data)) * 8 // 6
        core = whole[first:last]
        pieces: list[str] = re.findall(r"[A-Za-z0-9]{6,}", core) or [core]
        best = max(pieces, key=len)
        found += [best[:12], best[-12:]]
        if best is core and ("+" in core or "/" in core):
            found.append(core.replace("+", "-").replace("/", "_"))
    return tuple(dict.fromkeys(found))


def _any_of(needles: list[bytes]) -> Any:
    """Compile an expression that finds any of some texts in bytes."""
    pattern = b"|".join(re.escape(needle) for needle in sorted(needles, key=len, reverse=True))
    try:
        import re2  # type: ignore[import-untyped, unused-ignore]

        options = re2.Options()
        options.max_mem = 256 << 20
        options.encoding = re2.Options.Encoding.LATIN1
        options.log_errors = False
        return re2.compile(pattern, options)
    except Exception:  # not installed, or it refuses the expression: the same results, only slower
        return re.compile(pattern)


def _joined(text: str, breaks: re.Pattern[str], *, quoted: bool = False) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without its line breaks, and for each the place where it was and how much is missing up to there.

    With `quoted`, the end of a quoted part before a break goes with it.
    """
    parts: list[str] = []
    cuts: list[tuple[int, int]] = []
    at = length = missing = 0
    for match in breaks.finditer(text):
        part = text[at : match.start()]
        if quoted:
            part = _without_quote(part)
        parts.append(part)
        length += len(part)
        missing += match.end() - at - len(part)
        cuts.append((length, missing))
        at = match.end()
    return "".join([*parts, text[at:]]), cuts


def _without_quote(part: str) -> str:
    rest = part.rstrip(" \t")
    if rest.endswith(("+", ".", "&", ",")):
        rest = rest[:-1].rstrip(" \t")
    if rest.endswith(tuple(_QUOTES)):
        return rest[:-1].rstrip("\\")
    return part.rstrip(" \t")


def _unjoined(cuts: list[tuple[int, int]], place: int) -> int:
    """Return where a place of a joined text lies in the text itself."""
    number = bisect.bisect_right(cuts, (place, sys.maxsize))
    return place + (cuts[number - 1][1] if number else 0)


def _expression(value: str) -> str:
    parts: list[str] = []
    at = 0
    while at < len(value):
        letter = value[at]
        if letter == "\\":
            run = len(value[at:]) - len(value[at:].lstrip("\\"))
            parts.append(rf"(?:\\{{{run},{4 * run}}}|(?:%5[cC]){{{run}}})")
            at += run
            continue
        if letter == "\r" and value[at : at + 2] == "\r\n":
            at += 1
            continue
        parts.append(_letter(letter) if at else rf"(?:(?<!\\)|(?!\\)){_letter(letter)}")
        at += 1
    return "".join(parts)


def _letter(letter: str) -> str:
    if letter == "\n":
        return rf"(?:{_NEW_LINE}{_MARGIN}|(?:%0[dD])?%0[aA])"
    if letter.isascii() and letter.isalnum():
        return letter
    forms = [re.escape(letter)]
    forms.append("".join(f"%{_any_case(byte)}" for byte in letter.encode("utf-8", "surrogatepass")))
    if ord(letter) < 0x10000:
        forms.append(rf"\\+u{_any_case(ord(letter) >> 8)}{_any_case(ord(letter) & 255)}")
    if letter in "\"'/`$":
        forms[0] = rf"\\*+{re.escape(letter)}"
    if letter == "\t":
        forms.append(r"\\+t")
    if letter == " ":
        forms.append(r"\+")
    if letter in _ENTITIES:
        forms.append(_ENTITIES[letter])
    return f"(?:{'|'.join(forms)})"


def _any_case(byte: int) -> str:
    return "".join(digit if digit.isdigit() else f"[{digit}{digit.upper()}]" for digit in f"{byte:02x}")
