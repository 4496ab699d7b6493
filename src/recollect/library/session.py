"""Open one session for reading: its bytes, entries, messages, graph and subagents. Nothing is read before it is needed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..errors import NotFound, Unavailable
from ..format.blocks import ToolUseBlock, parse_blocks, text_of
from ..format.decode import file_entries
from ..format.line import HARMLESS, Damage, RawLine, read_lines
from ..format.session_meta import SubagentMeta, parse_subagent_meta
from ..graph.messages import Message, MessageView, join_responses, view_of
from ..graph.rows import Row, Transcript, build_transcript, gc_paused
from ..graph.session import Conversation, Subagent
from ..graph.thread import Thread
from ..store.home import Home
from ..store.layout import without_prefix
from ..store.read import OpenFiles, transcript_of
from ..store.scan import SessionFile, SubagentFile
from ..store.side_files import read_if_there
from ..store.summary import SessionSummary, summarise

if TYPE_CHECKING:
    from ..analysis.cost import Totals
    from ..check.reports import SessionReport
    from .changes import Changes
    from .conversation_shapes import ThreadShape, TreeShape
    from .exporting import ExportResult, ExportTarget
    from .library import Library
    from .plan import Plan
    from .reading import Reading
    from .redaction import Redaction
    from .shapes import BranchShape, SessionFacts, SubagentShape, ToolCalls
    from .side_files import TodoItem
    from .touched_files import TouchedFiles


def _without_library() -> Unavailable:
    return Unavailable(
        "this session was opened without a library", hint="take it from library.session(...)", slug="no-library"
    )


class Session:
    """A session by its main transcript. Cheap to create: files are read when a view needs them.

    Each view opens the files it reads and closes them. To use several views, use the session as a context manager: then each
    file is opened once, and closed at the end.
    """

    def __init__(
        self,
        file: SessionFile,
        summary: SessionSummary | None = None,
        parsed: Callable[[Session], None] | None = None,
        library: Library | None = None,
    ) -> None:
        self.file = file
        self._library = library
        self._summary = summary
        self._parsed = parsed
        """Called after the rows were read, so that a cache can update the session's size."""
        self.redacted_from: Session | None = None
        """The session of which this is a redacted copy."""
        self.redaction: Redaction | None = None
        """What a redacted copy leaves out; None for a session as it is."""
        self._files = OpenFiles(file.home)

    def __enter__(self) -> Session:
        self._files.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._files.__exit__()

    def __repr__(self) -> str:
        return f"Session({self.id!r}, {str(self.file.path)!r})"

    @property
    def id(self) -> str:
        """Return the session's id, a UUID."""
        return self.file.session_id

    @property
    def home(self) -> Home:
        """Return the Claude home that holds the session."""
        return self.file.home

    @cached_property
    def summary(self) -> SessionSummary:
        """Return title, project and times, from the first and last part of the file."""
        if self._summary is not None:
            return self._summary
        if self.file.source is not None:
            return summarise(self.file)
        return summarise(self.file, lambda path: self._files.stream(path, 1 << 16))

    @property
    def library(self) -> Library:
        """Return the library that opened the session. Raises Unavailable if none did."""
        if self._library is None:
            raise _without_library()
        return self._library

    @property
    def usage(self) -> Totals:
        """Sum tokens and cost of the API calls of this session and its subagents, each counted once: see `library.usage`."""
        if self._library is None:
            raise _without_library()
        from .usage import Selection, open_ledger

        return open_ledger(self._library).usage("model", Selection(session=self.id)).totals

    def redacted(
        self, profile: str = "personal", *, same_length: bool = False, progress: Callable[[int], None] | None = None
    ) -> AbstractContextManager[tuple[Session, Redaction]]:
        """Open a copy of this session without its secrets and personal data, for as long as the `with` lasts.

        "secrets" leaves out secrets alone, "personal" also home paths and names of users, hosts and mail, "all" also
        addresses, phones and cards. `progress` is called with the number of bytes read since its last call; all are read twice.
        """
        from .redaction import redacted_session, redactor_for

        redactor = redactor_for(profile, library=self.library, same_length=same_length)
        return redacted_session(self, redactor=redactor, progress=progress)

    # --- changes, as plans: nothing happens before `commit` -----------------------------------------------------------

    @property
    def _changes(self) -> Changes:
        if self._library is None:
            raise _without_library()
        return self._library.changes

    def rename(self, title: str, *, force: bool = False) -> Plan:
        """Plan a new title, which Claude Code shows too."""
        return self._changes.rename(self, title, force=force)

    def tag(self, text: str | None, *, force: bool = False) -> Plan:
        """Plan a tag; None removes the tag."""
        return self._changes.tag(self, text, force=force)

    def rewind(self, message: str, *, force: bool = False) -> Plan:
        """Plan to continue the conversation from a message at the next resume."""
        return self._changes.rewind(self, message, force=force)

    def fork(self, *, at: str | None = None, branch: int | None = None, title: str | None = None) -> Plan:
        """Plan a new session from this conversation, up to a message or of one branch."""
        return self._changes.fork(self, at=at, branch=branch, title=title)

    def append(self, role: str, text: str, *, model: str | None = None, force: bool = False) -> Plan:
        """Plan to append a message to the conversation."""
        return self._changes.append(self, role, text, model=model, force=force)

    def repair(self, *, rules: Sequence[str] = (), fork: bool = False) -> Plan:
        """Plan the fewest changes after which Claude Code resumes with everything that is readable."""
        return self._changes.repair(self, rules=rules, fork=fork)

    def delete(self) -> Plan:
        """Plan to move the session and everything that belongs to it to the trash."""
        return self._changes.delete([self])

    # --- content, in the shapes that every face shows ---------------------------------------------------------------

    @property
    def title(self) -> str | None:
        """Return the title that Claude Code shows, or the first prompt."""
        return self.summary.title

    @property
    def project(self) -> str | None:
        """Return the folder in which the session runs."""
        return self.summary.project

    @property
    def created(self) -> datetime | None:
        """Return when the session began, in UTC."""
        return self.summary.created

    @property
    def last_activity(self) -> datetime | None:
        """Return when the session's last message was written, in UTC."""
        return self.summary.last_activity

    @property
    def facts(self) -> SessionFacts:
        """Return facts that need the whole session: numbers of rows, calls and branches, models, times."""
        from .shapes import session_facts

        return session_facts(self)

    @property
    def branches(self) -> list[BranchShape]:
        """Return the branches that were left by rewinding, and disconnected parts."""
        from .shapes import branch_shapes

        return branch_shapes(self)

    @property
    def subagents(self) -> list[SubagentShape]:
        """Return the subagents of every layout: parents before their children, in the order in which they started."""
        from .shapes import subagent_shapes

        return subagent_shapes(self)

    @property
    def tools(self) -> ToolCalls:
        """Return the tool calls with their results, including those of subagents."""
        from .shapes import ToolCalls

        return ToolCalls(self, self.conversation.tools.calls)

    @property
    def tree(self) -> TreeShape:
        """Return the turns of the conversation, its compactions, and every branch."""
        from .conversation_shapes import tree_shape

        return tree_shape(self)

    def resumed_by(self, client: str) -> ThreadShape:
        """Return every row as a version of Claude Code, one of `CLIENT_VERSIONS`, would resume it."""
        from .conversation_shapes import thread_shape

        return thread_shape(self, client)

    @property
    def todos(self) -> list[TodoItem]:
        """Return the to-do list or the tasks: from their files, else the last list in the transcript."""
        from .side_files import todos_of

        return todos_of(self)

    def files(self) -> TouchedFiles:
        """Return the files that the session touched, with their versions and earlier contents."""
        from .touched_files import TouchedFiles

        return TouchedFiles(self)

    def export(
        self,
        to: ExportTarget = None,
        *,
        format: str | None = None,
        redact: str | bool | None = None,
        force: bool = False,
        **options: Any,
    ) -> ExportResult:
        """Export the session into a file, or to a stream: see `Library.export`. The file's ending names the format."""
        return self.library.export(self, to, format=format, redact=redact, force=force, **options)

    def check(self) -> SessionReport:
        """Check the session by all rules; nothing is changed."""
        from ..check.reports import check_session

        return check_session(self.file)

    def message_uuid(self, reference: str) -> str:
        """Return the uuid of a message, given as `#12`, `line:292`, a uuid or its start, or `last`."""
        from .locate import message_uuid

        return message_uuid(self, reference)

    # --- bytes and entries -------------------------------------------------------------------------------------------

    def lines(self, subagent: str | None = None) -> Iterator[RawLine]:
        """Yield the lines of the main transcript, or of a subagent's file, as bytes."""
        return chain.from_iterable(self._lines_of(path) for path in self._paths(subagent))

    def _lines_of(self, path: Path) -> Iterator[RawLine]:
        with self._files.stream(path) as stream:
            yield from read_lines(stream)

    def entries(self, subagent: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield the entries as plain data, including unknown types and fields."""
        for path in self._paths(subagent):
            with self._files.stream(path) as stream:
                for item in file_entries(stream, []):
                    yield self._files.value_at(path, item.offset, item.length)

    def _paths(self, subagent: str | None) -> list[Path]:
        """Return the files to read; if the main transcript is gone, all subagents that are left."""
        if subagent is not None:
            return [self.subagent_file(subagent).path]
        return [item.path for item in self.file.subagents] if self.file.is_gone else [self.file.path]

    def subagent_file(self, subagent: str) -> SubagentFile:
        """Return a subagent's own file, by the subagent's id or the start of it. Raises NotFound."""
        wanted = without_prefix(subagent)
        found = [item for item in self.file.subagents if item.subagent_id == wanted]
        found = found or [item for item in self.file.subagents if item.subagent_id.startswith(wanted)]
        if len(found) == 1:
            return found[0]
        names = tuple(item.subagent_id for item in (found or self.file.subagents))
        if found:
            raise NotFound(f"{subagent} is the start of several subagents", slug="ambiguous", nearest=names)
        raise NotFound(
            f"session {self.id} has no subagent file {subagent}", slug="no-such-subagent", nearest=names,
            hint="`recollect subagents SESSION` lists them; subagents inside the main file have no file of their own",
        )  # fmt: skip

    # --- graph -------------------------------------------------------------------------------------------------------

    @cached_property
    def transcript(self) -> Transcript:
        """Return the parsed main file; it has no rows if the file is gone."""
        transcript = build_transcript([], []) if self.file.is_gone else self._read_transcript(self.file.path)
        self.__dict__["transcript"] = transcript
        if self._parsed is not None:
            self._parsed(self)
        return transcript

    @cached_property
    def subagent_transcripts(self) -> dict[str, Transcript]:
        """Return the parsed files of the subagents, by subagent id."""
        found = {
            item.subagent_id: self._read_transcript(item.path, number)
            for number, item in enumerate(self.file.subagents, 1)
        }
        self.__dict__["subagent_transcripts"] = found
        if self._parsed is not None:
            self._parsed(self)
        return found

    def _read_transcript(self, path: Path, number: int = 0) -> Transcript:
        with self._files.stream(path) as stream, gc_paused():
            return transcript_of(stream, file=number)

    @cached_property
    def conversation(self) -> Conversation:
        subagents: list[Subagent] = []
        for number, item in enumerate(self.file.subagents, 1):
            meta = self._subagent_meta(item)
            subagents.append(
                Subagent(
                    item.subagent_id, item.layout, self.subagent_transcripts[item.subagent_id].rows, number,
                    meta.tool_use_id if meta else None, meta.parent_subagent_id if meta else None,
                    meta.subagent_type if meta else None, meta.description if meta else None, item.workflow,
                )
            )  # fmt: skip
        return Conversation(self.transcript, subagents, self._prompt_of)

    def _subagent_meta(self, item: SubagentFile) -> SubagentMeta | None:
        return read_if_there(self.home, item.meta_path, parse_subagent_meta) if item.meta_path else None

    @property
    def thread(self) -> Thread:
        """Return the active conversation, as Claude Code resumes it."""
        return self.conversation.thread

    @property
    def damage(self) -> list[Damage]:
        """Return the damage in the main file, without harmless damage."""
        return [item for item in self.transcript.damage if item.kind not in HARMLESS]

    def forget(self) -> None:
        """Drop what was parsed; it is read again when it is needed."""
        for name in ("transcript", "subagent_transcripts", "conversation"):
            self.__dict__.pop(name, None)

    # --- text --------------------------------------------------------------------------------------------------------

    def value(self, row: Row) -> dict[str, Any]:
        """Return the entry of a row as plain data, read back from its file."""
        path = self.file.path if row.file == 0 else self.file.subagents[row.file - 1].path
        return self._files.value_at(path, row.offset, row.length)

    def _content(self, row: Row) -> Any:
        message = self.value(row).get("message")
        return message.get("content") if isinstance(message, dict) else None

    def _prompt_of(self, row: Row) -> str | None:
        """Return the text of a prompt, or the prompt that a call passes on to a subagent."""
        content = self._content(row)
        for block in parse_blocks(content):
            if isinstance(block, ToolUseBlock) and isinstance(block.input, dict):
                prompt = block.input.get("prompt")
                return prompt if isinstance(prompt, str) else None
        return text_of(content)

    def read(self, view: str = "conversation", *, branch: int | None = None, subagent: str | None = None) -> Reading:
        """Read the session in one way: "conversation", "resumed" or "all", or a branch by its number, or a subagent.

        "conversation" is the conversation with everything before its compactions, "resumed" what Claude Code would load on
        resume, "all" every row in file order.
        """
        from .reading import Reading, View

        return Reading(self, View(view, branch, subagent))

    def messages(
        self, rows: list[Row] | None = None, *, offset: int = 0, limit: int | None = None
    ) -> list[MessageView]:
        """Return a page of messages with their text. Only what is on the page is read back from disk."""
        joined = join_responses(self.thread.chain if rows is None else rows)
        return list(views_of(self, joined[offset:] if limit is None else joined[offset : offset + limit]))

    def stream_messages(self, rows: list[Row] | None = None) -> Iterator[MessageView]:
        """Yield all messages; only one of them is in memory at a time."""
        return views_of(self, join_responses(self.thread.chain if rows is None else rows))

    def state(self) -> dict[str, Any]:
        """Return the last state line of each type, as plain data without `type` and `sessionId`."""
        last: dict[str, Any] = {}
        for line in self.transcript.states:
            if line.type is not None and line.type in self.transcript.folded:
                last[line.type] = line
        if not last:
            return {}
        with self._files as files:
            folded = {kind: files.value_at(self.file.path, line.offset, line.length) for kind, line in last.items()}
        return {
            kind: {key: item for key, item in value.items() if key not in ("type", "sessionId")}
            for kind, value in folded.items()
        }


def views_of(session: Session, messages: Iterable[Message], *, longest: int | None = None) -> Iterator[MessageView]:
    """Yield messages of a session with their text. The text of rows longer than `longest` is left out."""
    placements = session.thread.placements
    with session:
        for message in messages:
            first = message.rows[0]
            status = placements[first.index].status if first.file == 0 else "subagent"
            short = [row for row in message.rows if longest is None or row.length <= longest]
            yield view_of(message, [session.value(row) for row in short], status)


def weight_of(session: Session) -> int:
    """Estimate the memory that a parsed session takes, in bytes."""
    rows = len(session.transcript.rows)
    if "subagent_transcripts" in session.__dict__:
        rows += sum(len(item.rows) for item in session.subagent_transcripts.values())
    return 4096 + rows * 700 + len(session.transcript.states) * 150


T = TypeVar("T")


class ByteBoundCache(Generic[T]):
    """Values by key, each with an estimated size. A value larger than the limit is not stored."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.weight = 0
        self._items: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        """Return the value of a key; None if the cache does not have it."""
        with self._lock:
            found = self._items.get(key)
            if found is None:
                return None
            self._items.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: T, weight: int) -> None:
        """Store a value of `weight` bytes, replacing an older one of the same key."""
        with self._lock:
            old = self._items.pop(key, None)
            self.weight -= 0 if old is None else old[1]
            if weight > self.limit:
                return
            self._items[key] = (value, weight)
            self.weight += weight
            while self.weight > self.limit:
                _, (_, freed) = self._items.popitem(last=False)
                self.weight -= freed

    def __len__(self) -> int:
        return len(self._items)
