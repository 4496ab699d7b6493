"""Read the user's own rules and the list of what is not a secret: `rules.toml` in the config folder.

[[rule]]
kind = "acme-key"                       # what a find is called
regex = "acme_[a-z0-9]{24}"             # RE2; a group in it is the value, else all of it
name = "Keys of our own gateway"        # for `recollect secrets --rules`
confidence = "definite"                 # definite, likely (if not given) or possible

[allow]
values = ["3f2a90c4d1e7"]               # fingerprints
paths = ["file-history/*"]              # below the home
kinds = ["jwt"]

[personal]
words = ["Acme", "Project Heron"]       # left out of what is redacted: names of firms, customers, products
"""

from __future__ import annotations

import fnmatch
import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..errors import Refused
from .findings import CONFIDENCES, Confidence, Found
from .placeholders import is_placeholder

FILE: Final = "rules.toml"
_FIELDS: Final = {"kind", "regex", "name", "confidence"}


@dataclass(frozen=True)
class Rule:
    """One rule of the user."""

    kind: str
    regex: str
    name: str
    confidence: Confidence
    pattern: Any
    """The compiled regular expression, of google-re2 where that is installed."""


@dataclass(frozen=True)
class Rules:
    """The user's rules, and what is allowed to stand."""

    rules: tuple[Rule, ...] = ()
    allowed_values: frozenset[str] = frozenset()
    allowed_paths: tuple[str, ...] = ()
    allowed_kinds: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()
    """Words of the user's own that count as personal data."""

    @property
    def expressions(self) -> tuple[str, ...]:
        """Return the expressions for the first look."""
        return tuple(f"(?:{rule.regex})" for rule in self.rules)

    @property
    def version(self) -> str:
        """Return a short name for exactly these rules."""
        told = repr([(rule.kind, rule.regex, rule.confidence) for rule in self.rules])
        return hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()

    def in_text(self, text: str) -> Iterator[Found]:
        """Yield what the rules find in a text."""
        searched = text.encode("utf-8", "replace").decode()  # google-re2 takes no half of a surrogate pair
        for rule in self.rules:
            for match in rule.pattern.finditer(searched):
                group = 1 if match.re.groups and match.span(1) != (-1, -1) else 0
                start, end = match.span(group)
                if end > start and not is_placeholder(searched[start:end]):
                    yield Found(start, end, rule.kind, "secret", rule.confidence, "plain", text[start:end])

    def allows(self, kind: str, path: str, fingerprint: str) -> bool:
        """Return whether a find is one that the user wants to hear nothing about."""
        return (
            kind in self.allowed_kinds
            or fingerprint in self.allowed_values
            or any(fnmatch.fnmatchcase(path, pattern) for pattern in self.allowed_paths)
        )


def read_rules(folder: Path) -> Rules:
    """Read `rules.toml` of a config folder; without the file there are no rules. Raises Refused for one that is wrong."""
    path = folder / FILE
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Rules()
    except OSError as problem:
        raise _wrong(path, problem.strerror or str(problem)) from problem
    try:
        table = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise _wrong(path, str(problem)) from problem
    for name in table:
        if name not in ("rule", "allow", "personal"):
            raise _wrong(path, f"there is no table [{name}]; there are [[rule]], [allow] and [personal]")
    listed = table.get("rule", [])
    if not isinstance(listed, list):
        raise _wrong(path, "rules are written as [[rule]], with two brackets")
    allow = table.get("allow", {})
    if not isinstance(allow, dict) or not set(allow) <= {"values", "paths", "kinds"}:
        raise _wrong(path, "[allow] has the lists values, paths and kinds")
    texts = {name: _texts(path, f"allow.{name}", allow.get(name, [])) for name in ("values", "paths", "kinds")}
    rules = tuple(_rule(path, number, item) for number, item in enumerate(listed, 1))
    personal = table.get("personal", {})
    if not isinstance(personal, dict) or not set(personal) <= {"words"}:
        raise _wrong(path, "[personal] has the list words")
    words = tuple(word for word in _texts(path, "personal.words", personal.get("words", [])) if word.strip())
    return Rules(rules, frozenset(texts["values"]), tuple(texts["paths"]), frozenset(texts["kinds"]), words)


def _rule(path: Path, number: int, item: Any) -> Rule:
    where = f"rule {number}"
    if not isinstance(item, dict) or not set(item) <= _FIELDS:
        raise _wrong(path, f"{where} has other fields than {', '.join(sorted(_FIELDS))}")
    if not all(isinstance(value, str) for value in item.values()):
        raise _wrong(path, f"{where} has a field that is not a text")
    kind, regex = str(item.get("kind", "")), str(item.get("regex", ""))
    if not kind or not regex:
        raise _wrong(path, f"{where} needs kind and regex")
    told = item.get("confidence", "likely")
    confidence = next((known for known in CONFIDENCES if known == told), None)
    if confidence is None:
        raise _wrong(path, f"{where} ({kind}): confidence is one of {', '.join(CONFIDENCES)}")
    pattern = _compiled(path, f"{where} ({kind})", regex)
    return Rule(kind, regex, str(item.get("name", kind)), confidence, pattern)


def _compiled(path: Path, where: str, regex: str) -> Any:
    engine = engine_of_rules()
    try:
        if hasattr(engine, "Options"):
            options = engine.Options()
            options.log_errors = False
            pattern = engine.compile(regex, options)
        else:
            pattern = engine.compile(regex)
        if next(pattern.finditer(""), None) is not None:
            raise _wrong(path, f"{where}: the regex matches an empty text")
    except (engine.error, UnicodeEncodeError, RecursionError, OverflowError) as problem:
        told = problem.args[0] if problem.args else problem
        told = told.decode("utf-8", "replace") if isinstance(told, bytes) else told
        raise _wrong(path, f"{where}: the regex does not compile: {told}") from problem
    return pattern


def engine_of_rules() -> Any:
    """Return google-re2, or Python's `re` where it is missing."""
    try:
        import re2  # type: ignore[import-untyped]
    except ImportError:
        import re

        return re
    return re2


def _texts(path: Path, name: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _wrong(path, f"{name} is a list of texts")
    return value


def _wrong(path: Path, why: str) -> Refused:
    return Refused(f"{path}: {why}", hint="correct or remove the file", slug="wrong-secret-rules")
