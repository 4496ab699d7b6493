"""Find secrets in a text or in a JSON value, exactly: where they stand, what they are, how sure that is.

A first look (`needles`) tells where something may stand; only there the rules of the kinds are tried. A text is searched as
it stands and, where the first look finds something to undo, once more without its escapes, its URL encoding and its base64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any, Final

from . import checksums, names, needles, shapes
from .findings import CONFIDENCES, Confidence, Found
from .formats import Format, formats, tokens, with_text_before
from .placeholders import is_placeholder
from .untouched import is_untouched
from .unwrap import View, base64_blobs, joined_lines, unescaped, url_decoded

_DEEPEST: Final = 2
"""How many forms one after the other are undone."""
_TOKEN_LETTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_.~-")


class Finder:
    """Finds secrets in texts. Makes no difference between runs: the same text gives the same finds."""

    def __init__(self, rules: Any = None, *, fast: bool = True) -> None:
        self.rules = rules
        more = rules.expressions if rules is not None else ()
        self.needles = needles.needles(fast, more)
        self.names = needles.names(fast)
        self.anything = needles.anything(fast, more)

    def in_text(self, text: str) -> list[Found]:
        """Return every secret of a text, from left to right; they do not overlap."""
        return _without_overlaps(list(self._all(text, _DEEPEST)))

    def in_value(self, value: Any, pointer: str = "") -> Iterator[tuple[str, str, Found]]:
        """Yield (JSON pointer, text, find) of every secret in a JSON value. Ids, signatures and media are left out."""
        for place, text, is_key in strings_of(value, pointer):
            for found in self.in_text(text):
                yield place, text, replace(found, form="key") if is_key else found

    # --- one text -----------------------------------------------------------------------------------------------------

    def _all(self, text: str, depth: int) -> Iterator[Found]:
        data = text.encode("utf-8", "surrogatepass")
        if self.anything.first(data) is None:
            return
        place = _places(text, data)
        for start, end in self.needles.find(data):
            yield from self._at_needle(text, place(start), place(end), depth)
        for start, end in self.names.find(data):
            yield from self._at_name(text, place(start), place(end))
        if depth:
            for view in (unescaped(text), url_decoded(text)):
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
            if any(mark.rstrip("/") in head for mark in format.prefix) or format.prefix == (".",) and head[0] in "MNO":
                yield from _token_with_text_before(text, start, end, format)
        for shape in _shapes_at_needle(text, start, head):
            yield _of_shape(shape)
        if depth:
            yield from self._in_base64(text, start, depth)
        if self.rules is not None:
            yield from self.rules.at(text, start, end)

    def _in_base64(self, text: str, start: int, depth: int) -> Iterator[Found]:
        """Yield what stands in a text in base64 that begins at a needle: the whole of it is the find."""
        line_end = text.find("\n", start + 1)
        if line_end < 0 or line_end - start < 24:
            line_end = len(text)
        for first, last, decoded in base64_blobs(text, start, line_end):
            if decoded.startswith("{") and text[last : last + 1] == ".":
                continue  # the first part of a JSON web token
            inside = _without_overlaps(list(self._all(decoded, depth - 1)))
            if inside:
                best = min(inside, key=lambda found: CONFIDENCES.index(found.confidence))
                yield Found(first, last, best.kind, "secret", best.confidence, "base64", best.value)

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
    waiting: list[tuple[str, Any]] = [(pointer, value)]
    while waiting:
        place, item = waiting.pop()
        if isinstance(item, str):
            if len(item) >= _SHORTEST and not is_untouched(place, item):
                yield place, item, False
        elif isinstance(item, dict):
            for key, below in reversed(item.items()):
                if isinstance(below, (str, dict, list)):
                    waiting.append((f"{place}/{_escaped(key)}", below))
                if len(key) >= _LONG_KEY:
                    yield f"{place}/{_escaped(key)}", key, True
        elif isinstance(item, list):
            waiting += [(f"{place}/{number}", item[number]) for number in range(len(item) - 1, -1, -1)]


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
        # Counting the bytes that begin a letter; the expression is of ASCII, so `at` never lies within one.
        piece = data[known[0] : at]
        known[1] += (
            len(piece) - len(piece.translate(None, _BEGINNINGS))
            if len(piece) < 64
            else len(piece.decode("utf-8", "surrogatepass"))
        )
        known[0] = at
        return known[1]

    return place


_BEGINNINGS: Final = bytes(byte for byte in range(256) if byte & 0xC0 != 0x80)


def _confidence(text: str) -> Confidence:
    return next(item for item in CONFIDENCES if item == text)


def _of_shape(shape: shapes.Shape) -> Found:
    form = "wrapped" if shape.wrapped else "plain"
    return Found(shape.start, shape.end, shape.kind, "secret", shape.confidence, form, shape.value)


def _token(text: str, start: int, format: Format) -> Iterator[Found]:
    """Yield the token of a kind that begins at a place, on one line or on several."""
    found = format.exact.match(text, start)
    if found is not None:
        value = found[0].rstrip(".")
        run_end = start + len(value)
    else:
        value, run_end = "", _end_of_run(text, start)
    if (not value or not format.is_whole(value)) and start > 0 and text[start - 1].isalnum() is False or start == 0:
        joined = joined_lines(text, start, run_end) if not value or not format.is_whole(value) else None
        if joined is not None:
            longer = format.exact.match(joined.text)
            if (
                longer is not None
                and len(longer[0]) > run_end - start
                and _goes_on(format, value, longer[0], run_end - start)
            ):
                yield from _checked(format, *joined.span(0, longer.end()), longer[0], "wrapped")
                return
    if value:
        yield from _checked(format, start, start + len(value), value, "plain")


def _goes_on(format: Format, value: str, longer: str, first: int) -> bool:
    """Return whether the lines after a token go on with it: the first one is not whole, or the rest looks random."""
    if not value or format.is_whole(longer):
        return not is_placeholder(longer)
    return names.looks_random(longer[first:], 8)


def _token_with_text_before(text: str, start: int, end: int, format: Format) -> Iterator[Found]:
    found = format.exact.search(text, max(start - 100, 0), end + 600)
    if found is not None and found.start() < end and found.end() > start:
        yield from _checked(format, *found.span(), found[0], "plain")
        return
    first = start
    while first > 0 and start - first < 100 and text[first - 1] in _TOKEN_LETTERS:
        first -= 1
    for begin in (first, start):
        joined = joined_lines(text, begin, _end_of_run(text, begin))
        longer = format.exact.match(joined.text) if joined is not None else None
        if joined is not None and longer is not None:
            yield from _checked(format, *joined.span(0, longer.end()), longer[0], "wrapped")
            return


def _end_of_run(text: str, start: int) -> int:
    end = start
    while end < len(text) and text[end] in _TOKEN_LETTERS or text[end : end + 1] == ":":
        end += 1
    return end


def _checked(format: Format, start: int, end: int, value: str, form: str) -> Iterator[Found]:
    if is_placeholder(value) or (format.random and not names.looks_random(value)):
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
    elif head.startswith(":/") or head.startswith(":\\"):
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
        shapes.connection_option(text, start, end) if head.startswith(("password", "pwd")) else None,
        shapes.header(text, start),
        shapes.netrc_password(text, start) if head.startswith("password") else None,
    ):
        if found is not None:
            yield found
    if "cookie" in head:
        yield from shapes.cookies(text, start)


def _rank(found: Found) -> tuple[int, int, int]:
    """Order finds by what they say: the surer, then the more special kind, then the longer one."""
    return CONFIDENCES.index(found.confidence), found.kind.startswith("generic-"), found.start - found.end


def _without_overlaps(found: list[Found]) -> list[Found]:
    """Keep the best of the finds that overlap, in order of their places."""
    kept: list[Found] = []
    for item in sorted(found, key=_rank):
        if all(item.end <= other.start or item.start >= other.end for other in kept):
            kept.append(item)
    return sorted(kept, key=lambda item: item.start)
