"""`ClaudeStorageProvider`: sessions of a project as asyncio code knows them, over the same library.

    provider = ClaudeStorageProvider(base_dir="~/.claude")
    sessions = await provider.get_sessions(project_path="/path/to/project")
    messages = await provider.get_session_messages(
        project_path="/path/to/project", session_id=sessions[0]["session_id"], limit=50
    )

    session_id = str(uuid.uuid4())
    await provider.log_message(
        project_path="/path/to/project", message=ChatMessage(role="user", content="Hello"), session_id=session_id
    )

Dictionaries have the names that `--json` and `/api/v1` have. Disk work happens in a thread. What is written is journaled:
`recollect undo` takes it back.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..edit.append import SessionWriter, plan_new_session, project_folder
from ..environment import own_folder
from ..errors import NotFound, RecollectError, Refused
from ..format.content_check import check_blocks
from ..format.encode import WRITTEN_AS, check_message, encode_line
from ..graph.message_views import MessageView
from ..journal.changes import Journal
from ..journal.disk import make_home
from ..store.home import Home, check_home
from ..store.scan import SessionFile, check_session_id
from .changes import Changes
from .chat import ChatMessage
from .dictionaries import session_stats
from .library import Library, open_library
from .locate import home_with
from .project_paths import ProjectFilter, names_of, refuse_missing_folder, whole_path
from .session import Session
from .shapes import message_shape, plain, session_shape
from .writing import new_session_writer, session_writer, subagent_writer

_TODOS_OF_2_0: Final = "2.0.77"
"""To-do files have had this naming since 1.0.30."""
_PARAMETERS: Final = frozenset(("self", "role", "content", "model", "uuid", "usage", "allow_unknown_call"))
"""What a message has places of its own for, or the writer's method has."""


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
        """The client age whose layout new sessions and subagents get."""

    @property
    def changes(self) -> Changes:
        """The changes of the library's homes, journaled in `data_dir`."""
        return Changes(self.library, self.journal)

    @property
    def home(self) -> Home:
        return self.library.homes[0]

    async def get_projects(self) -> list[str]:
        """Paths of all projects, most recently used first."""
        found = await asyncio.to_thread(self.library.projects)
        return [project.path for project in found if project.path is not None]

    async def get_sessions(self, project_path: str | None = None) -> list[dict[str, Any]]:
        """Sessions of a project (or all), newest first."""

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
        """Messages of the active thread. With `limit` alone the last ones; with `offset` a page counted from the first."""

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
        """One message by the uuid of any of its lines, wherever in the session it stands."""

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
        """User and assistant rows from the first to the named one, along the parents."""

        def read() -> list[dict[str, Any]]:
            session = self._as_it_is(session_id, project_path)
            rows = session.conversation.tree.ancestors(message_id)
            if not rows:
                raise NotFound(f"session {session.id} has no message {message_id}", slug="no-such-message")
            return _numbered(session.messages([row for row in rows if row.is_message]))

        return await asyncio.to_thread(read)

    async def get_message_counts(self, session_id: str, project_path: str | None = None) -> dict[str, int]:
        """Rows by type, and messages by role in the active thread (`thread.<role>`)."""

        def count() -> dict[str, int]:
            session = self._as_it_is(session_id, project_path)
            roles = Counter(f"thread.{message.role}" for message in session.conversation.messages())
            return dict(session.transcript.types) | dict(roles)

        return await asyncio.to_thread(count)

    async def get_session_stats(self, session_id: str, project_path: str | None = None) -> dict[str, Any]:
        """Numbers of a session: rows, branches, subagents, tool calls, tokens (each API response counted once), times."""
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
        """Append a message; a session (or subagent) that is not there yet begins with it. Returns the row's uuid.

        A session whose subagent speaks first begins empty: the client resumes it once it has a message of its own.
        The project is named by its whole path; a new session needs a folder that exists, for the client to resume it there.
        A session that somebody else uses is refused (StoreBusy) without `force`; what this provider wrote last, it goes on
        with, whoever has the session open.
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
            return self._append(folder, message, session_id, subagent_id, force)  # another task just began it

    def _append(self, folder: str, message: ChatMessage, session_id: str, subagent_id: str | None, force: bool) -> str:
        self.library.refresh()
        is_new = self._home_with(session_id) is None
        if not is_new:
            session = self._session(session_id, folder)
            main = session_writer(session, self.journal, force=force, version=self.client_version, cwd=folder)
        else:
            refuse_missing_folder(folder)  # before a home is made
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
        """A subagent's file without its session is one that neither the client nor a list shows."""
        try:
            change, _ = plan_new_session(self.journal, main.home, main.context.cwd, main.context.session_id)
            with change:
                change.commit()
        except RecollectError:
            if not main.path.exists():  # else another task just began it
                raise

    async def fork_conversation(
        self,
        session_id: str,
        message_id: str | None = None,
        *,
        project_path: str | None = None,
        title: str | None = None,
    ) -> str:
        """A new session with the conversation up to a message (or all of it). Returns its id."""

        def fork() -> str:
            session = self._named(session_id, project_path)
            done = self.changes.fork(session, at=message_id, title=title).commit()
            self.library.refresh()
            return str(done.result["session_id"])

        return await asyncio.to_thread(fork)

    async def update_title(
        self, session_id: str, title: str, *, project_path: str | None = None, force: bool = False
    ) -> None:
        """Give a session a title, which the client shows too. One that somebody else uses is refused without `force`."""

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

        Those of a session that somebody else uses are refused (StoreBusy) without `force`.
        """

        def save() -> list[str]:
            self.library.refresh()
            plan = self.changes.save_todos(session_id, todos, subagent=subagent_id, version=_TODOS_OF_2_0, force=force)
            plan.commit()
            return plan.notes

        return await asyncio.to_thread(save)

    async def reset(self, project_path: str) -> int:
        """Move all sessions of a project to the trash (`recollect undo` brings them back). Returns how many.

        The project is named by its whole path: the last part of one may be that of several projects.
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
            # What may be refused is planned for all homes before anything is done in one of them.
            for plan in [self.changes.delete(group) for group in by_home.values()]:
                plan.commit()
            self.library.refresh()
            return len(found)

        return await asyncio.to_thread(remove)

    def _make_home(self) -> None:
        if not self.home.projects.is_dir():
            make_home(self.home)

    def _named(self, session_id: str, project_path: str | None) -> Session:
        """The session of exactly this id: what changes one must not take another whose title is alike."""

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
        """The session with what was written to it until now, by whomever."""
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
    """The home there; a folder that is new or empty may become one."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        return check_home(path)
    return Home(path)


def _check(message: ChatMessage) -> None:
    """Before a home is made for it, too; the rest is for the writer to refuse."""
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
    # Of one without a row yet (another task may be about to write its first) only the folder tells.
    return not session.summary.cwds and session.file.path.parent == project_folder(session.home, path)
