"""The session store protocol of claude-agent-sdk (0.2.183), in types of our own: nothing here imports that package.

The SDK only requires that a store has these methods, so a store of this package can be passed to it as `session_store`,
and a store written for the SDK can be used wherever this protocol is required. The types are structurally equal: type
checkers accept one for the other.

Times (`mtime`) are milliseconds since 1970, taken when the store wrote. An entry is one line of a transcript as plain
JSON data; the store does not interpret it.

Keys are checked by the same rules for all stores, so that the sessions of one store can be copied into another: their names must
be safe as file names, on every system.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NotRequired, Protocol, Required, TypedDict

from ..errors import Refused


class SessionKey(TypedDict):
    """The key of a transcript: the session's own, or with `subpath` (such as ``subagents/agent-1``) one below it."""

    project_key: str
    session_id: str
    subpath: NotRequired[str]


class SessionListSubkeysKey(TypedDict):
    """The key of a session whose subpaths are listed."""

    project_key: str
    session_id: str


class SessionStoreEntry(TypedDict, total=False):
    """One line of a transcript. Only `type` is required; every other field is kept as it is."""

    type: Required[str]
    uuid: str
    timestamp: str


class SessionStoreListEntry(TypedDict):
    session_id: str
    mtime: int


class SessionSummaryEntry(TypedDict):
    """What a list shows of a session. `data` is made by the fold (`summary_fold.py`) and read by the SDK."""

    session_id: str
    mtime: int
    data: dict[str, Any]


class SessionStore(Protocol):
    """All methods of the protocol. The SDK can do without the last four; the stores of this package have them all."""

    async def append(self, key: SessionKey, entries: Sequence[Mapping[str, Any]]) -> None:
        """Append entries to a transcript. An empty batch changes nothing."""

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Return all entries in order, equal to what was appended; None if the transcript was never written."""

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """Return the sessions of a project (not the transcripts below a session)."""

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """Return the sessions of a project with what a list shows of them, without reading their transcripts."""

    async def delete(self, key: SessionKey) -> None:
        """Delete a session with everything below it, or with `subpath` only that transcript."""

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """Return the subpaths below a session."""


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
        raise _bad("the key", key, "it is not a mapping")
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
        raise _bad("subpath", subpath, "it is not text")
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
        raise _bad(field, shown, "it is not text")
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
