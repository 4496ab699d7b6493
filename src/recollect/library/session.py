"""One session, opened for reading: its bytes, entries, messages, graph and subagents. Nothing is read before it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import NotFound, Unavailable
from ..format.blocks import Block, ToolUseBlock, parse_blocks, text_of
from ..format.decode import Located
from ..format.entries import Entry, decode_loosely
from ..format.line import HARMLESS, Damage, RawLine
from ..format.subagent_meta import SubagentMeta, parse_subagent_meta
from ..format.usage import Usage, parse_usage
from ..format.versions import is_placeholder
from ..graph.messages import Message, join_responses
from ..graph.rows import Row, Transcript, build_transcript
from ..graph.session import Conversation
from ..graph.subagents import Subagent
from ..graph.thread import Thread
from ..store.home import Home
from ..store.parsed_file import read_if_there
from ..store.read import EntryBytes, read_transcript, stream_entries, stream_lines
from ..store.scan import SessionFile, SubagentFile
from ..store.summary import SessionSummary, summarise

if TYPE_CHECKING:
    from .changes import Changes
    from .library import Library
    from .plan import Plan


@dataclass(slots=True)
class MessageView:
    """A message with its words: what `show` and `get_session_messages` give."""

    uuid: str | None
    role: str
    time: float | None
    blocks: list[Block]
    model: str | None
    status: str
    rows: list[Row]
    usage: Usage | None = None
    lower_bound: bool = False
    """Whether its output tokens are only what the stream said at its start."""

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks if hasattr(block, "text") and isinstance(block.text, str))


class Session:
    """A session by its main transcript. Cheap to make: files are read when a view needs them."""

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
        """Told when the rows were read, so that whoever keeps the session knows what it weighs."""

    def __repr__(self) -> str:
        return f"Session({self.id!r}, {str(self.file.path)!r})"

    @property
    def id(self) -> str:
        return self.file.session_id

    @property
    def home(self) -> Home:
        return self.file.home

    @cached_property
    def summary(self) -> SessionSummary:
        """Title, project, times: from head and tail of the file."""
        return self._summary or summarise(self.file)

    # --- changes, each as a plan that is not made before `commit` -----------------------------------------------------

    @property
    def _changes(self) -> Changes:
        if self._library is None:
            raise Unavailable(
                "this session was opened without a library", hint="take it from library.session(...)", slug="no-library"
            )
        return self._library.changes

    def rename(self, title: str, *, force: bool = False) -> Plan:
        """Plan a new title, which Claude Code shows too."""
        return self._changes.rename(self, title, force=force)

    def tag(self, text: str | None, *, force: bool = False) -> Plan:
        """Plan a tag; None takes the tag away."""
        return self._changes.tag(self, text, force=force)

    def rewind(self, message: str, *, force: bool = False) -> Plan:
        """Plan that the conversation goes on from a message at the next resume."""
        return self._changes.rewind(self, message, force=force)

    def fork(self, *, at: str | None = None, branch: int | None = None, title: str | None = None) -> Plan:
        """Plan a new session of this conversation, up to a message or of one branch."""
        return self._changes.fork(self, at=at, branch=branch, title=title)

    def append(self, role: str, text: str, *, model: str | None = None, force: bool = False) -> Plan:
        """Plan a further message at the end of the conversation."""
        return self._changes.append(self, role, text, model=model, force=force)

    def repair(self, *, rules: Sequence[str] = (), fork: bool = False) -> Plan:
        """Plan the fewest changes after which Claude Code resumes with everything that is readable."""
        return self._changes.repair(self, rules=rules, fork=fork)

    def delete(self) -> Plan:
        """Plan to move the session and everything that belongs to it to the trash."""
        return self._changes.delete([self])

    # --- bytes and entries -------------------------------------------------------------------------------------------

    def lines(self, subagent: str | None = None) -> Iterator[RawLine]:
        """The lines of the main transcript, or of a subagent's file, as bytes."""
        return chain.from_iterable(stream_lines(path, self.home) for path in self._paths(subagent))

    def located(self, subagent: str | None = None, damage: list[Damage] | None = None) -> Iterator[Located[Entry]]:
        """Entries as they are read, with their places. Memory stays bounded whatever the file's size."""
        return chain.from_iterable(stream_entries(path, self.home, damage) for path in self._paths(subagent))

    def entries(self, subagent: str | None = None) -> Iterator[dict[str, Any]]:
        """Entries as plain data, one after the other. Unknown types and fields are all there."""
        damage: list[Damage] = []
        for path in self._paths(subagent):
            with EntryBytes(path, self.home) as source:
                for item in stream_entries(path, self.home, damage):
                    yield source.value_at(item.offset, item.length)

    def _paths(self, subagent: str | None) -> list[Path]:
        """The file that is asked for; of a session whose main transcript is gone, all that is left."""
        if subagent is not None:
            return [self.subagent_file(subagent).path]
        return [item.path for item in self.file.subagents] if self.file.is_gone else [self.file.path]

    def subagent_file(self, subagent: str) -> SubagentFile:
        """A subagent's own file, by its id or the start of it."""
        wanted = subagent.removeprefix("agent-")
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
        """Rows of the main file; none where that is gone."""
        transcript = build_transcript([], []) if self.file.is_gone else read_transcript(self.file.path, self.home)
        self.__dict__["transcript"] = transcript
        if self._parsed is not None:
            self._parsed(self)
        return transcript

    @cached_property
    def subagent_transcripts(self) -> dict[str, Transcript]:
        """Rows of the subagents' own files, by subagent."""
        found = {
            item.subagent_id: read_transcript(item.path, self.home, file=number)
            for number, item in enumerate(self.file.subagents, 1)
        }
        self.__dict__["subagent_transcripts"] = found
        if self._parsed is not None:
            self._parsed(self)
        return found

    @cached_property
    def conversation(self) -> Conversation:
        subagents: list[Subagent] = []
        for number, item in enumerate(self.file.subagents, 1):
            meta = self.subagent_meta(item)
            subagents.append(
                Subagent(
                    item.subagent_id, item.layout, self.subagent_transcripts[item.subagent_id].rows, number,
                    meta.tool_use_id if meta else None, meta.parent_subagent_id if meta else None,
                    meta.subagent_type if meta else None, meta.description if meta else None, item.workflow,
                )
            )  # fmt: skip
        return Conversation(self.transcript, subagents, self._prompt_of)

    def subagent_meta(self, item: SubagentFile) -> SubagentMeta | None:
        return read_if_there(self.home, item.meta_path, parse_subagent_meta) if item.meta_path else None

    @property
    def thread(self) -> Thread:
        return self.conversation.thread

    @property
    def damage(self) -> list[Damage]:
        """What is wrong in the main file, without the harmless."""
        return [item for item in self.transcript.damage if item.kind not in HARMLESS]

    @property
    def weight(self) -> int:
        """About how many bytes of memory the parsed session takes."""
        rows = len(self.transcript.rows)
        if "subagent_transcripts" in self.__dict__:
            rows += sum(len(item.rows) for item in self.subagent_transcripts.values())
        return 4096 + rows * 700 + len(self.transcript.states) * 150

    # --- words -------------------------------------------------------------------------------------------------------

    def value(self, row: Row) -> dict[str, Any]:
        """A row's entry as plain data, read back from its file."""
        path = self.file.path if row.file == 0 else self.file.subagents[row.file - 1].path
        return EntryBytes(path, self.home).value_at(row.offset, row.length)

    def _content(self, row: Row) -> Any:
        message = self.value(row).get("message")
        return message.get("content") if isinstance(message, dict) else None

    def _prompt_of(self, row: Row) -> str | None:
        """The words of a prompt, or the prompt that a call passes on to a subagent."""
        content = self._content(row)
        for block in parse_blocks(content):
            if isinstance(block, ToolUseBlock) and isinstance(block.input, dict):
                prompt = block.input.get("prompt")
                return prompt if isinstance(prompt, str) else None
        return text_of(content)

    def rows_for(
        self, branch: int | None = None, *, everything: bool = False, subagent: str | None = None
    ) -> list[Row]:
        """Rows to show: the thread, all rows, a branch by its number, or a subagent's rows."""
        if subagent is not None:
            return self._subagent_rows(subagent)
        if branch:
            for item in self.conversation.branches:
                if item.number == branch:
                    return self.conversation.branch_rows(item)
            raise NotFound(
                f"session {self.id} has no branch {branch}", slug="no-such-branch",
                hint="`recollect tree SESSION` shows the branches",
            )  # fmt: skip
        if self.file.is_gone:
            return [row for item in self.conversation.subagents for row in item.rows]
        return self.transcript.rows if everything else self.thread.chain

    def _subagent_rows(self, subagent: str) -> list[Row]:
        for item in self.conversation.subagents:
            if item.subagent_id == subagent:
                return item.rows
        raise NotFound(
            f"session {self.id} has no subagent {subagent}", slug="no-such-subagent",
            nearest=tuple(item.subagent_id for item in self.conversation.subagents),
        )  # fmt: skip

    def messages(
        self, rows: list[Row] | None = None, *, offset: int = 0, limit: int | None = None
    ) -> list[MessageView]:
        """A page of messages with their words. Only what is on the page is read back from disk."""
        joined = join_responses(self.thread.chain if rows is None else rows)
        page = joined[offset:] if limit is None else joined[offset : offset + limit]
        return list(self._views(page))

    def stream_messages(self, rows: list[Row] | None = None) -> Iterator[MessageView]:
        """All messages, one after the other; only one is in memory at a time."""
        return self._views(join_responses(self.thread.chain if rows is None else rows))

    def _views(self, messages: list[Message]) -> Iterator[MessageView]:
        sources: dict[int, EntryBytes] = {}
        placements = self.thread.placements
        try:
            for message in messages:
                blocks: list[Block] = []
                usage: Usage | None = None
                placeholder = True
                for row in message.rows:
                    value = self._value_from(sources, row)
                    blocks.extend(blocks_of(value))
                    body = value.get("message")
                    body = body if isinstance(body, dict) else {}
                    told = parse_usage(body.get("usage"))
                    if told is not None:
                        usage = told if usage is None else usage.maximum(told)
                        placeholder = placeholder and is_placeholder(value.get("version"), body.get("stop_reason"))
                first = message.rows[0]
                status = placements[first.index].status if first.file == 0 else "subagent"
                yield MessageView(
                    message.uuid,
                    message.role,
                    message.time,
                    blocks,
                    message.model,
                    status,
                    message.rows,
                    usage,
                    usage is not None and placeholder,
                )
        finally:
            for source in sources.values():
                source.__exit__()

    def _value_from(self, sources: dict[int, EntryBytes], row: Row) -> dict[str, Any]:
        if row.file not in sources:
            path = self.file.path if row.file == 0 else self.file.subagents[row.file - 1].path
            sources[row.file] = EntryBytes(path, self.home).__enter__()
        return sources[row.file].value_at(row.offset, row.length)

    def state(self) -> dict[str, Any]:
        """The state lines folded: the last one of each type, as plain data without `type` and `sessionId`."""
        last: dict[str, Any] = {}
        for line in self.transcript.states:
            if line.type is not None and line.type in self.transcript.folded:
                last[line.type] = line
        if not last:
            return {}
        with EntryBytes(self.file.path, self.home) as source:
            folded = {kind: source.value_at(line.offset, line.length) for kind, line in last.items()}
        return {
            kind: {key: item for key, item in value.items() if key not in ("type", "sessionId")}
            for kind, value in folded.items()
        }


def blocks_of(value: dict[str, Any]) -> list[Block]:
    """What an entry says: its message, or the text of a system row, or the words of an attachment."""
    message = value.get("message")
    if isinstance(message, dict):
        return parse_blocks(message.get("content"))
    content = value.get("content")
    if isinstance(content, (str, list)):
        return parse_blocks(content)
    attachment = value.get("attachment")
    if isinstance(attachment, dict):
        for name in ("content", "prompt", "text", "stdout", "message"):
            if isinstance(attachment.get(name), (str, list)):
                return parse_blocks(attachment[name])
    return []


def decode_raw(data: bytes) -> Any:
    """JSON bytes as plain data, leniently."""
    return decode_loosely(data)
