"""Leave secrets and personal data out of texts: each value is replaced, everywhere and in every form, by what it was.

A `Redactor` first learns which values there are, then replaces them: a value that is recognised at one place only, by the
name beside it, is replaced at all the others too. Secrets become ``[redacted: github-pat]``, people and machines get a
pseudonym (``user-1``, ``[email 2]``) which is the same throughout an export, and the home folder becomes ``~``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

from .findings import Found
from .personal import ONLY_WITH_ALL, find_personal, home_paths, is_nobody
from .rewrite import Replacement
from .value_forms import KnownValues, Reach, base64_cores, secret_forms

if TYPE_CHECKING:
    from .find import Finder

Profile = Literal["none", "secrets", "personal", "all"]
"""What is left out: nothing; secrets; secrets with home paths, user, host and mail names; also addresses, phones and cards."""
PROFILES: Final[tuple[Profile, ...]] = ("none", "secrets", "personal", "all")

K = TypeVar("K")
T = TypeVar("T")
FindSecrets = Callable[[str, str | None], Sequence[Found]]
"""Given a text, and the key under which it stands in a JSON object: the secrets in it. See `Finder.in_text`."""

_PSEUDONYMS: Final = {
    "home-path-user": "user-{}", "windows-home-path-user": "user-{}", "email": "[email {}]", "hostname": "[host {}]",
    "word": "[name {}]", "ipv4": "[address {}]", "ipv6": "[address {}]", "phone": "[phone {}]", "credit-card": "[card {}]",
    "iban": "[iban {}]",
}  # fmt: skip
_USER: Final = "home-path-user"
SHORTEST_TEXT: Final = 5
"""In a shorter text nothing is found."""
SHORTEST_KNOWN: Final = 3
"""A shorter value is not searched for."""
_LONGEST_REMEMBERED: Final = 200
_MOST_REMEMBERED: Final = 20_000
_LONG: Final = 12
"""A secret of this length is replaced inside of longer words too."""
_SHORT: Final = 6
"""A shorter secret is replaced only where it was found."""
_LONG_WORD: Final = 20
"""A secret of small letters only may be an ordinary word: a shorter one is replaced only where it was found."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without what was found in it."""

    text: str
    finds: list[Found]


@dataclass
class Redaction:
    """What was left out of an export: how many different values, of which kinds."""

    profile: Profile
    redactor: Redactor = field(repr=False)
    left_out: list[str] = field(default_factory=list)
    """Files and lines that could not be searched and are not in the copy, in words."""

    @property
    def kinds(self) -> dict[str, int]:
        """How many different values of each kind were replaced, most frequent first."""
        return self.redactor.replaced_kinds()

    @property
    def values(self) -> int:
        return sum(self.kinds.values())

    def in_words(self) -> str:
        """Say what was left out, for the top of an export."""
        kinds = self.kinds
        if self.profile == "none":
            return "Nothing was redacted."
        wanted = "secrets" if self.profile == "secrets" else "secrets and personal data"
        if not kinds:
            return f"Searched for {wanted}: nothing was found."
        told = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        count = self.values
        return f"Redacted: {count} {'value' if count == 1 else 'values'} ({told})."

    def as_dict(self) -> dict[str, Any]:
        return {
            "profile": self.profile, "values": self.values, "kinds": self.kinds, "left_out": self.left_out,
            "words": self.in_words(),
        }  # fmt: skip


class _Value(NamedTuple):
    """A value that is to be replaced."""

    kind: str
    value: str
    text: str
    is_secret: bool
    is_definite: bool


class _Span(NamedTuple):
    start: int
    end: int
    value: _Value
    text: str


class Redactor:
    """Replaces values in texts, with the same pseudonym for the same value: one for each export.

    `users`, `hosts` and `words` are names to leave out with "personal", besides those that texts give away; `homes` are the
    folders that become ``~``. `find` finds the secrets, by default without rules of the user; `may_find` says quickly whether a
    line of JSON is worth looking at.
    """

    def __init__(
        self,
        profile: Profile = "personal",
        *,
        find: FindSecrets | None = None,
        may_find: Callable[[bytes], bool] | None = None,
        users: Iterable[str] = (),
        hosts: Iterable[str] = (),
        words: Iterable[str] = (),
        homes: Iterable[str] = (),
        same_length: bool = False,
    ) -> None:
        self.profile: Profile = profile
        self.same_length = same_length
        self._find = find
        self._may_find = may_find
        self._values: dict[tuple[str, str], _Value] = {}
        self._numbers: Counter[str] = Counter()
        self._known = KnownValues()
        self._replaced: set[tuple[str, str]] = set()
        self._homes: set[str] = set()
        self._learned: dict[tuple[str, str | None], bool] = {}
        self._answers: dict[tuple[str, str | None, bool], list[Replacement]] = {}
        self._answered_with = 0
        """How many values were known when `_answers` were found."""
        if self.is_personal:
            for path in homes:
                self.learn_home(path)
                if path.count("/") > 1:
                    self._known.add({path}, _Value(_USER, path, "~", False, False), "word")
            for user in users:
                self._learn_owner(user)
            for host in hosts:
                self._learn_host(host)
            for word in words:
                self._known.add(
                    {word, word.lower(), word.upper(), word.capitalize()}, self._personal("word", word), "delimited"
                )

    @property
    def is_personal(self) -> bool:
        return self.profile in ("personal", "all")

    # --- learning -----------------------------------------------------------------------------------------------------

    def find(self, text: str, name: str | None = None) -> list[Found]:
        """Return what is to be left out of a text by what it looks like, by what stands beside it, or by its name."""
        if self.profile == "none" or not text:
            return []
        finds = [item for item in self._secrets(text, name) if item.confidence != "possible"]
        if self.is_personal:
            finds += find_personal(text, everything=self.profile == "all")
        return finds

    def _secrets(self, text: str, name: str | None = None) -> Sequence[Found]:
        return (self._find or self._finder.in_text)(text, name)

    @cached_property
    def _finder(self) -> Finder:
        from .find import default_finder

        return default_finder()

    def learn(self, text: str, name: str | None = None) -> bool:
        """Note the values in a text, so that they are replaced everywhere. Return whether there are any."""
        if len(text) < SHORTEST_TEXT:
            return False
        known = self._learned.get((text, name))
        if known is not None:
            return known
        finds = self.find(text, name)
        for item in finds:
            self._value(item)
        _remember(self._learned, (text, name), text, bool(finds))
        return bool(finds)

    def may_learn(self, line: bytes) -> bool:
        """Return whether there may be something to learn in a line of JSON; False only where there is nothing."""
        if self.is_personal:
            return True
        if self._may_find is not None:
            return self._may_find(line)
        return self._find is not None or self._finder.anything.first(line) is not None

    def learn_home(self, path: str) -> None:
        """Note that a path lies in the home folder of the person whose sessions these are."""
        if not self.is_personal:
            return
        for before, user in home_paths(path):
            self._homes.add(before + user)
            self._learn_owner(user)
            return

    def _learn_owner(self, user: str) -> None:
        """Leave out a user's name wherever it stands as a word."""
        if len(user) < 3 or is_nobody(user):
            return
        value = self._personal(_USER, user)
        reach: Reach = "delimited" if len(user) > 3 else "word"
        folder = re.sub("[^A-Za-z0-9]", "-", user)
        self._known.add({user, user.capitalize(), folder}, value, reach)

    def _learn_host(self, host: str) -> _Value:
        value = self._personal("hostname", host)
        first = host.partition(".")[0]
        names = {host, host.lower()}
        if len(first) >= 6 and re.search("[0-9-]", first):
            names |= {first, first.lower()}
        if len(host) > 3 and host.lower() != "localhost":
            self._known.add(names, value, "delimited")
        return value

    def _value(self, found: Found) -> _Value:
        if found.family == "personal":
            if found.kind == "hostname":
                return self._learn_host(found.value)
            value = self._personal(found.kind, found.value)
            if found.kind == "email":
                self._known.add({found.value, found.value.replace("@", "%40")}, value, "delimited")
            elif found.kind in ONLY_WITH_ALL:
                self._known.add({found.value}, value, "delimited")
            return value
        key = (found.kind, found.value)
        known = self._values.get(key)
        if known is None:
            definite = found.confidence == "definite"
            known = self._values[key] = _Value(found.kind, found.value, f"[redacted: {found.kind}]", True, definite)
            reach = _reach(found.value, definite)
            if reach is not None:
                self._known.add(secret_forms(found.value), known, reach)
                self._known.add(base64_cores(found.value.encode("utf-8", "replace")), known, "base64")
        return known

    def _personal(self, kind: str, name: str) -> _Value:
        kind = _USER if kind == "windows-home-path-user" else kind
        key = (kind, name.lower())
        known = self._values.get(key)
        if known is None:
            self._numbers[kind] += 1
            text = _PSEUDONYMS[kind].format(self._numbers[kind])
            known = self._values[key] = _Value(kind, name, text, False, False)
        return known

    # --- replacing ----------------------------------------------------------------------------------------------------

    def redact(self, text: str) -> Redacted:
        """Learn the values in a text, and return it without them."""
        finds = self.find(text)
        for item in finds:
            self._value(item)
        return Redacted(replaced(text, self.replacements(text, finds)), finds)

    def replacements(
        self, text: str, finds: Sequence[Found] | None = None, *, name: str | None = None
    ) -> list[Replacement]:
        """Return what to replace in a text: all known values, and the `finds` in this text (by default, they are searched)."""
        if self.profile == "none" or not text:
            return []
        if not finds and self._answered_with == len(self._known):
            remembered = self._answers.get((text, name, finds is None))
            if remembered is not None:
                return remembered
        key = None if finds else (text, name, finds is None)
        if finds is None:
            finds = self.find(text, name)
        spans = [self._span(text, item) for item in finds]
        spans += [_Span(hit.start, hit.end, hit.form.owner, hit.form.owner.text) for hit in self._known.search(text)]
        found = self._texts(spans)
        if self._answered_with != len(self._known):
            self._answers, self._answered_with = {}, len(self._known)
        if key is not None:
            _remember(self._answers, key, text, found)
        return found

    def in_untouched(self, text: str) -> list[Replacement]:
        """Return what to replace in an id or another string that is left as it is: definite secrets known from elsewhere."""
        spans = [
            _Span(hit.start, hit.end, hit.form.owner, hit.form.owner.text)
            for hit in self._known.search(text)
            if hit.form.owner.is_definite and hit.form.reach in ("anywhere", "base64")
        ]
        return self._texts(spans)

    def may_hold(self, line: bytes) -> bool:
        """Return whether one of the known values may stand in a line of JSON; False only where none does."""
        if b"\\u" in line or b"\\/" in line:
            return True  # letters that are written as escapes
        return self._known.may_be_in(line.decode("utf-8", "surrogateescape"))

    def holds_secret(self, text: str) -> bool:
        """Return whether one of the known secrets stands in a text."""
        return any(hit.form.owner.is_secret for hit in self._known.search(text))

    def _texts(self, spans: list[_Span]) -> list[Replacement]:
        found = []
        for span in _joined(spans):
            self._replaced.add((span.value.kind, span.value.value))
            found.append(Replacement(span.start, span.end, self._fitted(span)))
        return found

    def _fitted(self, span: _Span) -> str:
        length = span.end - span.start
        if not self.same_length or len(span.text) == length:
            return span.text
        return span.text.ljust(length, "*") if len(span.text) < length else "*" * length

    def _span(self, text: str, found: Found) -> _Span:
        value = self._value(found)
        if found.kind in ("home-path-user", "windows-home-path-user"):
            for home in self._homes:
                if home.endswith(found.value) and text.startswith(home, found.end - len(home)):
                    return _Span(found.end - len(home), found.end, value, "~")
            if found.kind == "windows-home-path-user":
                start = text.rfind(":", 0, found.start) - 1
                if any(_plain_path(text[start : found.end]) == _plain_path(home) for home in self._homes):
                    return _Span(start, found.end, value, "~")
        return _Span(found.start, found.end, value, value.text)

    def replaced_kinds(self) -> dict[str, int]:
        """Return how many different values of each kind were replaced, most frequent first."""
        counts = Counter(kind for kind, _ in self._replaced)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def left_in(self, text: str, *, known_only: bool = False) -> Iterator[tuple[int, str]]:
        """Yield place and kind of each definite secret in a text: those that are known, and those that are new."""
        for hit in self._known.search(text):
            if hit.form.owner.is_definite:
                yield hit.start, hit.form.owner.kind
        for item in () if known_only or self.profile == "none" else self._secrets(text):
            if item.family == "secret" and item.confidence == "definite":
                yield item.start, item.kind


def replaced(text: str, replacements: Iterable[Replacement]) -> str:
    """Return a text with replacements made, which are in order and do not overlap."""
    pieces: list[str] = []
    place = 0
    for item in replacements:
        pieces += (text[place : item.start], item.text)
        place = item.end
    return "".join([*pieces, text[place:]])


def _remember(answers: dict[K, T], key: K, text: str, answer: T) -> None:
    """Note the answer for a short text: most strings of a transcript stand on each of its lines."""
    if len(text) <= _LONGEST_REMEMBERED:
        if len(answers) >= _MOST_REMEMBERED:
            answers.clear()
        answers[key] = answer


def _reach(value: str, definite: bool) -> Reach | None:
    """Return where a secret is replaced besides the place at which it was found; None for nowhere."""
    if len(value) < _SHORT or (not definite and len(value) < _LONG_WORD and value.isalpha() and value == value.lower()):
        return None
    return "anywhere" if len(value) >= _LONG else "delimited"


def _plain_path(path: str) -> str:
    return re.sub(r"[\\/]+", "/", path).lower()


def _joined(spans: list[_Span]) -> Iterator[_Span]:
    """Yield spans in order, those that overlap as one: it is a secret's if one of them is, else that of the longest."""
    current: _Span | None = None
    for span in sorted(spans, key=lambda item: (item.start, -item.end)):
        if current is None:
            current = span
        elif span.start >= current.end:
            yield current
            current = span
        else:
            weights = [(item.value.is_secret, item.end - item.start) for item in (current, span)]
            wins = span if weights[1] > weights[0] else current
            current = _Span(current.start, max(current.end, span.end), wins.value, wins.text)
    if current is not None:
        yield current
