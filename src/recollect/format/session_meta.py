"""Parse the small JSON files that Claude Code writes about sessions and subagents.

    sessions-index.json       2.0.77 - 2.1.20: a cache, often out of date; its content is shown, but never relied on
    custom-title.json         the title set by /rename or /branch
    agent-<id>.meta.json      2.1.70 and later, beside a subagent's transcript: its type and the call that started it; for
                              subagents of older versions it is built from that call
    sessions/<pid>.json       2.1.100 and later: a session that is open right now. Claude Code deletes the file at exit; a
                              crash leaves it behind. The `<pid>.<hash>.key` files beside it hold a token and are never read

Every field that is not known stays in `extra`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from recollect.format.json_file import Fields, decode_json_file, read_struct
from recollect.format.times import to_iso

from .entries import decode_loosely
from .json_edit import encode_value
from .row_edit import content_blocks


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
    return fields.build(
        SessionsIndex,
        entries=tuple(Fields(entry).build(IndexedSession) for entry in entries if isinstance(entry, dict)),
        stray=tuple(entry for entry in entries if not isinstance(entry, dict)),
        problem=file.problem,
    )


def parse_custom_title(data: bytes) -> CustomTitle:
    return read_struct(data, CustomTitle, {"title": "customTitle"})


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


class SubagentMeta(msgspec.Struct, frozen=True, kw_only=True):
    """The meta file of a subagent.

    `tool_use_id` is the call that started the subagent; `parent_subagent_id` is set where another subagent made that call.
    """

    subagent_type: str | None = None
    description: str | None = None
    tool_use_id: str | None = None
    parent_subagent_id: str | None = None
    spawn_depth: int | None = None
    model: str | None = None
    is_built_in: bool | None = None
    is_fork: bool | None = None
    finished: bool | None = None
    extra: dict[str, Any] = {}
    problem: str | None = None


def parse_subagent_meta(data: bytes) -> SubagentMeta:
    return read_struct(data, SubagentMeta, {"subagent_type": "agentType", "parent_subagent_id": "parentAgentId"})


def call_input(data: bytes, tool_use_id: str) -> dict[str, Any]:
    """Return the input of the call with this id; empty where the line does not hold the call."""
    value = decode_loosely(data)
    for block in content_blocks(value) if isinstance(value, dict) else ():
        if isinstance(block, dict) and block.get("id") == tool_use_id and isinstance(block.get("input"), dict):
            return dict(block["input"])
    return {}


def subagent_meta_bytes(given: dict[str, Any], tool_use_id: str | None, parent_subagent: str | None) -> bytes:
    """Build the content of `agent-<id>.meta.json` from the input of the call that started the subagent."""
    kind, words = given.get("subagent_type"), given.get("description")
    meta: dict[str, Any] = {"agentType": kind if isinstance(kind, str) else "general-purpose"}
    if isinstance(words, str):
        meta["description"] = words
    if tool_use_id:
        meta["toolUseId"] = tool_use_id
    if parent_subagent:
        meta["parentAgentId"] = parent_subagent
    return encode_value(meta)


class RunningSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that is open in Claude Code. `status` is idle or busy.

    `proc_start` distinguishes a process from a later one with the same pid: on Linux the ticks since boot, as in field 22 of
    `/proc/<pid>/stat`, elsewhere a time in words. `pid_domain` names where the pid is valid: the system, and on Linux the
    machine's id and the namespace.
    """

    pid: int | None = None
    session_id: str | None = None
    cwd: str | None = None
    status: str | None = None
    kind: str | None = None
    entrypoint: str | None = None
    version: str | None = None
    name: str | None = None
    name_source: str | None = None
    tmux: str | None = None
    messaging_socket_path: str | None = None
    proc_start: str | None = None
    pid_domain: str | None = None
    started_at: datetime | None = None
    updated_at: datetime | None = None
    status_updated_at: datetime | None = None
    extra: dict[str, Any] = {}
    problem: str | None = None


def pid_of(name: str) -> int | None:
    """Return the process id in `<pid>.json`; None for any other name."""
    stem = name.removesuffix(".json")
    return int(stem) if stem != name and stem.isascii() and stem.isdigit() and len(stem) <= 18 else None


def parse_running_session(data: bytes) -> RunningSession:
    return read_struct(data, RunningSession)
