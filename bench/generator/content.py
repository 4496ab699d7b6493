"""Texts, identifiers and source files, all drawn from a seeded random stream.

The order of the draws is part of the output: two draws that change places change every byte after them.
"""

from __future__ import annotations

import base64
import bisect
import itertools
import json
import random
import uuid
from datetime import UTC, datetime
from typing import Any

from bench.generator.words import CODE_TEMPLATES, EMOJI, FUNCTION_WORDS, HAN, SYLLABLES

Json = dict[str, Any]

_READABLE_BASE62 = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"


class Vocabulary:
    """Words with a Zipf-Mandelbrot distribution, the same in every process for one seed."""

    def __init__(self, seed: int, size: int = 60_000) -> None:
        rng = random.Random(f"vocab:{seed}")
        words = list(dict.fromkeys(FUNCTION_WORDS))
        seen = set(words)
        while len(words) < size:
            word = "".join(rng.choice(SYLLABLES) for _ in range(rng.choice((2, 2, 3, 3, 4))))
            if word not in seen:
                seen.add(word)
                words.append(word)
        self.words = words
        self._cumulated = list(itertools.accumulate(1.0 / (rank + 2.7) ** 1.07 for rank in range(size)))

    def sample(self, rng: random.Random, count: int) -> list[str]:
        words, cumulated, draw, find = self.words, self._cumulated, rng.random, bisect.bisect
        total = cumulated[-1]
        return [words[find(cumulated, draw() * total)] for _ in range(count)]

    def prose(self, rng: random.Random, word_count: int) -> str:
        words = self.sample(rng, word_count)
        sentences: list[str] = []
        start = 0
        while start < len(words):
            length = rng.randint(6, 18)
            sentence = words[start : start + length]
            start += length
            flavour = rng.random()
            if flavour < 0.12:
                sentence[-1] = f"`{sentence[-1]}`"
            elif flavour < 0.15:
                sentence.append("".join(rng.choice(HAN) for _ in range(rng.randint(4, 16))))
            elif flavour < 0.18:
                sentence.insert(0, rng.choice(EMOJI))
            text = " ".join(sentence)
            sentences.append(text[:1].upper() + text[1:] + ("." if rng.random() < 0.8 else ":\n"))
        return " ".join(sentences)


class Project:
    """Identifiers and files of one project: its sessions read the same files again and again."""

    def __init__(self, seed: int, index: int, vocabulary: Vocabulary) -> None:
        rng = random.Random(f"{seed}:project:{index}")
        self.vocabulary = vocabulary
        name = "-".join(vocabulary.sample(rng, 2)) + f"-{index}"
        self.cwd = f"/home/dev/work/{name}"
        self.folder = "".join(char if char.isalnum() else "-" for char in self.cwd)
        candidates = vocabulary.sample(rng, 400) + rng.sample(vocabulary.words[500:], 120)
        self.identifiers = [word for word in dict.fromkeys(candidates) if len(word) > 2][:260]
        self.files: list[tuple[str, list[str]]] = []
        for _ in range(40):
            folder, stem = rng.choice(self.identifiers), rng.choice(self.identifiers)
            path = f"{self.cwd}/src/{folder}/{stem}.{rng.choice(['py', 'ts', 'rs', 'md'])}"
            line_count = max(8, min(2500, int(rng.lognormvariate(4.6, 0.9))))
            self.files.append((path, self.code(rng, line_count)))

    def code(self, rng: random.Random, line_count: int) -> list[str]:
        lines = []
        for _ in range(line_count):
            a, b, c, d = rng.choices(self.identifiers, k=4)
            template = rng.choice(CODE_TEMPLATES)
            capitals = {"A": a.capitalize(), "B": b.capitalize(), "C": c.capitalize(), "D": d.capitalize()}
            lines.append(template.format(a=a, b=b, c=c, d=d, n=rng.randint(0, 999), **capitals))
        return lines


def encode(value: object) -> bytes:
    """One line as the client writes it: raw UTF-8, but lone surrogates escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text).encode()


def iso(timestamp: float) -> str:
    seconds = datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%dT%H:%M:%S.")
    return f"{seconds}{int(timestamp * 1000) % 1000:03d}Z"


def new_uuid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def token(rng: random.Random, length: int) -> str:
    return "".join(rng.choices(_READABLE_BASE62, k=length))


def tool_use_id(rng: random.Random) -> str:
    return "toolu_01" + token(rng, 22)


def base64_noise(rng: random.Random, byte_count: int) -> str:
    return base64.b64encode(rng.randbytes(byte_count)).decode()
