"""Homes in which fields hold what nobody would expect: another JSON type, odd text, numbers without end."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollect.format.known_fields import KNOWN_FIELDS
from recollect.testing import build_age, uuid_from

Json = Any
Steps = tuple[str | int, ...]

_DEEP = "<<deep>>"
_DEEPER = "<<deeper>>"
_NESTED = {_DEEP: b"[" * 400 + b"]" * 400, _DEEPER: b'{"a":' * 6000 + b"1" + b"}" * 6000}

ODD: tuple[Json, ...] = (
    None, True, False, 0, -1, 2**63, -(10**30), 10**400, 1.5, 1e308, float("nan"), float("-inf"),
    "", " ", "x", "\ud800", "\udc00 and more", "a\udfff\ud800b", "a\x00b", "\u2028\u2029", "\u202eabc\u2066",
    "\x1b[31m\x9b2J\x07",
    "\r\n\t", "\ufeff", "\ufffe\uffff", "e\u0301" * 50, "../../../etc/passwd", "/", "/a" * 3000, "9" * 5000, "%s {0} $x `x` \\",
    "<script>alert(1)</script>", "2026-13-45T99:99:99Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
    "1970-01-01T00:00:00Z", "00000000-0000-0000-0000-000000000000",
    [], [None], [[]], ["\ud800"], [{"type": "text", "text": "\ud800"}], [{"type": "\udc00"}], [1, "x", {}],
    {}, {"": ""}, {"\ud800": "\ud800"}, {"type": None}, {"type": []}, {"a": {"b": {"c": []}}}, _DEEP, _DEEPER,
)  # fmt: skip
"""What a field is set to."""

AGES = ("2.1.325", "1.0.0")


def encode(value: Json) -> bytes:
    """JSON with everything in it that some program might write: NaN, half surrogate pairs as escapes, deep nesting."""
    data = json.dumps(value).encode()
    for name, nested in _NESTED.items():
        data = data.replace(f'"{name}"'.encode(), nested)
    return data


def places(value: Json, above: Steps = ()) -> Iterator[Steps]:
    """Every place in a value at which something else could stand, the value itself among them."""
    yield above
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*above, name))
    elif isinstance(value, list):
        for number in range(min(len(value), 3)):
            yield from places(value[number], (*above, number))


def changed(value: Json, steps: Steps, odd: Json) -> Json:
    """A copy of the value with `odd` at a place."""
    if not steps:
        return odd
    copy = value.copy() if isinstance(value, dict | list) else {}
    copy[steps[0]] = changed(value[steps[0]], steps[1:], odd)  # type: ignore[index]
    return copy


def _with_all_fields(value: Json) -> Json:
    """The line with every field that its type is known to have; those it lacks are null."""
    return {**dict.fromkeys(sorted(KNOWN_FIELDS.get(str(value.get("type")), ()))), **value}


def _kind(value: Json, steps: Steps) -> tuple[object, ...]:
    """What a place is: two places of one kind are read by the same code."""
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    block = content[0] if isinstance(content, list) and content else {}
    attachment = value.get("attachment") or {}
    told = (value["type"], value.get("subtype"), attachment.get("type"), block.get("type"))
    return (*told, *("*" if isinstance(step, int) else step for step in steps))


class OddHome:
    """A home with the sessions of several ages, and many copies of them in which fields hold odd values."""

    def __init__(self, root: Path, seed: int, each: int = 1) -> None:
        """One of `each` kinds of places holds an odd value; which ones and what, `seed` says."""
        self.root = root
        self.chance = random.Random(seed)
        self.sessions: list[str] = []
        self._turn = seed * 11
        self._met: set[tuple[object, ...]] = set()
        self._each = each
        self.home = root / "home"
        for age in AGES:
            build_age(root / "ages" / age, age)
        shutil.copytree(root / "ages" / AGES[0], self.home, symlinks=True)
        self._add_sessions()
        self._spoil_side_files()

    def _add_sessions(self) -> None:
        """Copies of every session until every kind of place in them has held an odd value; one for each line of a copy."""
        for age in AGES:
            for path in sorted((self.root / "ages" / age / "projects").glob("*/*.jsonl")):
                if not path.name.startswith("agent-"):
                    number = 0
                    while self._write_session(path, uuid_from("odd", age, path.name, number)):
                        number += 1

    def _write_session(self, path: Path, session: str) -> bool:
        target = self.home / "projects" / path.parent.name / f"{session}.jsonl"
        target.parent.mkdir(parents=True, exist_ok=True)
        odd = self._write_lines(path, target, path.stem, session)
        for below in sorted((path.parent / path.stem).rglob("*")):
            copy = target.with_suffix("") / below.relative_to(path.with_suffix(""))
            copy.parent.mkdir(parents=True, exist_ok=True)
            if below.suffix == ".jsonl":
                odd |= self._write_lines(below, copy, path.stem, session)
            elif below.suffix == ".json":
                copy.write_bytes(self._odd_document(json.loads(below.read_bytes())))
            elif below.is_file():
                shutil.copy(below, copy)
        if odd:
            self.sessions.append(session)
        else:
            target.unlink()
            shutil.rmtree(target.with_suffix(""), ignore_errors=True)
        return odd

    def _write_lines(self, source: Path, target: Path, old: str, new: str) -> bool:
        """Write a copy of a transcript; say whether anything in it is odd."""
        done, any_odd = [], False
        for data in source.read_bytes().splitlines():
            value = _with_all_fields(json.loads(data))
            steps = self._next_place(value)
            if steps is not None:
                value, any_odd = changed(value, steps, self._next_odd()), True
            done.append(encode(value).replace(old.encode(), new.encode()) + b"\n")
        target.write_bytes(b"".join(done))
        return any_odd

    def _next_place(self, value: Json) -> Steps | None:
        """A place in the line of a kind that held no odd value yet, and is to hold one."""
        for steps in places(value):
            kind = _kind(value, steps)
            if kind not in self._met:
                self._met.add(kind)
                if self.chance.randrange(self._each) == 0:
                    return steps
        return None

    def _next_odd(self) -> Json:
        """Each odd value in turn."""
        self._turn += 1
        return ODD[self._turn % len(ODD)]

    def _odd_document(self, value: Json) -> bytes:
        return encode(changed(value, self.chance.choice(list(places(value))), self._next_odd()))

    def _spoil_side_files(self) -> None:
        """Put one odd value into every JSON file beside the transcripts, and into every line of the typed history."""
        for age in AGES:
            for path in sorted((self.root / "ages" / age).rglob("*")):
                target = self.home / path.relative_to(self.root / "ages" / age)
                if path.is_symlink() or not path.is_file():
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                if path.name == "history.jsonl":
                    lines = [json.loads(data) for data in path.read_bytes().splitlines()]
                    target.write_bytes(b"".join(self._odd_document(line) + b"\n" for line in lines * 20))
                elif path.suffix == ".json" or path.name.startswith((".claude.json", "statsig")):
                    try:
                        value = json.loads(path.read_bytes())
                    except ValueError:
                        continue
                    target.write_bytes(self._odd_document(value))
