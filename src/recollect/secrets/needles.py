"""Look over bytes quickly for places where a secret may stand: one regular expression, made from the table of kinds.

google-re2 reads some hundred megabytes a second, whatever the text is. Where it is not installed, Python's own `re` finds
the same places, many times slower. The expression uses only what both understand alike.

Raw JSON may be searched: no needle holds a quotation mark or a backslash, and a text whose letters are written as `\\u0041`
is a place to look at, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from .formats import formats

_BASE64_OF_TEXT: Final = "(?:[I-Za-fC][A-Za-z0-9+/_-][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-])"
"""Four letters of base64 that stand for three letters of ASCII, where the first may be a line feed."""
BASE64_LENGTH: Final = 32
"""How many letters of it in a row make a text in base64."""

#: Where kinds of secrets without a prefix of their own begin.
SHAPES: Final = (
    # scheme://user:password@host, as it stands, with escaped slashes, and URL-encoded
    r":(?:\\*/){2}[^\s/\"'<>\\@:`]*:[^\s/\"'<>@`]+@",
    r"(?i:%3a%2f%2f[a-z0-9._%~+-]*%3a[a-z0-9._%~!*$+-]+%40)",
    # host:5432:database:user:password
    r":(?:543[0-9]|6432|6543|25060|\*):[A-Za-z0-9_.*-]+:[A-Za-z0-9_.*@-]+:[^\s:\"'\\]",
    # curl -u user:password, sshpass -p password
    r"(?:-u|--user|--proxy-user)[ =]*\\*[\"']?[A-Za-z0-9._@+-]+:[^\s\"'\\/:]",
    r"sshpass +-p",
    rf"(?:\A|[^A-Za-z0-9+/_-]|\\[nrt]|%(?:3[ADad]|22|2C)){_BASE64_OF_TEXT}{{{BASE64_LENGTH // 4}}}",
)

#: Words that make the name of a variable, field, flag or header one of a secret.
_STRONG: Final = (
    r"passw(?:or)?d|passwd|passwort|passphrase|passcode|_pass|pwd|requirepass|secret|token|api[_.-]?key|access[_.-]?key|private[_.-]?key"
    r"|authorization|credential|jwt|bearer|mot_de_passe|contrase|senha"
)
_LINE_NUMBER: Final = r"(?:\n|\\n) *[0-9]{1,6}(?:\xe2\x86\x92|\t|\\t)"
"""A line end and the number that the Read tool puts before the next line."""
_TERRAFORM: Final = r" \{(?:\n|\\n)|(?:type|sensitive|description) *= *[^\n\\]{0,60}(?:\n|\\n)"
_BETWEEN: Final = (
    r"(?:[^A-Za-z0-9\n\\{};./<]|\n[ \t]|\\[nrt\"'/`\\]|%(?:20|22|27|3[ADad])|value|[bruf][\"'\\]"
    rf"|{_LINE_NUMBER}|{_TERRAFORM})"
)
_WORD_BETWEEN: Final = r"(?:(?i:is(?: now)?|bearer|basic|token|str|string|default|to)\b)"
_VALUE: Final = r"[A-Za-z0-9!#$%&*+./:=?@^_~-]"
_NO_DIGIT: Final = r"[A-Za-z!#$%^*+/_-]"
_MIXED: Final = (
    rf"(?:{_VALUE}*(?:{_NO_DIGIT}{_VALUE}*[0-9]|[0-9]{_VALUE}*{_NO_DIGIT})"
    r"|[A-Za-z+=@&._-]+[!#%^*?$][A-Za-z!#%^*?$+=@&._-]+)"
)


def _names() -> str:
    strong = rf"(?i:{_STRONG})[A-Za-z0-9_-]*{_BETWEEN}+(?:{_WORD_BETWEEN}{_BETWEEN}+)?(?:{_MIXED}|django-insecure-)"
    assigned = r"(?:\\*[\"'\]])*[ \t]*[:=][ \t]*(?:\\*[\"'`])?"
    # Names that say less: only right before their value, and only a long one.
    weak = rf"(?:[A-Z0-9]_KEY|\bauth|client-key-data){assigned}{_VALUE}{{16}}|\bpass{assigned}{_MIXED}"
    # Django's own generator uses signs that end a value elsewhere.
    django = r"SECRET_KEY(?:\\*[\"'\]]){0,2}\s*[:=]\s*\\*[\"'][!-~]{20}"
    cookie = r"(?i:cookie)(?:\\*[\"'])?[ =:]+\\*[\"']?[A-Za-z0-9_.%-]+="
    return f"{strong}|{weak}|{django}|{cookie}"


NAMES: Final = _names()


def _needles() -> str:
    return "|".join([*(item.first_look for item in formats().values() if item.first_look), *SHAPES])


class Searcher:
    """A compiled expression over bytes. `find` yields (start, end) of what does not overlap, from left to right."""

    def __init__(self, expression: str, *, fast: bool = True) -> None:
        self.is_fast = False
        pattern = expression.encode("ascii")
        if fast:
            try:
                import re2  # type: ignore[import-untyped]
            except ImportError:
                pass
            else:
                options = re2.Options()
                options.encoding = re2.Options.Encoding.LATIN1
                options.never_capture = True
                options.max_mem = 48 << 20
                options.log_errors = False
                self._match: Any = re2.compile(pattern, options)._regexp.Match
                self._anchor = re2._re2.RE2.Anchor.UNANCHORED
                self.is_fast = True
                return
        import re

        self._search = re.compile(pattern).search

    def first(self, data: bytes, start: int = 0) -> tuple[int, int] | None:
        """Return the first place at or after `start`; None if there is none."""
        if self.is_fast:
            found = self._match(self._anchor, data, start, len(data))[0]
            return found if found[0] >= 0 else None
        place = self._search(data, start)
        return place.span() if place is not None else None

    def find(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield all places."""
        at = 0
        while (found := self.first(data, at)) is not None:
            yield found
            at = max(found[1], at + 1)


@cache
def needles(fast: bool = True, more: tuple[str, ...] = ()) -> Searcher:
    """Return what finds the beginnings of secrets that have a form of their own; `more` are the user's rules."""
    return Searcher("|".join([_needles(), *more]), fast=fast)


@cache
def names(fast: bool = True) -> Searcher:
    """Return what finds names of secrets with a value beside them."""
    return Searcher(NAMES, fast=fast)


@cache
def anything(fast: bool = True, more: tuple[str, ...] = ()) -> Searcher:
    """Return what finds either of them, and letters that are written as escapes, in one pass."""
    return Searcher("|".join([_needles(), NAMES, r"\\u00[2-7]", *more]), fast=fast)
