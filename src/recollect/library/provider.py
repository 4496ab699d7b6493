"""`ClaudeStorageProvider`: read and write the sessions of projects from asyncio code, over a library.

    provider = ClaudeStorageProvider(base_dir="~/.claude")
    sessions = await provider.get_sessions(project_path="/path/to/project")
    messages = await provider.get_session_messages(
        project_path="/path/to/project", session_id=sessions[0]["session_id"], limit=50
    )

    session_id = str(uuid.uuid4())
    await provider.log_message(
        project_path="/path/to/project", message=ChatMessage(role="user", content="Hello"), session_id=session_id
    )

Dictionaries have the names of `--json` and `/api/v1`. Disk work happens in a thread. What is written is journaled:
`recollect undo` undoes it.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..edit.append import SessionWriter, plan_new_session, project_folder
from ..environment import own_folder
from ..errors import NotFound, RecollectError, Refused
from ..format.content_check import check_blocks
from ..format.encode import WRITTEN_AS, check_message, encode_line
from ..format.times import to_iso
from ..format.usage import Usage
from ..graph.messages import MessageView
from ..graph.rows import Row
from ..journal.changes import Journal
from ..journal.disk import make_home
from ..store.home import Home, check_home
from ..store.scan import SessionFile, check_session_id
from .changes import Changes
from .library import Library, open_library
from .locate import home_with
from .project_paths import ProjectFilter, names_of, refuse_missing_folder, whole_path
from .session import Session
from .shapes import message_shape, plain, session_shape
from .writing import new_session_writer, session_writer, subagent_writer

# `ChatMessage`: a message as agent frameworks pass it around.


@dataclass(slots=True)
class ChatMessage:
    """A message to write to a session. `content` is text, or content blocks as in the Messages API."""

    role: str
    content: str | Sequence[Mapping[str, Any]]
    model: str | None = None
    message_id: str | None = None
    """The uuid of the message's row; a new one is made if it is not given."""
    usage: Mapping[str, Any] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    """Further fields for the row, such as ``{"isMeta": True}``."""
    allow_unknown_call: bool = False
    """Also write results of tool calls that the session does not have, although Claude Code drops them."""


_TODOS_OF_2_0: Final = "2.0.77"
"""The naming of to-do files is unchanged since 1.0.30, so this version stands for all of them."""
_PARAMETERS: Final = frozenset(("self", "role", "content", "model", "uuid", "usage", "allow_unknown_call"))
"""Names that `ChatMessage` or the writer's method already has, which `metadata` must not set."""


class ClaudeStorageProvider:
    """Reads and writes the sessions of one Claude home, project by project.

    An empty or new folder becomes a home with the first message. `data_dir` is where changes are journaled.

    Starting a session:

    >>> import asyncio, secrets, tempfile, uuid
    >>> folder = Path(tempfile.mkdtemp())
    >>> provider = ClaudeStorageProvider(base_dir=folder / "claude", data_dir=folder / "data")
    >>> session_id = str(uuid.uuid4())
    >>> hello = ChatMessage(role="user", content="Hello")
    >>> _ = asyncio.run(provider.log_message(project_path=str(folder), message=hello, session_id=session_id))

    Resuming it:

    >>> sessions = asyncio.run(provider.get_sessions(project_path=str(folder)))
    >>> sessions[0]["session_id"] == session_id
    True
    >>> messages = asyncio.run(
    ...     provider.get_session_messages(project_path=str(folder), session_id=sessions[0]["session_id"], limit=50)
    ... )
    >>> [message["text"] for message in messages]
    ['Hello']

    A subagent has an id of its own and shares the session's:

    >>> subagent_id = "a" + secrets.token_hex(3)
    >>> errand = ChatMessage(role="user", content="Look around")
    >>> _ = asyncio.run(provider.log_message(str(folder), errand, session_id, subagent_id=subagent_id))
    >>> asyncio.run(provider.get_sessions(str(folder)))[0]["subagent_ids"] == [subagent_id]
    True

    To-dos, a title, a fork, and back to nothing:

    >>> todos = [{"content": "Write it", "status": "pending", "activeForm": "Writing it"}]
    >>> asyncio.run(provider.save_todos(session_id, todos, subagent_id=subagent_id))
    []
    >>> asyncio.run(provider.update_title(session_id, "A first talk"))
    >>> fork_id = asyncio.run(provider.fork_conversation(session_id))
    >>> [message["text"] for message in asyncio.run(provider.get_session_messages(fork_id))]
    ['Hello']
    >>> asyncio.run(provider.reset(str(folder)))
    2
    """

    def __init__(
        self,
        base_dir: str | os.PathLike[str] | None = None,
        *,
        data_dir: str | os.PathLike[str] | None = None,
        client_version: str = WRITTEN_AS,
    ) -> None:
        self.library = (
            open_library() if base_dir is None else Library([_home_at(Path(base_dir).expanduser().absolute())])
        )
        self.journal = Journal(own_folder("data") if data_dir is None else Path(data_dir).expanduser().absolute())
        self.client_version = client_version
        """The version of Claude Code in whose layout new sessions and subagents are written."""

    @property
    def changes(self) -> Changes:
        """Return the changes of the library's homes, journaled in `data_dir`."""
        return Changes(self.library, self.journal)

    @property
    def home(self) -> Home:
        return self.library.homes[0]

    async def get_projects(self) -> list[str]:
        """Return the paths of all projects, most recently used first."""
        found = await asyncio.to_thread(self.library.projects)
        return [project.path for project in found if project.path is not None]

    async def get_sessions(self, project_path: str | None = None) -> list[dict[str, Any]]:
        """List the sessions of a project (or all), newest first."""

        def find() -> list[dict[str, Any]]:
            self.library.refresh()
            return [
                plain(session_shape(item, running=item.session_id in self.library.running))
                for item in self.library.sessions(project=project_path)
            ]

        return await asyncio.to_thread(find)

    async def get_session_messages(
        self,
        session_id: str,
        project_path: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        *,
        include_tools: bool = True,
    ) -> list[dict[str, Any]]:
        """Return messages of the active thread: with `limit` alone the last ones, with `offset` a page from the start."""

        def read() -> list[dict[str, Any]]:
            session = self._as_it_is(session_id, project_path)
            rows = [row for row in session.thread.chain if row.is_message]
            if not include_tools:
                rows = [row for row in rows if not row.tool_results]
            joined = session.conversation.messages(rows)
            start = offset if offset is not None else (max(len(joined) - limit, 0) if limit is not None else 0)
            return _numbered(session.messages(rows, offset=start, limit=limit), start + 1)

        return await asyncio.to_thread(read)

    async def get_message(
        self, session_id: str, message_id: str, project_path: str | None = None
    ) -> dict[str, Any] | None:
        """Return one message, given the uuid of any of its lines, wherever it is in the session; None if there is none."""

        def read() -> dict[str, Any] | None:
            session = self._as_it_is(session_id, project_path)
            for row in session.transcript.rows:
                if row.uuid == message_id:
                    return _numbered(session.messages([row]))[0]
            return None

        return await asyncio.to_thread(read)

    async def get_message_ancestry(
        self, session_id: str, message_id: str, project_path: str | None = None
    ) -> list[dict[str, Any]]:
        """Return the user and assistant rows from the first to the named one, along the parents."""

        def read() -> list[dict[str, Any]]:
            session = self._as_it_is(session_id, project_path)
            rows = session.conversation.tree.ancestors(message_id)
            if not rows:
                raise NotFound(f"session {session.id} has no message {message_id}", slug="no-such-message")
            return _numbered(session.messages([row for row in rows if row.is_message]))

        return await asyncio.to_thread(read)

    async def get_message_counts(self, session_id: str, project_path: str | None = None) -> dict[str, int]:
        """Count rows by type, and messages by role in the active thread (`thread.<role>`)."""

        def count() -> dict[str, int]:
            session = self._as_it_is(session_id, project_path)
            roles = Counter(f"thread.{message.role}" for message in session.conversation.messages())
            return dict(session.transcript.types) | dict(roles)

        return await asyncio.to_thread(count)

    async def get_session_stats(self, session_id: str, project_path: str | None = None) -> dict[str, Any]:
        """Count rows, branches, subagents, tool calls, tokens (each API response once) and times of a session."""
        return await asyncio.to_thread(lambda: session_stats(self._as_it_is(session_id, project_path)))

    # --- writing ------------------------------------------------------------------------------------------------------

    async def log_message(
        self,
        project_path: str,
        message: ChatMessage,
        session_id: str,
        subagent_id: str | None = None,
        *,
        force: bool = False,
    ) -> str:
        """Append a message, and create its session or subagent if it does not exist yet. Returns the row's uuid.

        A session whose subagent writes first begins empty: Claude Code resumes it once it has a message of its own.
        The project is named by its absolute path; a new session needs an existing folder, in which Claude Code resumes it.
        A session that another program uses is refused (StoreBusy) without `force`. A session to which this provider wrote
        last is not refused, even if it is open elsewhere.
        """
        return await asyncio.to_thread(self._log, project_path, message, session_id, subagent_id, force)

    def _log(
        self, project_path: str, message: ChatMessage, session_id: str, subagent_id: str | None, force: bool
    ) -> str:
        folder = whole_path(project_path)
        check_session_id(session_id)
        _check(message)
        try:
            return self._append(folder, message, session_id, subagent_id, force)
        except Refused as problem:
            if problem.slug != "exists":
                raise
            return self._append(
                folder, message, session_id, subagent_id, force
            )  # another task just created the session

    def _append(self, folder: str, message: ChatMessage, session_id: str, subagent_id: str | None, force: bool) -> str:
        self.library.refresh()
        is_new = self._home_with(session_id) is None
        if not is_new:
            session = self._session(session_id, folder)
            main = session_writer(session, self.journal, force=force, version=self.client_version, cwd=folder)
        else:
            refuse_missing_folder(folder)  # before a home is created
            self._make_home()
            main = new_session_writer(
                self.home, self.journal, folder, session_id=session_id, version=self.client_version, force=force
            )
        writer = main if subagent_id is None else subagent_writer(main, subagent_id)
        with writer:
            uuid = writer.append_message(
                message.role,
                message.content,
                model=message.model,
                uuid=message.message_id,
                usage=message.usage,
                allow_unknown_call=message.allow_unknown_call,
                **message.metadata,
            )
        if is_new and writer.path != main.path:
            self._begin(main)
        self.library.refresh()
        return uuid

    def _begin(self, main: SessionWriter) -> None:
        """Create the session of a subagent: without it, neither Claude Code nor a list shows the subagent's file."""
        try:
            change, _ = plan_new_session(self.journal, main.home, main.context.cwd, main.context.session_id)
            with change:
                change.commit()
        except RecollectError:
            if not main.path.exists():  # otherwise another task just created it
                raise

    async def fork_conversation(
        self,
        session_id: str,
        message_id: str | None = None,
        *,
        project_path: str | None = None,
        title: str | None = None,
    ) -> str:
        """Create a session with the conversation up to a message (or all of it). Returns the new session's id."""

        def fork() -> str:
            session = self._named(session_id, project_path)
            done = self.changes.fork(session, at=message_id, title=title).commit()
            self.library.refresh()
            return str(done.result["session_id"])

        return await asyncio.to_thread(fork)

    async def update_title(
        self, session_id: str, title: str, *, project_path: str | None = None, force: bool = False
    ) -> None:
        """Give a session a title, which Claude Code shows too. Without `force`, one that another program uses is refused."""

        def update() -> None:
            session = self._named(session_id, project_path)
            self.changes.rename(session, title, force=force).commit()
            self.library.refresh()

        await asyncio.to_thread(update)

    async def save_todos(
        self,
        session_id: str,
        todos: Sequence[Mapping[str, Any]],
        subagent_id: str | None = None,
        *,
        force: bool = False,
    ) -> list[str]:
        """Write the to-do list of a session or of one of its subagents. Returns warnings about odd changes of state.

        The list of a session that another program uses is refused (StoreBusy) without `force`.
        """

        def save() -> list[str]:
            self.library.refresh()
            plan = self.changes.save_todos(session_id, todos, subagent=subagent_id, version=_TODOS_OF_2_0, force=force)
            plan.commit()
            return plan.notes

        return await asyncio.to_thread(save)

    async def reset(self, project_path: str) -> int:
        """Move all sessions of a project to the trash (`recollect undo` restores them). Returns how many.

        The project is named by its absolute path, since several projects may have the same last part.
        """

        def remove() -> int:
            folder = whole_path(project_path)
            self.library.refresh()
            paths = {folder, *names_of(folder)}
            sessions = self.library.sessions(project=folder, count=False)
            # What lies below the folder, or differs in upper and lower case, is another project.
            found = [Session(item.file) for item in sessions if not paths.isdisjoint((item.project, item.worktree_of))]
            by_home: dict[str, list[Session]] = {}
            for session in found:
                by_home.setdefault(session.home.real_root, []).append(session)
            # Plan for all homes first, since a plan may be refused, and only then change one.
            for plan in [self.changes.delete(group) for group in by_home.values()]:
                plan.commit()
            self.library.refresh()
            return len(found)

        return await asyncio.to_thread(remove)

    def _make_home(self) -> None:
        if not self.home.projects.is_dir():
            make_home(self.home)

    def _named(self, session_id: str, project_path: str | None) -> Session:
        """Find the session of exactly this id: a change must not hit another session with a similar title."""

        def is_among(files: Sequence[SessionFile]) -> bool:
            return any(file.session_id == session_id for file in files)

        if not is_among(self.library.files()):
            self.library.refresh()
        if self._home_with(session_id) is None and not is_among(self.library.kept_files()):
            raise NotFound(
                f"no session {session_id!r}", hint="a session is changed by its whole id", slug="no-such-session"
            )
        return self._session(session_id, project_path)

    def _as_it_is(self, session_id: str, project_path: str | None) -> Session:
        """Find the session with everything that was written to it until now, by any program."""
        self.library.refresh()
        return self._session(session_id, project_path)

    def _home_with(self, session_id: str) -> Home | None:
        return home_with(self.library, session_id, hint="give the one that is meant as base_dir")

    def _session(self, session_id: str, project_path: str | None) -> Session:
        session = self.library.session(session_id)
        if project_path is not None and not _same_project(session, project_path):
            raise NotFound(
                f"session {session.id} is not of project {project_path}",
                hint=f"it is of {session.summary.project}",
                slug="other-project",
            )
        return session


def _numbered(views: Sequence[MessageView], first: int = 1) -> list[dict[str, Any]]:
    return [plain(message_shape(view, number)) for number, view in enumerate(views, first)]


def _home_at(path: Path) -> Home:
    """Return the home at a path. A folder that is new or empty may become a home."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        return check_home(path)
    return Home(path)


def _check(message: ChatMessage) -> None:
    """Check a message before a home is created for it; the writer checks the rest."""
    if not isinstance(message.metadata, Mapping) or not all(isinstance(name, str) for name in message.metadata):
        raise Refused("metadata is a mapping of names to values", hint="nothing was written", slug="bad-content")
    taken = _PARAMETERS.intersection(message.metadata)
    if taken:
        raise Refused(f"metadata holds {', '.join(sorted(taken))}, which are not for it to set", slug="bad-content")
    if not isinstance(message.content, str):
        check_blocks(message.role, message.content)
    check_message(message.content)
    encode_line({"content": message.content, "usage": message.usage, **message.metadata})


def _same_project(session: Session, path: str) -> bool:
    known = (session.summary.project, session.summary.worktree_of, *session.summary.cwds)
    if ProjectFilter(path).fits(*known):
        return True
    # Before the first row (another task may be about to write it) only the folder shows the project.
    return not session.summary.cwds and session.file.path.parent == project_folder(session.home, path)


# Count the figures of one session from its rows, for the answers of the provider.


def session_stats(session: Session) -> dict[str, Any]:
    graph = session.conversation
    usage = _usage(
        session, [session.transcript.rows, *(subagent.rows for subagent in graph.subagents if subagent.file)]
    )
    times = [row.time for row in session.transcript.rows if row.time is not None]
    return {
        "session_id": session.id,
        "rows": len(session.transcript.rows),
        "messages": sum(1 for row in session.transcript.rows if row.is_message),
        "thread_messages": len(graph.thread.sent),
        "branches": len(graph.branches),
        "compactions": len(graph.compactions),
        "subagents": len(graph.subagents),
        "tool_calls": len(graph.tools.calls),
        "tool_errors": sum(call.is_error for call in graph.tools.calls),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_write": usage.cache_write_5m + usage.cache_write_1h,
        "cache_read": usage.cache_read,
        "reachable_share": graph.thread.reachable_share,
        "first": to_iso(min(times, default=None)),
        "last": to_iso(max(times, default=None)),
    }


def _usage(session: Session, groups: list[list[Row]]) -> Usage:
    """Sum the tokens of a session. An API response counts once, however many lines and copies it has.

    A subagent's row of the same message under another request is a copy, too: see `index.api_calls.dedupe`.
    """
    responses: dict[tuple[str, str | None], Usage] = {}
    of_main: dict[tuple[str, str | None], bool] = {}
    for rows in groups:
        wanted = [row for row in rows if row.type == "assistant" and row.message_id and row.model != "<synthetic>"]
        for view in session.messages([row for row in wanted if not row.is_api_error]):
            if view.usage is None:
                continue
            key = (view.rows[0].message_id or "", view.rows[0].request_id)
            known = responses.get(key)
            responses[key] = view.usage if known is None else known.maximum(view.usage)
            of_main[key] = of_main.get(key, False) or (rows is groups[0] and not view.rows[0].sidechain)
    counted: set[str] = set()
    for key in sorted(responses, key=lambda key: not of_main[key]):
        if not of_main[key] and key[0] in counted:
            del responses[key]
        counted.add(key[0])
    total = Usage()
    for item in responses.values():
        total = Usage(
            total.input_tokens + item.input_tokens,
            total.output_tokens + item.output_tokens,
            total.cache_write_5m + item.cache_write_5m,
            total.cache_write_1h + item.cache_write_1h,
            total.cache_read + item.cache_read,
            total.web_searches + item.web_searches,
            total.odd or item.odd,
        )
    return total
