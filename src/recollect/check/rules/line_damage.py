"""Report lines that are not one plain JSON object, by the kinds of damage that the reader of lines tells apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...format.line import DAMAGE_KINDS, HARMLESS
from ..rule import ERROR, INFO, WARNING, Finding, Rule
from ..subject import SessionSubject

_SPLIT: Final = "`recollect repair` gives every readable object a line of its own and keeps the rest in a side file."
_TEXT: Final = "`recollect repair` rewrites the line so that every client reads it."
_TEXT_ON_REQUEST: Final = "`recollect repair --rule {}` rewrites the line so that every client reads it."
_SKIPS: Final = "Skips the line; everything before it is out of reach where a later row hangs on it."

_TOLD: Final[dict[str, tuple[str, str, str, str | None]]] = {
    "torn": (ERROR, _SKIPS, _SPLIT, "lines"),
    "glued": (ERROR, "Reads the first object at most, and loses the others.", _SPLIT, "lines"),
    "nul": (ERROR, _SKIPS, _SPLIT, "lines"),
    "not-json": (WARNING, "Skips the line.", _SPLIT, "lines"),
    "not-object": (WARNING, "Skips the line; 2.1.197 fails on `null`.", _SPLIT, "lines"),
    "encoding": (WARNING, "Shows U+FFFD in place of the bad bytes.", _TEXT_ON_REQUEST, "text"),
    "surrogate": (
        WARNING, "Shows U+FFFD; clients before 2.1.132 get an error from the API on every turn.",
        _TEXT_ON_REQUEST, "text",
    ),
    "nonstandard-number": (ERROR, _SKIPS, _TEXT, "text"),
    "control-character": (ERROR, _SKIPS, _TEXT, "text"),
    "several-lines-unread": (
        ERROR, "Skips its lines; in a file of up to 5 MiB it would read them.",
        "`recollect repair` puts the object on one line.", "one-line",
    ),
    "too-deep": (INFO, "Reads the line; other programs may not.", "Nothing to do.", None),
    "oversize": (WARNING, "Cannot hold the line, and may hang.", "Fork the session without it.", None),
}  # fmt: skip


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


RULES: Final = {
    kind: Rule(kind, severity, _sentence(DAMAGE_KINDS[kind].partition(":")[0]), client, remedy.format(kind), fix)
    for kind, (severity, client, remedy, fix) in _TOLD.items()
}
assert RULES.keys() == DAMAGE_KINDS.keys() - HARMLESS


def check(subject: SessionSubject) -> Iterator[Finding]:
    subagent = subject.subagent
    for item in subject.transcript.damage:
        rule = RULES.get(item.kind)
        if rule is not None:
            yield Finding(
                rule, subject.path, item.detail, item.line, item.offset, item.length, None, subject.file.session_id,
                subagent.subagent_id if subagent is not None else None,
            )  # fmt: skip
