"""Write to sessions from code: to an existing or a new session, or to a subagent in the layout of a Claude Code version.

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
from typing import Any

from ..edit.append import SessionWriter, project_folder
from ..errors import NotFound, Refused
from ..format.encode import WRITTEN_AS, RowContext, encode_line
from ..format.versions import parse_version
from ..journal.changes import Journal
from ..store.home import Home
from ..store.layout import subagent_name, subagents_folder
from ..store.read import session_named_in
from ..store.scan import check_subagent_id, refuse_taken_id
from .project_paths import refuse_missing_folder, whole_path
from .session import Session


def session_writer(
    session: Session,
    journal: Journal,
    *,
    sync: bool = True,
    force: bool = False,
    version: str = WRITTEN_AS,
    cwd: str | None = None,
) -> SessionWriter:
    """Return a writer that appends to the end of a session's active conversation.

    If Claude Code has the session open, or another program wrote to it within the last minute, a line is refused (StoreBusy)
    unless `force` is given; the writer's own lines do not count. `version` and `cwd` are for sessions that name none yet.
    """
    if session.file.is_gone:
        raise NotFound(f"nothing can follow in {session.id}: {session.file.problem}", slug="no-such-file")
    summary = session.summary
    place = os.path.realpath(cwd) if cwd is not None and not summary.cwds else summary.project or os.sep
    context = RowContext(session.id, place, summary.version or version, summary.git_branch, None)
    return SessionWriter(journal, session.home, session.file.path, context, sync=sync, force=force)


def new_session_writer(
    home: Home,
    journal: Journal,
    cwd: str,
    *,
    session_id: str | None = None,
    version: str = WRITTEN_AS,
    git_branch: str | None = None,
    sync: bool = True,
    force: bool = False,
) -> SessionWriter:
    """Return a writer whose first line creates the session, in the project folder of `cwd`, which must exist.

    The home must not have a session of that id.
    """
    ident = str(uuid.uuid4()) if session_id is None else session_id
    refuse_taken_id(home, ident)
    folder = whole_path(cwd)
    refuse_missing_folder(folder)
    real = os.path.realpath(folder)
    path = project_folder(home, real) / f"{ident}.jsonl"
    context = RowContext(ident, real, version, git_branch)
    title = f"New session {ident}"
    return SessionWriter(journal, home, path, context, sync=sync, title=title, new=True, force=force)


def new_subagent_id(version: str = WRITTEN_AS) -> str:
    """Return an id as Claude Code of that version makes them: short before 2.1.50, long since."""
    return "a" + secrets.token_hex(8 if _age(version) >= (2, 1, 50) else 3)


def subagent_path(main: Path, subagent_id: str, version: str = WRITTEN_AS) -> Path:
    """Return the path of a subagent's transcript: the main file, beside it, or in its folder, depending on the version."""
    check_subagent_id(subagent_id)
    age = _age(version)
    if age >= (2, 1, 9):
        return subagents_folder(main) / subagent_name(subagent_id)
    if age >= (2, 0, 28):
        return main.with_name(subagent_name(subagent_id))
    return main


def subagent_writer(
    main: SessionWriter,
    subagent_id: str | None = None,
    *,
    subagent_type: str = "general-purpose",
    description: str | None = None,
    tool_use_id: str | None = None,
    sync: bool = True,
) -> SessionWriter:
    """Return a writer for a subagent of a session or of another subagent, in the layout of the session's version.

    Since 2.1.70 a file beside a new subagent's transcript says what it is and which call (`tool_use_id`) started it.
    Claude Code 2.0.28 - 2.1.8 stores the subagents of all sessions of a project in one folder: there, an id that another
    session has used is refused.
    """
    context = main.context
    ident = new_subagent_id(context.version) if subagent_id is None else subagent_id
    path = subagent_path(main.path, ident, context.version)
    if context.subagent_id is not None and path != main.path:  # subagents of subagents are in the same folder
        path = main.path.with_name(path.name)
    if (2, 0, 28) <= _age(context.version) < (2, 1, 9):
        _refuse_that_of_another(main, path, ident)
    own = RowContext(context.session_id, context.cwd, context.version, context.git_branch, ident)
    companion = None
    if _age(context.version) >= (2, 1, 70):
        meta: dict[str, Any] = {"agentType": subagent_type, "description": description, "toolUseId": tool_use_id}
        meta |= {"parentAgentId": context.subagent_id, "spawnDepth": 1 if context.subagent_id is None else None}
        line = encode_line({key: value for key, value in meta.items() if value is not None})
        companion = (path.with_suffix(".meta.json"), line.rstrip(b"\n"))
    return SessionWriter(
        main.journal,
        main.home,
        path,
        own,
        sync=sync,
        title=f"Subagent {ident} of {context.session_id}",
        companion=companion,
        force=main.force,
    )


def _refuse_that_of_another(main: SessionWriter, path: Path, subagent_id: str) -> None:
    owner = session_named_in(path, main.home)
    if owner is not None and owner != main.context.session_id:
        raise Refused(
            f"{path} is of session {owner}: the subagent {subagent_id} is not one of {main.context.session_id}",
            hint="give the subagent an id of its own", slug="exists",
        )  # fmt: skip


def _age(version: str) -> tuple[int, ...]:
    """Parse a version; one that cannot be parsed counts as the newest."""
    return parse_version(version) or (9,)
