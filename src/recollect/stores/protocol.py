"""The session store protocol of claude-agent-sdk (0.2.183), in types of our own: nothing here imports that package.

The SDK asks of a store only that it has these methods, so a store of ours can be handed to it as `session_store`, and a
store written for it can be used wherever this protocol is asked for. The shapes are the same ones: type checkers take
one for the other.

Times (`mtime`) are milliseconds since 1970, taken when the store wrote. An entry is one line of a transcript as plain
JSON data; what it means is not the store's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, Protocol, Required, TypedDict


class SessionKey(TypedDict):
    """A transcript: the session's own, or with `subpath` (such as ``subagents/agent-1``) one below it."""

    project_key: str
    session_id: str
    subpath: NotRequired[str]


class SessionListSubkeysKey(TypedDict):
    """A session, for the question what is below it."""

    project_key: str
    session_id: str


class SessionStoreEntry(TypedDict, total=False):
    """One line of a transcript. Only `type` is always there; every other field is kept as it is."""

    type: Required[str]
    uuid: str
    timestamp: str


class SessionStoreListEntry(TypedDict):
    session_id: str
    mtime: int


class SessionSummaryEntry(TypedDict):
    """What a list needs of a session. `data` is made by the fold (`summary_fold.py`) and read by the SDK."""

    session_id: str
    mtime: int
    data: dict[str, Any]


class SessionStore(Protocol):
    """All methods of the protocol. The SDK can do without the last four; the stores of this package have them all."""

    async def append(self, key: SessionKey, entries: Sequence[Mapping[str, Any]]) -> None:
        """Keep these entries behind those that are there. An empty batch changes nothing."""

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """All entries in order, equal to what was appended; None for what was never written."""

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """The sessions of a project (transcripts below a session are none)."""

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """The same sessions with what a list shows of them, without reading them."""

    async def delete(self, key: SessionKey) -> None:
        """Remove a session with everything below it, or with `subpath` that one transcript."""

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """The subpaths below a session."""
