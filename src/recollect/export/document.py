"""One session, ready to be exported: its facts, and its messages at the chosen depth and range, one at a time.

Every format writes a `Document`, so depth, range, branches, times and what is left out mean the same in all of them:

    document = Document(session, ExportOptions(depth="tools", last=20))
    for message in document.messages():        # a ShownMessage: results stand at their calls
        for part in message.parts:
            for subagent in document.subagents_of(part):
                ... document.subagent_messages(subagent)
    for branch in document.branches:
        ... document.branch_messages(branch)

Text is unchanged here: it is a stranger's, and each format must make it harmless. A document can be read several times, and
keeps no message in memory.
"""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from ..analysis.zones import Zone, zone_named
from ..errors import NotFound
from ..format.blocks import one_line
from ..format.line import HARMLESS, Damage, RawLine
from ..format.times import to_datetime
from ..format.usage import Usage
from ..graph.messages import Message, join_responses, usage_of
from ..graph.rows import Row, Transcript
from ..graph.session import Branch, Conversation, Subagent
from .conversation import ConversationReader, Media, Part, Place, ShownMessage, media_of
from .formatting import plural, size

if TYPE_CHECKING:
    from ..store.scan import SessionFile
    from ..store.summary import SessionSummary

Depth = Literal["prompts", "conversation", "tools", "all"]
DEPTHS: Final[tuple[Depth, ...]] = ("prompts", "conversation", "tools", "all")
"""Only prompts; prompts and answers; also tool calls with their results and subagents; also thinking and everything else."""
View = Literal["thread", "history", "all"]
VIEWS: Final[tuple[View, ...]] = ("thread", "history", "all")
"""What Claude Code would load on resume; that and everything before its compactions; every row in file order."""
Pictures = Literal["none", "inline", "files"]
LONGEST_LINE: Final = 32 << 20
"""A longer line is named, not decoded: it alone would take more memory than an export may."""
DEEPEST_SUBAGENT: Final = 6
"""How deep subagents of subagents are nested in formats for people."""
_ROLES: Final = {
    "prompts": {"user"},
    "conversation": {"user", "assistant", "summary", "error"},
    "tools": {"user", "assistant", "summary", "error", "tool"},
}
"""The roles that each depth shows; "all" shows every role."""
_KINDS: Final = {
    "prompts": {"text", "plain", "media", "long"},
    "conversation": {"text", "plain", "media", "long"},
    "tools": {"text", "plain", "media", "long", "call", "orphan", "unknown"},
}
_THINKING: Final = ("thinking", "redacted_thinking")
DAMAGED: Final = "damage"
"""The role of a message that stands for a damaged line."""


class OpenSession(Protocol):
    """What a document needs of a session; `library.Session` is one."""

    @property
    def id(self) -> str: ...
    @property
    def file(self) -> SessionFile: ...
    @property
    def summary(self) -> SessionSummary: ...
    @property
    def conversation(self) -> Conversation: ...
    @property
    def transcript(self) -> Transcript: ...
    @property
    def subagent_transcripts(self) -> dict[str, Transcript]: ...

    def value(self, row: Row, /) -> dict[str, Any]: ...
    def lines(self, subagent: str | None = None) -> Iterator[RawLine]: ...
    def __enter__(self) -> AbstractContextManager[Any]: ...
    def __exit__(self, *_: object) -> None: ...


@dataclass(frozen=True)
class ExportOptions:
    """What to export of a session, and how."""

    depth: Depth = "tools"
    view: View = "history"
    last: int | None = None
    """Only the last N of the messages that this depth shows."""
    start: int | str | None = None
    """The first message: its number in the view (from 1), or its uuid."""
    end: int | str | None = None
    """The last message, included."""
    message: str | None = None
    """Only the message with this uuid."""
    branches: bool = False
    """Whether branches that left the conversation are exported too."""
    costs: bool = False
    """Whether tokens and cost are written."""
    pictures: Pictures | None = None
    """None: what the format does by itself."""
    timezone: str = "UTC"
    stamp: datetime | None = None
    """The moment of the export, if it shall be written: without it, the same session gives the same bytes."""
    front_matter: bool = False
    single: bool = False
    """One file, however large it becomes."""

    @property
    def is_whole(self) -> bool:
        """Return whether every message of the view is exported."""
        return self.last is None and self.start is None and self.end is None and self.message is None


@dataclass(frozen=True)
class Redaction:
    """What was replaced in a session before it was exported."""

    profile: str
    """secrets, personal or all."""
    count: int
    """How many different values."""
    kinds: dict[str, int]

    def words(self) -> str:
        """Say how much was replaced and of which kinds, for the top of a file."""
        wanted = "secrets" if self.profile == "secrets" else "secrets and personal data"
        if not self.count:
            return f"Searched for {wanted}: nothing was found."
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(self.kinds.items()))
        return f"{plural(self.count, 'value')} redacted: {kinds}."


@dataclass
class Totals:
    """Tokens and cost of a session with its subagents; each API response counts once."""

    usage: Usage = field(default_factory=Usage)
    responses: int = 0
    cost: int | None = 0
    """Micro-dollars of the responses whose price is known."""
    unpriced: int = 0
    lower_bounds: int = 0
    """Responses whose output tokens are only what the stream reported at its start."""


@dataclass
class _Counts:
    """What the depth leaves out of some messages."""

    of: Counter[str] = field(default_factory=Counter)

    def add(self, message: Message, depth: str, *, kept: bool) -> None:
        kinds = [kind for row in message.rows for kind in row.block_types]
        if depth != "all":
            self.of["thinking"] += sum(kind in _THINKING for kind in kinds)
        if depth in ("prompts", "conversation"):
            self.of["call"] += sum(len(row.tool_uses) for row in message.rows)
        if not kept and message.role == "assistant" and "text" in kinds:
            self.of["answer"] += 1
        elif not kept and message.role in ("summary", "error"):
            self.of[message.role] += 1
        elif not kept and message.role not in ("assistant", "tool", "user") and not message.rows[0].is_boundary:
            self.of["notice"] += 1


class Document:
    """A session as one export shows it."""

    def __init__(
        self, session: OpenSession, options: ExportOptions | None = None, *, redaction: Redaction | None = None
    ) -> None:
        self.session = session
        self.options = options or ExportOptions()
        self.redaction = redaction
        """What was redacted; None if the session is exported as it is."""
        self.noticed: Counter[str] = Counter()
        """What a format left out while it wrote, in words, and how often: see `leave_out`."""
        self.zone: Zone = zone_named(self.options.timezone)

    @cached_property
    def _reader(self) -> ConversationReader:
        calls = self.options.depth in ("tools", "all")
        return ConversationReader(
            self.session.conversation, self.session.value, longest=LONGEST_LINE, results=calls
        )  # fmt: skip

    # --- facts -------------------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        return self.session.id

    @property
    def title(self) -> str:
        """Return the title in one line; the session's id if it has no title."""
        return one_line(self.session.summary.title, 200) or self.id

    @property
    def project(self) -> str | None:
        return self.session.summary.project

    @cached_property
    def started(self) -> float | None:
        """Return when the first row was written, in seconds since 1970."""
        created = self.session.summary.created
        first = created.timestamp() if created is not None else None
        return min(self._times, default=first)

    @cached_property
    def ended(self) -> float | None:
        """Return when the last row was written, in seconds since 1970."""
        return max(self._times, default=None)

    @cached_property
    def _times(self) -> list[float]:
        return [time for row in self._rows if (time := row.time) is not None]

    @cached_property
    def models(self) -> list[str]:
        """Return the models that answered, the most frequent first."""
        found = Counter(row.model for row in self._rows if row.model and row.model != "<synthetic>")
        return [str(model) for model, _ in sorted(found.items(), key=lambda item: (-item[1], str(item[0])))]

    @property
    def subagents(self) -> list[Subagent]:
        return self.session.conversation.subagents

    @property
    def branches(self) -> list[Branch]:
        """Return the branches to write: none if they are not wanted, or if every row is written anyway."""
        return self.session.conversation.branches if self._has_branches else []

    @property
    def _has_branches(self) -> bool:
        return self.options.branches and self.options.view != "all" and self.options.is_whole

    @cached_property
    def totals(self) -> Totals:
        """Sum tokens and cost of the main transcript and its subagents. Reads every answer."""
        return _totals(self.session)

    def cost(self, model: str | None, seconds: float | None, usage: Usage) -> int | None:
        """Return the cost of an answer in micro-dollars, if costs are wanted and its price is known."""
        return _cost(model, seconds, usage) if self.options.costs else None

    def moment(self, seconds: float | None) -> str:
        """Write a moment in the zone of the export, to the minute: ``2026-03-02 14:30``; empty if it is not known."""
        if seconds is None or to_datetime(seconds) is None:
            return ""
        return self.zone.local(round(seconds * 1_000_000)).strftime("%Y-%m-%d %H:%M")

    def day(self, seconds: float | None) -> str:
        """Write the day of a moment in the zone of the export: ``2026-03-02``."""
        return self.moment(seconds)[:10]

    # --- messages ----------------------------------------------------------------------------------------------------

    def messages(self) -> Iterator[ShownMessage]:
        """Yield the messages of the chosen view, range and depth, with damaged lines where they stand."""
        with self.session:
            damage = self._damage_of(0) if self.options.is_whole and self.options.view != "thread" else []
            yield from self._shown(self._chosen, damage)

    def whole_messages(self) -> Iterator[tuple[int, Message]]:
        """Yield the messages of the range with their numbers as rows, for formats that write what stands in the file."""
        for message in self._chosen:
            yield self._numbers[id(message)], message

    def whole_messages_of(self, rows: Sequence[Row]) -> Iterator[tuple[int, Message]]:
        """Yield the messages of a subagent or a branch as rows."""
        yield from enumerate(self._kept(rows), 1)

    @property
    def count(self) -> int:
        """Return how many messages `messages` yields, damaged lines not counted."""
        return len(self._chosen)

    def subagents_of(self, part: Part) -> list[Subagent]:
        """Return the subagents that a call started and whose rows are known."""
        if part.call is None or self.session.file.is_gone:
            return []
        return [item for item in part.call.subagents if item.rows]

    @cached_property
    def loose_subagents(self) -> list[Subagent]:
        """Return the subagents that hang on no call: a format writes them after the messages."""
        if self.session.file.is_gone or not self.options.is_whole or self.options.depth not in ("tools", "all"):
            return []
        calls = {call.id for call in self.session.conversation.tools.calls}
        return [item for item in self.subagents if item.rows and item.tool_use_id not in calls]

    def subagent_messages(self, subagent: Subagent) -> Iterator[ShownMessage]:
        """Yield the messages of a subagent at the depth of the export."""
        with self.session:
            yield from self._shown(self._kept(subagent.rows), self._damage_of(subagent.file) if subagent.file else [])

    def branch_messages(self, branch: Branch) -> Iterator[ShownMessage]:
        """Yield the messages of a branch from where it left the conversation."""
        with self.session:
            yield from self._shown(self._kept(branch.rows), [])

    def media_bytes(self, media: Media) -> bytes | None:
        """Return the bytes of a picture or a document; None if the transcript does not hold them."""
        for row in self._rows_at.get((media.place.file, media.place.line), ()):
            found = media_of(self.session.value(row))
            if media.number < len(found):
                source = found[media.number].source
                data = source.get("data") if isinstance(source, dict) else None
                if not isinstance(data, str):
                    return None
                if source.get("type") == "text":
                    return data.encode("utf-8", "replace")
                try:
                    return base64.b64decode(data, validate=False)
                except (binascii.Error, ValueError):
                    return None
        return None

    # --- what is left out --------------------------------------------------------------------------------------------

    def leave_out(self, words: str) -> None:
        """Note that a format left something out while it wrote, for the report of the export."""
        self.noticed[words] += 1

    @cached_property
    def left_out(self) -> list[str]:
        """Say in words what depth, range and limits leave out, known before anything is written."""
        counts = _Counts()
        for message in self._range:
            counts.add(message, self.options.depth, kept=self._is_shown(message))
        found = [] if self.options.is_whole else [_missing(len(self._view), len(self._range))]
        words = {
            "call": "tool call", "thinking": "thinking block", "answer": "answer", "summary": "summary",
            "error": "API error", "notice": "system message or attachment",
        }  # fmt: skip
        many = {"summary": "summaries", "notice": "system messages and attachments"}
        found += [plural(counts.of[name], word, many.get(name)) for name, word in words.items() if counts.of[name]]
        if self.options.depth in ("prompts", "conversation") and any(item.rows for item in self.subagents):
            found.append(plural(sum(bool(item.rows) for item in self.subagents), "subagent"))
        branches = self.session.conversation.branches
        if branches and not self._has_branches and self.options.view != "all" and not self.session.file.is_gone:
            found.append(plural(len(branches), "branch", "branches"))
        before = self.session.conversation.thread.summarised
        if self.options.view == "thread" and before:
            found.append(f"{plural(len(before), 'row')} before the last compaction")
        long = [row for message in self._range for row in message.rows if row.length > LONGEST_LINE]
        found += [f"a line of {size(row.length)} (line {row.line})" for row in long]
        return [words for words in found if words]

    def all_left_out(self) -> list[str]:
        """Say everything that was left out, with what the format noted: complete once the document was written."""
        return [
            *self.left_out,
            *(f"{words} ({number}×)" if number > 1 else words for words, number in self.noticed.items()),
        ]

    @cached_property
    def damage(self) -> list[Damage]:
        """Return the damage in the main transcript, without harmless damage."""
        return self._damage_of(0)

    # --- choosing ----------------------------------------------------------------------------------------------------

    @cached_property
    def _rows(self) -> list[Row]:
        """Return all rows of the view."""
        session = self.session
        if session.file.is_gone:
            return [row for item in session.conversation.subagents for row in item.rows]
        if self.options.view == "all":
            return session.transcript.rows
        return (
            session.conversation.thread.chain if self.options.view == "thread" else session.conversation.full_history()
        )

    @cached_property
    def _view(self) -> list[Message]:
        return join_responses(self._rows)

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {id(message): number for number, message in enumerate(self._view, 1)}

    @cached_property
    def _range(self) -> list[Message]:
        """Return the messages of the view between first and last message, of every depth."""
        options, found = self.options, self._view
        if options.message is not None:
            place = self._place(options.message)
            return found[place : place + 1]
        start = 0 if options.start is None else self._place(options.start)
        end = len(found) if options.end is None else self._place(options.end) + 1
        found = found[start:end]
        if options.last is None:
            return found
        shown = [place for place, message in enumerate(found) if self._is_shown(message)]
        return found[shown[-options.last] :] if 0 < options.last <= len(shown) else found if options.last else []

    @cached_property
    def _chosen(self) -> list[Message]:
        return [message for message in self._range if self._is_shown(message)]

    def _kept(self, rows: Sequence[Row]) -> list[Message]:
        return [message for message in join_responses(rows) if self._is_shown(message)]

    def _place(self, wanted: int | str) -> int:
        """Return the position (from 0) of a message by its number or uuid; a result stands at its call."""
        if isinstance(wanted, int):
            return max(wanted - 1, 0)
        place = self._places.get(wanted)
        if place is None:
            raise NotFound(
                f"session {self.id} has no message {wanted[:80]} in this view", slug="no-such-message",
                hint="--all-rows exports every row of the file",
            )  # fmt: skip
        return place

    @cached_property
    def _places(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for number, message in enumerate(self._view):
            for row in message.rows:
                if row.uuid is not None:
                    found.setdefault(row.uuid, number)
        for call in self.session.conversation.tools.calls:
            if call.result is not None and call.result.uuid is not None and call.call.uuid in found:
                found[call.result.uuid] = found[call.call.uuid]
        return found

    def _is_shown(self, message: Message) -> bool:
        """Return whether the depth shows anything of a message; decided by its rows alone, nothing is read."""
        depth = self.options.depth
        if self._reader.is_shown_at_calls(message):
            return any(row.uuid is not None and row.uuid in self._left_at for row in message.rows)
        if message.rows[0].is_boundary:
            return depth != "prompts"
        if depth == "all":
            return True
        if message.role not in _ROLES[depth]:
            return False
        if message.role != "assistant":
            return True
        kinds = {kind for row in message.rows for kind in row.block_types}
        silent = {*_THINKING, "tool_use"} if depth == "conversation" else set(_THINKING)
        return not kinds or not kinds <= silent

    def _shown(self, messages: Iterable[Message], damage: list[Damage]) -> Iterator[ShownMessage]:
        """Prepare messages; a damaged line stands before the first message that comes after it in its file."""
        waiting = sorted(damage, key=lambda item: item.line, reverse=True)
        chosen = list(messages)
        numbers = [self._numbers.get(id(message), place) for place, message in enumerate(chosen, 1)]
        for shown in self._reader.show_numbered(zip(numbers, chosen, strict=True), self._left_at):
            while waiting and shown.places and waiting[-1].line <= shown.places[0].line:
                yield _damaged(waiting.pop(), shown.places[0].file)
            if self.options.depth != "all":
                kinds = _KINDS[self.options.depth]
                shown.parts = [part for part in shown.parts if part.kind in kinds]
            if shown.usage is not None:
                shown.cost = self.cost(shown.model, shown.seconds, shown.usage)
            if shown.parts or shown.seam is not None or shown.role == "user" or shown.branches:
                yield shown
        while waiting:
            yield _damaged(waiting.pop(), 0)

    def _damage_of(self, file: int) -> list[Damage]:
        if file == 0:
            found = self.session.transcript.damage
        else:
            found = self.session.subagent_transcripts[self.session.file.subagents[file - 1].subagent_id].damage
        return [item for item in found if item.kind not in HARMLESS]

    @cached_property
    def _left_at(self) -> dict[str, list[Branch]]:
        """Return the branches to write, by the row after which they left."""
        found: dict[str, list[Branch]] = {}
        for branch in self.branches:
            if branch.left_at is not None:
                found.setdefault(branch.left_at, []).append(branch)
        return found

    @cached_property
    def _rows_at(self) -> dict[tuple[int, int], list[Row]]:
        found: dict[tuple[int, int], list[Row]] = {}
        for transcript in (self.session.transcript, *self.session.subagent_transcripts.values()):
            for row in transcript.rows:
                found.setdefault((row.file, row.line), []).append(row)
        return found


def _missing(whole: int, chosen: int) -> str:
    left = whole - chosen
    return f"{plural(left, 'message')} outside of the chosen range" if left else ""


def _damaged(damage: Damage, file: int) -> ShownMessage:
    place = Place(file, damage.line)
    words = f"line {damage.line}: {damage.meaning or damage.kind} ({plural(damage.length, 'byte')})"
    return ShownMessage(0, None, DAMAGED, "Damaged line", None, None, "", [Part("note", words, place)], [place])


def _cost(model: str | None, seconds: float | None, usage: Usage) -> int | None:
    from ..analysis.cost import message_cost
    from ..analysis.prices.book import price_book

    return message_cost(price_book(), model, seconds, usage)


def _totals(session: OpenSession) -> Totals:
    """Sum the tokens of a session; copies of a response in a subagent's file count once."""
    rows = [session.transcript.rows, *(item.rows for item in session.conversation.subagents if item.file)]
    answers = [row for part in rows for row in part if row.type == "assistant" and not row.is_api_error]
    responses: dict[str, list[Row]] = {}
    for row in answers:
        if row.model != "<synthetic>":
            responses.setdefault(row.message_id or f"{row.file}:{row.line}", []).append(row)
    total = Totals()
    with session:
        for response in responses.values():
            usage, lower_bound = usage_of(session.value(row) for row in response if row.length <= LONGEST_LINE)
            if usage is None:
                continue
            total.responses += 1
            total.lower_bounds += lower_bound
            cost = _cost(response[0].model, response[0].time, usage)
            total.unpriced += cost is None
            total.cost = (total.cost or 0) + (cost or 0)
            total.usage = _sum(total.usage, usage)
    return total


def _sum(total: Usage, item: Usage) -> Usage:
    return Usage(
        total.input_tokens + item.input_tokens, total.output_tokens + item.output_tokens,
        total.cache_write_5m + item.cache_write_5m, total.cache_write_1h + item.cache_write_1h,
        total.cache_read + item.cache_read, total.web_searches + item.web_searches, total.odd or item.odd,
    )  # fmt: skip
