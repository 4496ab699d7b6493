"""Parse `sessions-index.json` and `custom-title.json`, which Claude Code writes about sessions beside their transcripts.

`sessions-index.json` (2.0.77 - 2.1.20) is a cache and often out of date: its content is shown, but never relied on.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from recollect.format.json_file import Fields, decode_json_file
from recollect.format.times import to_iso


class IndexedSession(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str | None = None
    full_path: str | None = None
    file_mtime: datetime | None = None
    first_prompt: str | None = None
    summary: str | None = None
    custom_title: str | None = None
    message_count: int | None = None
    created: datetime | None = None
    modified: datetime | None = None
    git_branch: str | None = None
    project_path: str | None = None
    is_sidechain: bool | None = None
    extra: dict[str, Any] = {}


class SessionsIndex(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `sessions-index.json`. `stray` holds entries that are not objects."""

    version: int | None = None
    entries: tuple[IndexedSession, ...] = ()
    stray: tuple[Any, ...] = ()
    extra: dict[str, Any] = {}
    problem: str | None = None


class CustomTitle(msgspec.Struct, frozen=True, kw_only=True):
    """The title set by /rename or /branch (2.1.325)."""

    title: str | None = None
    extra: dict[str, Any] = {}
    problem: str | None = None


def parse_sessions_index(data: bytes) -> SessionsIndex:
    file = decode_json_file(data, expect=dict)
    fields = Fields(file.value)
    entries = fields.items("entries")
    return SessionsIndex(
        version=fields.whole("version"),
        entries=tuple(_indexed(entry) for entry in entries if isinstance(entry, dict)),
        stray=tuple(entry for entry in entries if not isinstance(entry, dict)),
        extra=fields.rest,
        problem=file.problem,
    )


def _indexed(value: dict[str, Any]) -> IndexedSession:
    fields = Fields(value)
    return IndexedSession(
        session_id=fields.text("sessionId"),
        full_path=fields.text("fullPath"),
        file_mtime=fields.moment("fileMtime"),
        first_prompt=fields.text("firstPrompt"),
        summary=fields.text("summary"),
        custom_title=fields.text("customTitle"),
        message_count=fields.whole("messageCount"),
        created=fields.moment("created"),
        modified=fields.moment("modified"),
        git_branch=fields.text("gitBranch"),
        project_path=fields.text("projectPath"),
        is_sidechain=fields.flag("isSidechain"),
        extra=fields.rest,
    )


def parse_custom_title(data: bytes) -> CustomTitle:
    file = decode_json_file(data, expect=dict)
    fields = Fields(file.value)
    return CustomTitle(title=fields.text("customTitle"), extra=fields.rest, problem=file.problem)


def sessions_index_entry(
    session_id: str,
    path: str,
    *,
    mtime: float,
    first_prompt: str | None,
    summary: str | None,
    messages: int,
    created: float | None,
    branch: str | None,
    project: str | None,
) -> dict[str, Any]:
    """Build the entry of a session as Claude Code 2.0.77 - 2.1.20 writes it into `sessions-index.json`."""
    entry: dict[str, Any] = {
        "sessionId": session_id,
        "fullPath": path,
        "fileMtime": int(mtime * 1000),
        "firstPrompt": first_prompt or "No prompt",
    }
    if summary:
        entry["summary"] = summary
    return entry | {
        "messageCount": messages,
        "created": to_iso(created if created is not None else mtime),
        "modified": to_iso(mtime),
        "gitBranch": branch or "",
        "projectPath": project or "",
        "isSidechain": False,
    }


EMPTY_INDEX: dict[str, Any] = {"version": 1}
