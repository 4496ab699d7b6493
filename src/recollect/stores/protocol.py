"""The session store protocol of claude-agent-sdk (0.2.183), in types of our own: nothing here imports that package.

The SDK only requires that a store has these methods, so a store of this package can be passed to it as `session_store`,
and a store written for the SDK can be used wherever this protocol is required. The types are structurally equal: type
checkers accept one for the other.

Times (`mtime`) are milliseconds since 1970, taken when the store wrote. An entry is one line of a transcript as plain
JSON data; the store does not interpret it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, Protocol, Required, TypedDict


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
