"""Entries of `sessions-index.json` as clients 2.0.77 - 2.1.20 write them."""

from __future__ import annotations

from typing import Any

from .times import to_iso


def index_entry(
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
