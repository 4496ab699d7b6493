"""Random letters, and texts that know what was planted where in them."""

from __future__ import annotations

import base64
import json
import random
import string
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

BASE62: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
LOWER36: Final = string.ascii_lowercase + string.digits
HEX: Final = "0123456789abcdef"
BASE64: Final = string.ascii_letters + string.digits + "+/"
BASE64URL: Final = string.ascii_letters + string.digits + "-_"
BASE32: Final = string.ascii_uppercase + "234567"
UPPER36: Final = string.ascii_uppercase + string.digits
WORDS: Final = [
    "build",
    "deploy",
    "retry",
    "worker",
    "queue",
    "invoice",
    "harbour",
    "orchard",
    "ledger",
    "canvas",
    "socket",
    "parser",
    "shard",
    "replica",
    "tenant",
    "cursor",
    "lantern",
    "meadow",
    "copper",
    "velvet",
    "saddle",
    "quartz",
    "willow",
    "ember",
    "anchor",
    "marble",
    "thicket",
]
FIRST_NAMES: Final = ["ines", "tobias", "marek", "yuki", "leila", "anton", "freya", "diego", "noor", "pavel"]
LAST_NAMES: Final = [
    "halloran",
    "okafor",
    "lindqvist",
    "moreau",
    "tanaka",
    "brandt",
    "castellanos",
    "voss",
    "ferreira",
    "nakamura",
]


class Dice(random.Random):
    """Random numbers from a seed, and texts made with them."""

    def of(self, letters: str, count: int) -> str:
        """Return random letters that look random: never three alike in a row, and both letters and digits where it can."""
        while True:
            text = "".join(self.choice(letters) for _ in range(count))
            if any(a == b == c for a, b, c in zip(text, text[1:], text[2:], strict=False)):
                continue
            is_mixed = any(map(str.isdigit, text)) and any(map(str.isalpha, text))
            if count < 12 or letters == string.digits or is_mixed:
                return text

    def uuid(self) -> str:
        return str(uuid.UUID(int=self.getrandbits(128), version=4))

    def raw(self, count: int) -> bytes:
        return bytes(self.getrandbits(8) for _ in range(count))

    def word(self) -> str:
        return self.choice(WORDS)


def base64_of(data: bytes, *, safe: bool = False, padded: bool = True) -> str:
    text = (base64.urlsafe_b64encode if safe else base64.b64encode)(data).decode()
    return text if padded else text.rstrip("=")


@dataclass(frozen=True)
class Secret:
    """A value, in the text in which it stands in a file: alone, or within an address, a header, a command."""

    kind: str
    text: str
    start: int = 0
    end: int = -1
    name: str = "API_KEY"
    needs_name: bool = False
    """Whether nobody could tell it without the name beside it."""
    whole: bool = False
    """Whether `text` is a snippet of its own, such as a header, and never stands in quotation marks."""
    lines: bool = False
    """Whether it has several lines."""
    family: str = "secret"
    confidence: str = "definite"

    @property
    def stop(self) -> int:
        return len(self.text) if self.end < 0 else self.end

    @property
    def value(self) -> str:
        return self.text[self.start : self.stop]


@dataclass(frozen=True)
class Mark:
    """What stands in a part of a text: a secret of a kind, or something harmless of a category."""

    start: int
    end: int
    kind: str
    family: str = "secret"
    form: str = "plain"
    value: str = ""
    confidence: str = "definite"

    def moved(self, by: int) -> Mark:
        return replace(self, start=self.start + by, end=self.end + by)


@dataclass
class MarkedText:
    """A text, and what was planted where in it."""

    body: str = ""
    marks: list[Mark] = field(default_factory=list)

    def add(self, text: str) -> MarkedText:
        self.body += text
        return self

    def copy(self) -> MarkedText:
        return MarkedText(self.body, list(self.marks))

    def plant(self, secret: Secret, form: str = "plain", encode: Callable[[str], str] = str) -> MarkedText:
        """Add a secret with the text around it, each part encoded."""
        self.add(encode(secret.text[: secret.start]))
        self.mark(encode(secret.value), secret, form)
        return self.add(encode(secret.text[secret.stop :]))

    def mark(self, text: str, secret: Secret, form: str, confidence: str | None = None) -> MarkedText:
        begin = len(self.body)
        self.body += text
        sure = confidence or secret.confidence
        self.marks.append(Mark(begin, len(self.body), secret.kind, secret.family, form, secret.value, sure))
        return self

    def join(self, other: MarkedText) -> MarkedText:
        self.marks += [mark.moved(len(self.body)) for mark in other.marks]
        self.body += other.body
        return self

    def numbered(self, arrow: str = "→") -> MarkedText:
        """Return the text as the Read tool shows a file: a number before each line, also within secrets."""
        starts, out, at = [0] * (len(self.body) + 1), [], 0
        ends = [0] * (len(self.body) + 1)
        number, is_line_start = 0, True
        for place, letter in enumerate(self.body):
            ends[place] = at
            if is_line_start:
                number += 1
                out.append(f"{number:6d}{arrow}")
                at += len(out[-1])
            starts[place] = at
            out.append(letter)
            at += 1
            is_line_start = letter == "\n"
        starts[-1] = ends[-1] = at
        marks = [replace(mark, start=starts[mark.start], end=ends[mark.end]) for mark in self.marks]
        return MarkedText("".join(out), marks)


def escaped(text: str) -> str:
    """Return a text as it stands within a JSON string."""
    return json.dumps(text)[1:-1]
