"""Parse `sessions/<pid>.json`: a session that is open in Claude Code right now (2.1.100 and later).

Claude Code deletes the file at exit; a crash leaves it behind. The `<pid>.<hash>.key` files beside it hold a token and
are never read.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from recollect.format.json_file import Fields, decode_json_file


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
    file = decode_json_file(data, expect=dict)
    if not isinstance(file.value, dict):
        return RunningSession(extra={} if file.value is None else {"value": file.value}, problem=file.problem)
    fields = Fields(file.value)
    return RunningSession(
        pid=fields.whole("pid"),
        session_id=fields.text("sessionId"),
        cwd=fields.text("cwd"),
        status=fields.text("status"),
        kind=fields.text("kind"),
        entrypoint=fields.text("entrypoint"),
        version=fields.text("version"),
        name=fields.text("name"),
        name_source=fields.text("nameSource"),
        tmux=fields.text("tmux"),
        messaging_socket_path=fields.text("messagingSocketPath"),
        proc_start=fields.text("procStart"),
        pid_domain=fields.text("pidDomain"),
        started_at=fields.moment("startedAt"),
        updated_at=fields.moment("updatedAt"),
        status_updated_at=fields.moment("statusUpdatedAt"),
        extra=fields.rest,
        problem=file.problem,
    )
