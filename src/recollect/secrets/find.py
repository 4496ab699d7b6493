"""Find secrets in a text or in a JSON value, exactly: where they stand, what they are, how sure that is.

A first look (`needles`) tells where something may stand; only there the rules of the kinds are tried. A text is searched as
it stands and, where the first look finds something to undo, once more without its escapes, its URL encoding and its base64.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any, Final

from . import checksums, names, needles, shapes
from .findings import CONFIDENCES, Confidence, Found
from .formats import Format, tokens, with_text_before
from .placeholders import is_placeholder
from .rules import Rules
from .untouched import is_untouched
from .unwrap import View, base64_blob, joined_lines, line_before, unescaped, url_decoded

_DEEPEST: Final = 2
"""How many forms one after the other are undone."""
_BASE64: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-")
_TOKEN_LETTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_.~-")


class Finder:
    """Finds secrets in texts. Makes no difference between runs: the same text gives the same finds."""

    def __init__(self, rules: Rules | None = None, *, fast: bool = True) -> None:
        self.rules = rules if rules is not None and rules.rules else None
        more = rules.expressions if rules is not None else ()
        self.needles = needles.needles(fast, more)
        self.names = needles.names(fast)
        self.anything = needles.anything(fast, more)

    def in_text(self, text: str, name: str | None = None) -> list[Found]:
        """Return every secret of a text, from left to right; they do not overlap.

        `name` is the key under which the text stands in a JSON object: a value may be a secret by its name alone.
        """
        found = list(self._all(text, _DEEPEST))
        if name is not None:
            found += _by_name(name, text)
        return _without_overlaps(found) if found else found

    def in_value(self, value: Any, pointer: str = "") -> Iterator[tuple[str, str, Found]]:
        """Yield (JSON pointer, text, find) of every secret in a JSON value. Ids, signatures and media are left out."""
        for place, text, name, is_key in _strings_of(value, pointer):
            for found in self.in_text(text, name):
                yield place, text, replace(found, form="key") if is_key else found

    # --- one text -----------------------------------------------------------------------------------------------------

    def _all(self, text: str, depth: int) -> Iterator[Found]:
        data = text.encode("utf-8", "surrogatepass")
        if self.anything.first(data) is None:
            return
        place = _places(text, data)
        spans: list[tuple[int, int]] = []
        for first, last in self.needles.find(data):
            start, end = place(first), place(last)
            spans.append((start, end))
            yield from self._at_needle(text, start, end, depth)
        for first, last in self.names.find(data):
            start, end = place(first), place(last)
            spans.append((start, end))
            yield from self._at_name(text, start, end)
        if self.rules is not None:
            yield from self.rules.in_text(text)
        if depth:
            spans += [match.span() for match in _ESCAPED_LETTER.finditer(text)] if "\\u00" in text else []
            for start, end in _windows(text, spans):
                for view in (unescaped(text, start, end), url_decoded(text, start, end)):
                    if view is not None:
                        yield from self._in_view(view, depth - 1)

    def _in_view(self, view: View, depth: int) -> Iterator[Found]:
        for found in self._all(view.text, depth):
            start, end = view.span(found.start, found.end)
            form = view.form if found.form == "plain" and view.is_changed(found.start, found.end) else found.form
            if found.form == view.form == "escaped":
                form = "escaped twice"
            yield replace(found, start=start, end=end, form=form)

    def _at_needle(self, text: str, start: int, end: int, depth: int) -> Iterator[Found]:
        head = text[start:end]
        for format in tokens().get(head[:2], ()):
            if head.startswith(format.prefix):
                yield from _token(text, start, format)
        for format in with_text_before():
            if any(mark.rstrip("/") in head for mark in format.prefix) or (
                format.prefix == (".",) and head[0] in "MNO"
            ):
                yield from _token_with_text_before(text, start, end, format)
        for shape in _shapes_at_needle(text, start, head):
            yield _of_shape(shape)
        if depth and len(head) >= needles.BASE64_LENGTH and set(head[-needles.BASE64_LENGTH :]) <= _BASE64:
            yield from self._in_base64(text, end - needles.BASE64_LENGTH, depth)

    def _in_base64(self, text: str, start: int, depth: int) -> Iterator[Found]:
        """Yield what stands in a text in base64 that begins at a place: the whole of it is the find."""
        blob = base64_blob(text, start)
        if blob is None:
            return
        end, decoded = blob
        if decoded.startswith("{") and text[end : end + 1] == ".":
            return  # the first part of a JSON web token
        inside = _without_overlaps(list(self._all(decoded, depth - 1)))
        if inside:
            best = min(inside, key=lambda found: CONFIDENCES.index(found.confidence))
            yield Found(start, end, best.kind, "secret", best.confidence, "base64", best.value)

    def _at_name(self, text: str, start: int, end: int) -> Iterator[Found]:
        for shape in _shapes_at_name(text, start, end):
            yield _of_shape(shape)
        for item in names.named_values(text, start, end):
            kind = names.kind_of(item)
            if kind is not None:
                form = "wrapped" if item.wrapped else "plain"
                yield Found(item.start, item.end, kind[0], "secret", _confidence(kind[1]), form, item.value)


@cache
def default_finder() -> Finder:
    """Return the finder without rules of the user."""
    return Finder()


def strings_of(value: Any, pointer: str = "") -> Iterator[tuple[str, str, bool]]:
    """Yield (JSON pointer, text, is it a key) of every string in a value that may be searched."""
    for place, text, _, is_key in _strings_of(value, pointer):
        yield place, text, is_key


def _strings_of(value: Any, pointer: str) -> Iterator[tuple[str, str, str | None, bool]]:
    """Yield (JSON pointer, text, the name that it has, is it a key) of every string that may be searched."""
    waiting: list[tuple[str, Any, str | None]] = [(pointer, value, None)]
    while waiting:
        place, item, name = waiting.pop()
        if isinstance(item, str):
            if len(item) >= _SHORTEST and not is_untouched(place, item):
                yield place, item, name, False
        elif isinstance(item, dict):
            for key, below in reversed(item.items()):
                if isinstance(below, (str, dict, list)):
                    waiting.append((f"{place}/{_escaped(key)}", below, _name_of(item, key)))
                if len(key) >= _LONG_KEY:
                    yield f"{place}/{_escaped(key)}", key, None, True
        elif isinstance(item, list):
            waiting += [(f"{place}/{number}", item[number], None) for number in range(len(item) - 1, -1, -1)]


def _name_of(item: dict[str, Any], key: str) -> str:
    """Return the name of a value: its key, or what `name` says in a pair such as {"name": "API_KEY", "value": "..."}."""
    if key in ("value", "Value", "v"):
        told = item.get("name") or item.get("Name") or item.get("key") or item.get("Key")
        return told if isinstance(told, str) else key
    return key


def _by_name(name: str, text: str) -> list[Found]:
    """Return a text as a find if the name that it has makes it one."""
    strength = names.strength_of(name) if len(name) <= _LONGEST_NAME and len(text) <= _LONGEST_NAMED else None
    if strength is None:
        return []
    found = names.kind_of(names.NamedValue(name, strength, 0, len(text), text, True, ":"))
    return [Found(0, len(text), found[0], "secret", _confidence(found[1]), "plain", text)] if found is not None else []


_LONGEST_NAME: Final = 100
_LONGEST_NAMED: Final = 4096
_SHORTEST: Final = 8
_LONG_KEY: Final = 16


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key


def _places(text: str, data: bytes) -> Callable[[int], int]:
    """Return what turns places in the bytes of a text into places in the text; they come from left to right."""
    if len(text) == len(data):
        return lambda place: place
    known: list[int] = [0, 0]

    def place(at: int) -> int:
        if at < known[0]:
            known[0] = known[1] = 0
        piece = data[known[0] : at]
        known[1] += len(piece) - len(piece.translate(None, _BEGINNINGS))
        known[0] = at
        return known[1]

    return place


_BEGINNINGS: Final = bytes(byte for byte in range(256) if byte & 0xC0 != 0x80)


_ESCAPED_LETTER: Final = re.compile(r"\\u00[2-7]")
_SHORT_TEXT: Final = 16_000
_BEFORE: Final = 1_000
_AFTER: Final = 4_000
_AFTER_BLOCK: Final = 30_000


def _windows(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the parts of a text around what the first look found: only there is something worth undoing."""
    if len(text) <= _SHORT_TEXT:
        return [(0, len(text))]
    windows: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        after = _AFTER_BLOCK if text.startswith("-----", start) else _AFTER
        first, last = max(start - _BEFORE, 0), min(end + after, len(text))
        if windows and first <= windows[-1][1]:
            windows[-1] = windows[-1][0], max(last, windows[-1][1])
        else:
            windows.append((first, last))
    return windows


def _confidence(text: str) -> Confidence:
    return next(item for item in CONFIDENCES if item == text)


def _of_shape(shape: shapes.Shape) -> Found:
    form = "wrapped" if shape.wrapped else "plain"
    return Found(shape.start, shape.end, shape.kind, "secret", shape.confidence, form, shape.value)


def _token(text: str, start: int, format: Format) -> Iterator[Found]:
    """Yield the token of a kind that begins at a place, on one line or on several."""
    if start > 0 and text[start - 1].isalnum() and text[start - 1].isascii():
        return
    found = format.exact.match(text, start)
    value = found[0].rstrip(".") if found is not None else ""
    if value and format.is_whole(value):
        yield from _checked(format, start, start + len(value), value, "plain")
        return
    end = start + len(value) if value else _end_of_run(text, start)
    span, longer = _on_several_lines(text, start, end, format, value)
    if span is not None:
        yield from _checked(format, *span, longer, "wrapped")
    elif value:
        yield from _checked(format, start, start + len(value), value, "plain")


def _on_several_lines(
    text: str, start: int, end: int, format: Format, value: str
) -> tuple[tuple[int, int] | None, str]:
    """Return where a token stands that goes on in the next lines, and the token put together."""
    best: tuple[tuple[int, int] | None, str] = (None, value)
    length = end - start
    for view in joined_lines(text, start, end, format.longest):
        piece = view.text[length:]
        found = format.exact.match(view.text)
        if found is not None and found.end() > length:
            # A token that was complete without this line goes on only with letters as random as its own.
            if best[1] and not format.is_whole(found[0]) and not names.looks_random(piece, 8):
                break
            best = view.span(0, found.end()), found[0]
            if format.is_whole(found[0]) or found.end() < len(view.text):
                break
        length = len(view.text)
    return best


def _token_with_text_before(text: str, start: int, end: int, format: Format) -> Iterator[Found]:
    """Yield the token of a kind whose mark stands inside of it, or after it."""
    found = format.exact.search(text, max(start - 100, 0), end + 200)
    if found is not None and found.start() < end and found.end() > start:
        yield from _checked(format, *found.span(), found[0], "plain")
        return
    first = start
    while first > 0 and start - first < 100 and text[first - 1] in _TOKEN_LETTERS:
        first -= 1
    for begin in (first, start, line_before(text, first)):
        if begin is not None:
            stop = _end_of_run(text, begin)
            for view in joined_lines(text, begin, stop, format.longest):
                longer = format.exact.search(view.text)
                if longer is not None and view.span(*longer.span())[1] >= end:
                    yield from _checked(format, *view.span(*longer.span()), longer[0], "wrapped")
                    return


def _end_of_run(text: str, start: int) -> int:
    end = start
    stop = min(len(text), start + _LONGEST_NAMED)
    while end < stop and (text[end] in _TOKEN_LETTERS or text[end] == ":"):
        end += 1
    return end


def _checked(format: Format, start: int, end: int, value: str, form: str) -> Iterator[Found]:
    if is_placeholder(value) or (format.random and names.changes_of_class(value) < 3):
        return
    confidence = format.confidence
    if format.checksum is not None and not checksums.is_valid(format.checksum, value):
        confidence = "possible"
    yield Found(start, end, format.kind, "secret", confidence, form, value)


def _shapes_at_needle(text: str, start: int, head: str) -> Iterator[shapes.Shape]:
    found: shapes.Shape | None = None
    if 0 <= (at := head.find("eyJ")) < 4:  # base64 begins with the letter before it
        found = shapes.web_token(text, start + at)
    elif head.startswith(("-----BEGIN", "PuTTY")):
        found = shapes.private_key(text, start)
    elif head.startswith((":/", ":\\")):
        found = shapes.address(text, start)
    elif "sig=" in head:
        found = shapes.sas_signature(text, start)
    elif head.startswith(("-u", "--user", "--proxy", "sshpass")):
        found = shapes.command_password(text, start)
    elif head.startswith(":"):
        found = shapes.pgpass_line(text, start)
    if found is not None:
        yield found


def _shapes_at_name(text: str, start: int, end: int) -> Iterator[shapes.Shape]:
    head = text[start : start + 24].lower()
    for found in (
        shapes.connection_option(text, start) if head.startswith(("password", "pwd")) else None,
        shapes.header(text, start),
        shapes.netrc_password(text, start) if head.startswith("password") else None,
    ):
        if found is not None:
            yield found
    if "cookie" in head:
        yield from shapes.cookies(text, start)


def _rank(found: Found) -> tuple[int, bool, int, bool]:
    """Order finds by what they say: the surer, then the more special kind, then the longer one, then the one in plain sight."""
    return (
        CONFIDENCES.index(found.confidence),
        found.kind.startswith("generic-"),
        found.start - found.end,
        found.form == "base64",
    )


def _without_overlaps(found: list[Found]) -> list[Found]:
    """Keep the best of the finds that overlap, in order of their places."""
    kept: list[Found] = []
    for item in sorted(found, key=_rank):
        if all(item.end <= other.start or item.start >= other.end for other in kept):
            kept.append(item)
    return sorted(kept, key=lambda item: item.start)
