"""Describe one secret, or one piece of personal data, that was found in a text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

Confidence = Literal["definite", "likely", "possible"]
"""Definite: the value's own form says what it is. Likely: a name or a header beside it does. Possible: only its look."""
CONFIDENCES: Final[tuple[Confidence, ...]] = ("definite", "likely", "possible")
Family = Literal["secret", "personal"]
Form = Literal[
    "plain", "escaped", "escaped twice", "indented", "diff", "wrapped", "base64", "url-encoded", "key"
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """A value in one text. `start` and `end` count code points of the text as it stands, encoded or wrapped."""

    start: int
    end: int
    kind: str
    family: Family
    confidence: Confidence
    form: Form | str
    value: str = field(repr=False)
    """The value itself, decoded and put together again. Never printed or stored: `masked` is for people."""
