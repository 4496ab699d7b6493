"""Writing to sessions from code: a writer for an existing or a new one, in the layout of a client age for sub-agents.

journal = recollect.journal()
with session_writer(session, journal) as writer:
    writer.append_message("user", "And the tests?")
    call = writer.append_tool_call("Bash", {"command": "make test"})
    writer.append_tool_result(call, "all passed")
    writer.append_message("assistant", "They pass.")
"""

from __future__ import annotations

import os
import secrets
import uuid
from pathlib import Path

from ..errors import Refused
from ..format.encode import WRITTEN_AS, RowContext
from ..format.versions import parse_version
from ..store.append import SessionWriter, project_folder
from ..store.changes import Journal
from ..store.home import Home
from ..store.scan import is_session_id
from .session import Session


def session_writer(session: Session, journal: Journal, *, sync: bool = True) -> SessionWriter:
    """Appends to the end of a session's active conversation."""
    summary = session.summary
    context = RowContext(
        session.id, summary.project or os.sep, summary.version or WRITTEN_AS, summary.git_branch, None
    )  # fmt: skip
    return SessionWriter(journal, session.home, session.file.path, context, sync=sync)


def new_session_writer(
    home: Home,
    journal: Journal,
    cwd: str,
    *,
    session_id: str | None = None,
    version: str = WRITTEN_AS,
    git_branch: str | None = None,
    sync: bool = True,
) -> SessionWriter:
    """A writer whose first line creates the session, in the project folder of `cwd`."""
    ident = session_id or str(uuid.uuid4())
    if not is_session_id(ident):
        raise Refused(f"{ident!r} is no session id (a UUID in lower case)", slug="bad-session-id")
    real = os.path.realpath(os.path.expanduser(cwd))
    path = project_folder(home, real) / f"{ident}.jsonl"
    context = RowContext(ident, real, version, git_branch)
    return SessionWriter(journal, home, path, context, sync=sync, title=f"new session {ident}")


def new_agent_id(version: str = WRITTEN_AS) -> str:
    """An id as the client of that version makes them: short before 2.1.50, long since."""
    return "a" + secrets.token_hex(8 if (parse_version(version) or (9,)) >= (2, 1, 50) else 3)


def agent_path(main: Path, agent_id: str, version: str = WRITTEN_AS) -> Path:
    """Where the transcript of a sub-agent stands: inside the main file, beside it, or in its folder, by the client's age."""
    if not agent_id or any(mark in agent_id for mark in ("/", "\\", "\x00", "..")):
        raise Refused(f"{agent_id!r} is no agent id", slug="bad-agent-id")
    age = parse_version(version) or (9,)
    if age >= (2, 1, 9):
        return main.with_suffix("") / "subagents" / f"agent-{agent_id}.jsonl"
    if age >= (2, 0, 28):
        return main.with_name(f"agent-{agent_id}.jsonl")
    return main


def agent_writer(main: SessionWriter, agent_id: str | None = None, *, sync: bool = True) -> SessionWriter:
    """A writer for a sub-agent of a session, in the layout of the session's client version."""
    context = main.context
    ident = agent_id or new_agent_id(context.version)
    path = agent_path(main.path, ident, context.version)
    own = RowContext(context.session_id, context.cwd, context.version, context.git_branch, ident)
    return SessionWriter(
        main.journal, main.home, path, own, sync=sync, title=f"sub-agent {ident} of {context.session_id}"
    )
