"""Prepare a conversation for readers: messages with their calls, the results and edits at their calls, pictures, subagents.

The terminal and the page show these parts. Text from a transcript is unchanged here, so a face must make it harmless before
showing it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..format.blocks import (
    Block,
    MediaBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
    parse_blocks,
)
from ..format.usage import Usage
from ..graph.messages import Message, MessageView, ToolCall, blocks_of, join_responses, usage_of
from ..graph.rows import Row
from ..graph.session import Branch, Conversation, Subagent
from ..store.summary import command_text, typed_text
from .differences import DiffLine, diff_of_call
from .formatting import one_line

ReadEntry = Callable[[Row], dict[str, Any]]
"""Returns the entry of a row as plain data."""

SPEAKERS: Final = {
    "user": "You", "assistant": "Claude", "meta": "Claude Code", "summary": "Summary of what was before", "system": "System",
    "attachment": "Attachment", "error": "API error", "tool": "Result", "progress": "Progress",
}  # fmt: skip
TASK: Final = "Task"
"""The speaker of a subagent's prompts: the call that started the subagent wrote them, not a person."""
_PROMPT_READ: Final = 4000
"""How many characters of a prompt are read to make one line of it."""
PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


@dataclass(slots=True, frozen=True)
class Place:
    """The position of a line: the file of the session (0 is the main one), and the line's number in it."""

    file: int
    line: int


@dataclass(slots=True)
class Media:
    """A picture or a document."""

    kind: str
    media_type: str
    bytes: int
    place: Place
    number: int
    """The position among the line's pictures and documents."""

    @property
    def is_picture(self) -> bool:
        """Return whether browsers show it without running anything."""
        return self.media_type in PICTURES


@dataclass(slots=True)
class ShownCall:
    """A tool call with its result."""

    id: str
    name: str
    arguments: Any
    place: Place
    result: str | None = None
    """The text of the result; None if there is no result."""
    result_is_long: bool = False
    """Whether the line of the result is too long to be read; then `result` is empty."""
    media: list[Media] = field(default_factory=list)
    path: str = ""
    """The file that the call edited; `diff` has what changed."""
    diff: list[DiffLine] = field(default_factory=list)
    is_error: bool = False
    seconds: float | None = None
    subagents: list[Subagent] = field(default_factory=list)
    result_place: Place | None = None


@dataclass(slots=True)
class Part:
    """A piece of a message.

    `kind` is text (of a person or a model), plain (other text), thinking, call, orphan (a result without a call), media,
    unknown, long (a line too long to be read; `value` is its length), or note (what a row without text is).
    """

    kind: str
    text: str = ""
    place: Place | None = None
    call: ShownCall | None = None
    media: Media | None = None
    value: Any = None


@dataclass(slots=True)
class Seam:
    """A compaction: what is above was replaced by a summary."""

    trigger: str | None
    tokens_before: int | None
    tokens_after: int | None


@dataclass(slots=True)
class ShownMessage:
    """A message as readers see it."""

    number: int
    """The position in the conversation, from 1."""
    uuid: str | None
    role: str
    speaker: str
    seconds: float | None
    model: str | None
    status: str
    parts: list[Part]
    places: list[Place]
    usage: Usage | None = None
    lower_bound: bool = False
    """Whether the output tokens are only what the stream reported at its start."""
    cost: int | None = None
    """Micro-dollars, if the message was priced."""
    seam: Seam | None = None
    branches: list[Branch] = field(default_factory=list)
    """Branches that left the conversation after this message."""
    uuids: list[str] = field(default_factory=list)
    """The uuids of the message's rows, and of the results that are shown with it: links may name them."""
    last_uuid: str | None = None
    follows: bool = False
    """Whether the model continues what it said just before."""


class ConversationReader:
    """Prepares the messages of one session for readers. A row longer than `longest` is listed but not read.

    Without `results`, the results of calls are not read: for readers to whom calls are not shown.
    """

    def __init__(
        self, conversation: Conversation, entry: ReadEntry, *, longest: int | None = None, results: bool = True
    ) -> None:
        self._conversation = conversation
        self._read = entry
        self._longest = longest
        self._results = results
        self._calls: dict[str, ToolCall] = {call.id: call for call in conversation.tools.calls}
        self._subagents: dict[str, list[Subagent]] = {}
        for subagent in conversation.subagents:
            if subagent.tool_use_id is not None:
                self._subagents.setdefault(subagent.tool_use_id, []).append(subagent)

    def show(
        self, messages: Sequence[Message], first: int = 0, branches: Mapping[str, list[Branch]] | None = None
    ) -> Iterator[ShownMessage]:
        """Prepare messages for readers; `first` messages come before them. Results are shown only at their calls.

        `branches` are the branches to link to, by the row after which they left.
        """
        return self.show_numbered(enumerate(messages, first + 1), branches)

    def talk(self, subagent: Subagent) -> Iterator[ShownMessage]:
        """Prepare the conversation of a subagent."""
        return self.show(join_responses(subagent.rows))

    def show_numbered(
        self, messages: Iterable[tuple[int, Message]], branches: Mapping[str, list[Branch]] | None = None
    ) -> Iterator[ShownMessage]:
        """Prepare messages that were chosen from a conversation, each with its number in it."""
        before: tuple[str, str | None] | None = None
        for number, message in messages:
            own = [row.uuid for row in message.rows if row.uuid]
            left = [branch for uuid in own for branch in (branches or {}).get(uuid, ())]
            if self.is_shown_at_calls(message) and not left:
                continue
            yield self._shown(number, message, own, left, before)
            before = (message.role, message.model)

    def _shown(
        self, number: int, message: Message, own: list[str], left: list[Branch], before: tuple[str, str | None] | None
    ) -> ShownMessage:
        row = message.rows[0]
        entries = [(item, {} if self._is_long(item) else self._read(item)) for item in message.rows]
        parts = [part for item, entry in entries for part in self._parts(item, entry, message.role)]
        if not parts and message.role in ("attachment", "progress", "system", "meta") and not row.is_boundary:
            parts = [Part("note", (row.detail or row.subtype or row.type).replace("_", " ")[:80])]
        usage, lower_bound = usage_of(entry for item, entry in entries if item.type == "assistant")
        return ShownMessage(
            number, message.uuid, message.role, self._speaker(message), message.time, message.model, self._status(row),
            parts, [Place(item.file, item.line) for item in message.rows], usage, lower_bound,
            seam=_seam(row) if row.is_boundary else None, branches=left, uuids=own + self._answers(message),
            last_uuid=own[-1] if own else None,
            follows=message.role == "assistant" and before == (message.role, message.model),
        )  # fmt: skip

    def _is_long(self, row: Row) -> bool:
        return self._longest is not None and row.length > self._longest

    def is_shown_at_calls(self, message: Message) -> bool:
        """Return whether a message holds only results of calls that are known."""
        return message.role == "tool" and all(
            set(row.block_types) <= {"tool_result"} and self._calls.keys() >= set(row.tool_results)
            for row in message.rows
        )

    def _answers(self, message: Message) -> list[str]:
        """Return the uuids of results that are shown at the calls of this message: links to them lead here."""
        calls = [self._calls[ident] for row in message.rows for ident, _ in row.tool_uses if ident in self._calls]
        return [call.result.uuid for call in calls if call.result is not None and call.result.uuid is not None]

    def _speaker(self, message: Message) -> str:
        row = message.rows[0]
        if message.role == "user" and (row.sidechain or row.file):
            return TASK
        return SPEAKERS.get(message.role, message.role[:40])

    def _status(self, row: Row) -> str:
        return self._conversation.thread.placements[row.index].status if row.file == 0 else "subagent"

    def _parts(self, row: Row, entry: dict[str, Any], role: str) -> Iterator[Part]:
        place = Place(row.file, row.line)
        if self._is_long(row):
            yield Part("long", place=place, value=row.length)
        pictures = 0
        for block in blocks_of(entry):
            if isinstance(block, MediaBlock):
                yield Part("media", place=place, media=_media(block, place, pictures))
                pictures += 1
            else:
                pictures += _pictures_inside(block)
                yield from self._part(block, place, role)

    def _part(self, block: Block, place: Place, role: str) -> Iterator[Part]:
        if isinstance(block, TextBlock):
            if block.text.strip():
                yield Part("text" if role in ("assistant", "user", "summary") else "plain", block.text, place)
        elif isinstance(block, ThinkingBlock):
            yield Part("thinking", "" if block.redacted else block.thinking, place)
        elif isinstance(block, ToolUseBlock):
            yield Part("call", place=place, call=self._call(block, place))
        elif isinstance(block, ToolResultBlock):
            if block.tool_use_id not in self._calls:
                yield Part("orphan", block.text(), place)
        elif isinstance(block, UnknownBlock):
            yield Part("unknown", block.type or "", place, value=block.value)

    def _call(self, block: ToolUseBlock, place: Place) -> ShownCall:
        shown = ShownCall(block.id, block.name, block.input, place, subagents=self._subagents.get(block.id, []))
        call = self._calls.get(block.id)
        if call is None or call.result is None or not self._results:
            return shown
        row = call.result
        shown.result_place = Place(row.file, row.line)
        shown.is_error, shown.seconds = call.is_error, call.duration
        shown.result, shown.result_is_long = "", self._is_long(row)
        if shown.result_is_long:
            return shown
        entry = self._read(row)
        pictures = 0
        for item in blocks_of(entry):
            if not isinstance(item, ToolResultBlock):
                pictures += isinstance(item, MediaBlock)
                continue
            own = item.tool_use_id == block.id
            shown.result = item.text() if own else shown.result
            for inner in parse_blocks(item.content):
                if isinstance(inner, MediaBlock):
                    if own:
                        shown.media.append(_media(inner, shown.result_place, pictures))
                    pictures += 1
        shown.path, shown.diff = diff_of_call(block.name, block.input, entry.get("toolUseResult"), shown.result)
        return shown


def media_of(entry: dict[str, Any]) -> list[MediaBlock]:
    """Return the pictures and documents of an entry in order, including those inside results."""
    found: list[MediaBlock] = []
    for block in blocks_of(entry):
        if isinstance(block, MediaBlock):
            found.append(block)
        elif isinstance(block, ToolResultBlock):
            found.extend(inner for inner in parse_blocks(block.content) if isinstance(inner, MediaBlock))
    return found


def _pictures_inside(block: Block) -> int:
    """Return how many pictures and documents a result holds."""
    if not isinstance(block, ToolResultBlock):
        return 0
    return sum(isinstance(inner, MediaBlock) for inner in parse_blocks(block.content))


def words_of(view: MessageView) -> str:
    """Return the text of a message with that of its calls and results, for a search in it."""
    parts: list[str] = []
    for block in view.blocks:
        if isinstance(block, TextBlock):
            parts.append(block.text)
        elif isinstance(block, ThinkingBlock):
            parts.append(block.thinking)
        elif isinstance(block, ToolUseBlock):
            parts.append(f"{block.name} {block.input}")
        elif isinstance(block, ToolResultBlock):
            parts.append(block.text())
    return "\n".join(parts)


def prompt_line(entry: dict[str, Any], width: int = 80) -> str | None:
    """Return the prompt of an entry in one line, a slash command by its name; None if there is no text."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if content is None:
        return None
    return one_line((typed_text(content) or command_text(content) or "")[:_PROMPT_READ], width) or None


def _media(block: MediaBlock, place: Place, number: int) -> Media:
    return Media(block.type, (block.media_type or "")[:60], block.size, place, number)


def _seam(row: Row) -> Seam:
    data = row.compact if isinstance(row.compact, dict) else {}
    before, after = data.get("preTokens"), data.get("postTokens")
    return Seam(
        str(data["trigger"])[:40] if data.get("trigger") else None,
        before if isinstance(before, int) else None,
        after if isinstance(after, int) else None,
    )
