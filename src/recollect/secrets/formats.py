"""Read the table of the kinds of secrets (`formats.toml`), and compile how a value of each kind is recognised."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from .findings import Confidence

_TABLE: Final = Path(__file__).with_name("formats.toml")
_LONG_PREFIX: Final = 5
"""A prefix of so many letters is rare by itself; after a shorter one, more letters of the value must follow."""


@dataclass(frozen=True)
class Format:
    """One kind of secret. The fields are explained at the top of `formats.toml`."""

    kind: str
    confidence: Confidence
    masked: str
    revoke: str
    source: str
    prefix: tuple[str, ...] = ()
    letters: str = "A-Za-z0-9"
    length: tuple[int, int] | None = None
    usual: tuple[int, ...] | None = None
    pattern: str | None = None
    before: str = ""
    needle: str | None = None
    checksum: str | None = None
    names: tuple[str, ...] = ()
    named: str | None = None
    shape: str = "token"
    random: bool = False

    @property
    def is_token(self) -> bool:
        """Return whether a value is recognised by its own beginning."""
        return bool(self.prefix)

    @cached_property
    def body(self) -> str:
        """Return the regular expression of what follows the prefix."""
        if self.pattern is not None:
            return f"(?:{self.pattern})"
        least, most = self.length or (16, 256)
        return f"[{self.letters}]{{{least},{most}}}"

    @property
    def longest(self) -> int:
        """Return how many letters a value has at most, as far as that is known."""
        return self.length[1] + 30 if self.length is not None else 3000 if self.usual == () else 400

    def is_marked(self, head: str) -> bool:
        """Return whether what the first look found is the mark of this kind, which stands inside of a value."""
        if self.first_mark is not None:
            return self.first_mark.match(head) is not None
        return any(item.rstrip("/") in head for item in self.prefix)

    @cached_property
    def first_mark(self) -> re.Pattern[str] | None:
        """Return the needle of a kind whose mark is no more than a dot."""
        return re.compile(self.first_look) if self.prefix == (".",) else None

    @cached_property
    def exact(self) -> re.Pattern[str]:
        """Return the regular expression of a whole value, as far as it may not go on in the same word."""
        start = "|".join(re.escape(item) for item in self.prefix)
        # A hyphen or underscore that more letters follow is part of a longer word.
        more = "[A-Za-z0-9]|[-_][A-Za-z0-9]" if re.search(r"[_-]$|_-", self.letters) else "[A-Za-z0-9]"
        return re.compile(f"(?<![A-Za-z0-9]){self.before}(?:{start}){self.body}(?!{more})", re.ASCII)

    @cached_property
    def value_by_name(self) -> re.Pattern[str] | None:
        """Return the regular expression of a value that only the name beside it makes this kind."""
        pattern = self.named if self.is_token else self.pattern
        return re.compile(pattern) if pattern is not None and self.names else None

    @cached_property
    def first_look(self) -> str:
        """Return what the fast search over raw bytes looks for; empty for kinds that others' needles find."""
        if self.needle is not None or not self.prefix:
            return self.needle or ""
        return "|".join(
            f"{re.escape(item)}[{self.letters}]{{{4 if len(item) >= _LONG_PREFIX else 8}}}" for item in self.prefix
        )

    def is_whole(self, value: str) -> bool:
        """Return whether a value has one of the lengths that are known, so that nothing of it stands on the next line."""
        if self.usual is None:
            return True
        start = next((item for item in self.prefix if value.startswith(item)), "")
        return len(value) - len(start) in self.usual


@cache
def formats() -> dict[str, Format]:
    """Return all kinds by name."""
    with open(_TABLE, "rb") as stream:
        return {kind: _format(kind, table) for kind, table in tomllib.load(stream).items()}


def _format(kind: str, table: dict[str, Any]) -> Format:
    lists: dict[str, Any] = {
        name: tuple(table[name]) for name in ("prefix", "length", "usual", "names") if name in table
    }
    fields: dict[str, Any] = {"kind": kind, **table, **lists}
    return Format(**fields)


@cache
def tokens() -> dict[str, tuple[Format, ...]]:
    """Return the kinds that begin with a prefix of their own, by the first two letters of it."""
    found: dict[str, list[Format]] = {}
    for format in formats().values():
        if format.is_token and not format.before:
            for start in {item[:2] for item in format.prefix}:
                found.setdefault(start, []).append(format)
    return {start: tuple(items) for start, items in found.items()}


@cache
def with_text_before() -> tuple[Format, ...]:
    """Return the kinds whose mark stands inside of the value."""
    return tuple(format for format in formats().values() if format.is_token and format.before)
