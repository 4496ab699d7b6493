"""A page of a conversation as the template shows it: messages with their calls, results, diffs, pictures and subagents."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from markupsafe import Markup

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
from ..format.usage import Usage, parse_usage
from ..graph.messages import Message
from ..graph.rows import Row
from ..graph.subagents import Subagent
from ..graph.tool_calls import ToolCall
from ..library.session import MessageView, Session, blocks_of
from ..store.read import EntryBytes
from .differences import DiffLine, diff_of_call
from .rendering import TEXT_LIMIT, code, language_of, markdown, plain, pretty_json, terminal
from .wording import argument_line, model_name

PAGE_MESSAGES: Final = 100
HELD_LINE: Final = 8 << 20
"""A longer line is not decoded for a page: it is named, with a link to its bytes."""
RESULT_LIMIT: Final = 20_000
PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

_LABELS: Final = {
    "user": "You", "assistant": "Claude", "meta": "Client", "summary": "Summary of what was before", "system": "System",
    "attachment": "Attachment", "error": "API error", "tool": "Result", "progress": "Progress",
}  # fmt: skip


@dataclass(slots=True)
class Place:
    """Where a line is: which file of the session, and its number there."""

    file: int
    line: int


@dataclass(slots=True)
class Part:
    """A piece of a message: text, thinking, call, media, unknown, or huge (a line too long to be shown)."""

    kind: str
    body: Markup | str = ""
    call: Call | None = None
    media: Media | None = None
    cut: bool = False
    place: Place | None = None


@dataclass(slots=True)
class Media:
    kind: str
    media_type: str
    bytes: int
    place: Place
    number: int
    """Which of the line's pictures and documents it is."""

    @property
    def is_picture(self) -> bool:
        return self.media_type in PICTURES


@dataclass(slots=True)
class Call:
    id: str
    name: str
    words: str
    arguments: Markup
    result: Markup | None = None
    result_cut: bool = False
    media: list[Media] = field(default_factory=list)
    diff: list[DiffLine] = field(default_factory=list)
    path: str = ""
    is_error: bool = False
    seconds: float | None = None
    subagents: list[Subagent] = field(default_factory=list)
    place: Place | None = None
    result_place: Place | None = None


@dataclass(slots=True)
class Shown:
    """A message on the page."""

    number: int
    """Its position in the conversation, from 1."""
    uuid: str | None
    role: str
    label: str
    time: float | None
    model: str
    status: str
    parts: list[Part]
    places: list[Place]
    usage: Usage | None = None
    cost: int | None = None
    seam: dict[str, Any] | None = None
    branches: list[Any] = field(default_factory=list)
    """Branches that left the conversation after this message."""
    uuids: list[str] = field(default_factory=list)
    """Of its rows, and of the rows that are shown with it: what links may name."""
    last_uuid: str | None = None
    full_model: str = ""
    follows: bool = False
    """It goes on with what the same model said just before."""


class Reader:
    """Turns rows of one session into what the page shows. Files stay open while it is used as a context manager."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.calls: dict[str, ToolCall] = {call.id: call for call in session.conversation.tools.calls}
        self.subagents: dict[str, list[Subagent]] = {}
        for subagent in session.conversation.subagents:
            if subagent.tool_use_id is not None:
                self.subagents.setdefault(subagent.tool_use_id, []).append(subagent)
        self._sources: dict[int, EntryBytes] = {}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._sources.clear()

    def value(self, row: Row) -> dict[str, Any]:
        """A row's entry; empty where it is too long to be held."""
        if row.length > HELD_LINE:
            return {}
        if row.file not in self._sources:
            file = self.session.file
            path = file.path if row.file == 0 else file.subagents[row.file - 1].path
            self._sources[row.file] = self._stack.enter_context(EntryBytes(path, self.session.home))
        return self._sources[row.file].value_at(row.offset, row.length)

    def show(self, messages: list[Message], first: int, branches: dict[str, list[Any]]) -> Iterator[Shown]:
        """The messages of a page; results are shown at their calls, and left out where they stand themselves."""
        known = set(self.calls)
        before: tuple[str, str | None] | None = None
        for number, message in enumerate(messages, first + 1):
            row = message.rows[0]
            own = [item.uuid for item in message.rows if item.uuid]
            left = [branch for uuid in own for branch in branches.get(uuid, ())]
            if message.role == "tool" and set(row.tool_results) <= known and not left:
                continue
            huge = [item for item in message.rows if item.length > HELD_LINE]
            small = [item for item in message.rows if item.length <= HELD_LINE]
            values = [(item, self.value(item)) for item in small]
            parts = [part for item, value in values for part in self._parts(item, value, message.role)]
            parts.extend(Part("huge", str(item.length), place=Place(item.file, item.line)) for item in huge)
            if not parts and message.role in ("attachment", "progress", "system", "meta") and not row.is_boundary:
                parts = [Part("note", plain(row.detail or row.subtype or row.type).replace("_", " ")[:80])]
            uuids = own + self._answers(message)
            label = _LABELS.get(message.role, plain(message.role)[:40])
            if message.role == "user" and row.sidechain:
                label = "Task"
            yield Shown(
                number, message.uuid, message.role, label, message.time, model_name(message.model), self._status(row),
                parts, [Place(item.file, item.line) for item in message.rows], _usage(values),
                seam=_seam(row) if row.is_boundary else None, branches=left, uuids=uuids, last_uuid=own[-1] if own else None,
                full_model=message.model or "", follows=before == (message.role, message.model) == ("assistant", message.model),
            )  # fmt: skip
            before = (message.role, message.model)

    def _answers(self, message: Message) -> list[str]:
        """Rows that are not shown themselves but at their calls on this message: links to them lead here."""
        calls = [self.calls[ident] for row in message.rows for ident, _ in row.tool_uses if ident in self.calls]
        return [call.result.uuid for call in calls if call.result is not None and call.result.uuid is not None]

    def _status(self, row: Row) -> str:
        return self.session.thread.placements[row.index].status if row.file == 0 else "subagent"

    def _parts(self, row: Row, value: dict[str, Any], role: str) -> Iterator[Part]:
        place = Place(row.file, row.line)
        pictures = 0
        for block in blocks_of(value):
            if isinstance(block, MediaBlock):
                yield Part("media", media=_media(block, place, pictures), place=place)
                pictures += 1
            else:
                yield from self._part(block, place, role)

    def _part(self, block: Block, place: Place, role: str) -> Iterator[Part]:
        if isinstance(block, TextBlock):
            if not block.text.strip():
                return
            cut = len(block.text) > TEXT_LIMIT
            if role in ("assistant", "user", "summary"):
                yield Part("text", markdown(block.text), cut=cut, place=place)
            else:
                yield Part("plain", terminal(block.text), cut=cut, place=place)
        elif isinstance(block, ThinkingBlock):
            words = "" if block.redacted else block.thinking
            yield Part("thinking", markdown(words), cut=len(words) > TEXT_LIMIT, place=place)
        elif isinstance(block, ToolUseBlock):
            yield Part("call", call=self._call(block, place), place=place)
        elif isinstance(block, ToolResultBlock):
            if block.tool_use_id not in self.calls:
                yield Part("orphan", terminal(block.text()[:RESULT_LIMIT]), place=place)
        elif isinstance(block, UnknownBlock):
            yield Part("unknown", pretty_json(block.value, RESULT_LIMIT), place=place)

    def _call(self, block: ToolUseBlock, place: Place) -> Call:
        shown = Call(
            block.id, plain(block.name)[:80] or "(no name)", argument_line(block.input), _arguments(block), place=place,
            subagents=self.subagents.get(block.id, []),
        )  # fmt: skip
        call = self.calls.get(block.id)
        if call is None or call.result is None:
            return shown
        row = call.result
        shown.result_place = Place(row.file, row.line)
        shown.is_error, shown.seconds = call.is_error, call.duration
        if row.length > HELD_LINE:
            shown.result, shown.result_cut = Markup(), True
            return shown
        value = self.value(row)
        pictures = 0
        text = ""
        for item in blocks_of(value):
            if not isinstance(item, ToolResultBlock):
                continue
            own = item.tool_use_id == block.id
            text = item.text() if own else text
            for inner in parse_blocks(item.content):
                if isinstance(inner, MediaBlock):
                    if own:
                        shown.media.append(_media(inner, shown.result_place, pictures))
                    pictures += 1
        shown.path, shown.diff = diff_of_call(block.name, block.input, value.get("toolUseResult"), text)
        shown.result_cut = len(text) > RESULT_LIMIT
        shown.result = _result(block, text[:RESULT_LIMIT])
        return shown


def _usage(values: list[tuple[Row, dict[str, Any]]]) -> Usage | None:
    """What the response cost in tokens: its lines joined, field by field the largest."""
    found: Usage | None = None
    for row, value in values:
        body = value.get("message")
        if row.type == "assistant" and isinstance(body, dict):
            told = parse_usage(body.get("usage"))
            if told is not None:
                found = told if found is None else found.maximum(told)
    return found


def media_of(value: dict[str, Any]) -> list[MediaBlock]:
    """Pictures and documents of an entry in order, those inside results too."""
    found: list[MediaBlock] = []
    for block in blocks_of(value):
        if isinstance(block, MediaBlock):
            found.append(block)
        elif isinstance(block, ToolResultBlock):
            found.extend(inner for inner in parse_blocks(block.content) if isinstance(inner, MediaBlock))
    return found


def _media(block: MediaBlock, place: Place, number: int) -> Media:
    return Media(block.type, plain(block.media_type or "")[:60], block.size, place, number)


def _arguments(block: ToolUseBlock) -> Markup:
    value = block.input
    if block.name == "Bash" and isinstance(value, dict) and isinstance(value.get("command"), str):
        return code(value["command"], "bash")
    return pretty_json(value, RESULT_LIMIT)


def _result(block: ToolUseBlock, text: str) -> Markup:
    if block.name == "Read" and isinstance(block.input, dict) and isinstance(block.input.get("file_path"), str):
        return code(text, language_of(block.input["file_path"]))
    return Markup('<pre class="output">{}</pre>').format(terminal(text))


def _seam(row: Row) -> dict[str, Any]:
    data = row.compact if isinstance(row.compact, dict) else {}
    tokens = data.get("preTokens")
    after = data.get("postTokens")
    return {
        "trigger": plain(str(data.get("trigger") or ""))[:40],
        "before": tokens if isinstance(tokens, int) else None,
        "after": after if isinstance(after, int) else None,
    }


def view_text(view: MessageView) -> str:
    """The words of a message with those of its calls, for finding in it."""
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
