"""Check the keys of a store: names that are safe as file names, on every system.

The rules are the same for all stores, so that the sessions of one store can be copied into another.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..errors import Refused

TRANSCRIPT: Final = ".jsonl"
_LONGEST_NAME: Final = 200
"""Bytes. File systems allow 255; the rest is for endings. Claude Code's project keys are shorter than 220."""
_LONGEST_PROJECT: Final = 240
_LONGEST_SUBPATH: Final = 1000
_DEEPEST_SUBPATH: Final = 16
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f/\\]" if os.name != "nt" else r'[\x00-\x1f\x7f/\\<>:"|?*]')


@dataclass(frozen=True, slots=True)
class Place:
    """A checked key. `subpath` is empty for the session's own transcript."""

    project_key: str
    session_id: str
    subpath: tuple[str, ...] = ()

    @property
    def subpath_text(self) -> str:
        return "/".join(self.subpath)

    def below(self, subpath: tuple[str, ...]) -> Place:
        return Place(self.project_key, self.session_id, subpath)


def checked_place(key: Mapping[str, Any]) -> Place:
    """Return the place that a key names. Raises Refused."""
    session = checked_session(key)
    subpath = key.get("subpath")
    return session if subpath is None else session.below(_checked_subpath(subpath))


def checked_session(key: Mapping[str, Any]) -> Place:
    """Return the place of a whole session, as `checked_place` does; a subpath in the key is ignored."""
    if not isinstance(key, Mapping):
        raise _bad("the key", key, "it is no mapping")
    return Place(checked_project(key.get("project_key")), _checked_session(key.get("session_id")))


def checked_project(project_key: object) -> str:
    return _checked_name("project_key", project_key, _LONGEST_PROJECT)


def subpath_of(parts: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the parts if they form a valid subpath of a key, else None."""
    try:
        return _checked_subpath("/".join(parts))
    except Refused:
        return None


def is_session_id(name: str) -> bool:
    try:
        return bool(_checked_session(name))
    except Refused:
        return False


def _checked_session(session_id: object) -> str:
    name = _checked_name("session_id", session_id, _LONGEST_NAME)
    if name.endswith(TRANSCRIPT):  # its folder would have the name of another session's transcript
        raise _bad("session_id", session_id, f"it ends in {TRANSCRIPT}")
    return name


def _checked_subpath(subpath: object) -> tuple[str, ...]:
    if not isinstance(subpath, str):
        raise _bad("subpath", subpath, "it is no text")
    if not subpath:
        raise _bad("subpath", subpath, "it is empty; leave it out to mean the session itself")
    if len(subpath) > _LONGEST_SUBPATH:
        raise _bad("subpath", subpath, "it is too long")
    parts = tuple(subpath.split("/"))
    if len(parts) > _DEEPEST_SUBPATH:
        raise _bad("subpath", subpath, "it is too deep")
    for part in parts:
        _checked_name("subpath", part, _LONGEST_NAME, whole=subpath)
    if any(part.endswith(TRANSCRIPT) for part in parts[:-1]):  # a folder with the name of another subpath's file
        raise _bad("subpath", subpath, f"a folder in it ends in {TRANSCRIPT}")
    return parts


def _checked_name(field: str, name: object, longest: int, *, whole: str | None = None) -> str:
    shown = name if whole is None else whole
    if not isinstance(name, str):
        raise _bad(field, shown, "it is no text")
    if not name or name in (".", ".."):
        raise _bad(field, shown, "a name in it is empty or only dots")
    if _UNSAFE.search(name):
        raise _bad(field, shown, "it has a separator or a control character in a name")
    if _DRIVE.match(name) or name != name.rstrip(" ."):
        raise _bad(field, shown, "a name in it means something else on Windows")
    try:
        length = len(name.encode())
    except UnicodeEncodeError:
        raise _bad(field, shown, "it has half of a surrogate pair") from None
    if length > longest:
        raise _bad(field, shown, "a name in it is too long")
    return name


def _bad(field: str, value: object, why: str) -> Refused:
    shown = ascii(value)
    shown = shown if len(shown) <= 80 else shown[:79] + "…"
    return Refused(
        f"{field} {shown} cannot be used: {why}",
        hint="keys are made of plain names: project_key, session_id, and a relative subpath with '/' between its names",
        slug="bad-store-key",
    )
