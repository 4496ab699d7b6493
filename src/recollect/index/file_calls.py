"""The API calls of one file, line by line: lines of one call are joined, the largest of each count stays."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from mmap import mmap
from typing import Any, Final

from ..format.entries import REFUSED
from ..format.times import parse_time
from .call_lines import (
    NEEDLE,
    AnswerHead,
    CacheWrites,
    CallLine,
    Iteration,
    UsageHead,
    decode_call_line,
    patient_lines,
)
from .call_packs import COUNTS, FLAGS, INPUT, OUTPUT, STOP, TIME, Columns, Row
from .system_search import WORTH, Search

LOWER_BOUND: Final = 1
ODD: Final = 2
PROGRESS: Final = 4
ADVISOR: Final = 8
COPIED: Final = 16

COST_STATE: Final = b'{"type":"cost-state"'
_NEEDLE: Final = len(NEEDLE)
_SPAN: Final = 160
"""Bytes of a line that are looked at first: the names of a usage's counts follow each other within fewer."""
_SLACK: Final = 24
"""Bytes by which the counts of one line may begin earlier than those of the line before."""

#: One call while it grows: a row of a pack as a list.
Call = list[Any]
#: Message, request, model.
CallKey = tuple[str, str, str]
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_read_time: Final = datetime.fromisoformat


def microseconds(text: str | None) -> int | None:
    """A timestamp as whole microseconds, cut to milliseconds; None for what is no date."""
    if text is None:
        return None
    try:
        since = datetime.fromisoformat(text) - _EPOCH
    except (ValueError, TypeError):  # without a zone, or as only mail headers have it
        seconds = parse_time(text)
        return None if seconds is None else round(seconds * 1000) * 1000
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds // 1000 * 1000


class FileCalls:
    """Gathers the calls of one file. `session_id` and `agent_id` are those of its name; `numbers` are those of texts."""

    def __init__(self, session_id: str | None, agent_id: str | None, numbers: Mapping[Any, int | None]) -> None:
        self.calls: dict[CallKey, Call] = {}
        self.session_id = session_id
        self.agent_id = agent_id
        self.told_session: str | None = None
        """The session that the lines name: of sub-agents beside their session the only hint."""
        self.cost_state: tuple[int, int] | None = None
        """Where in the buffer the last of the client's own counts stands; to be fetched before the buffer is filled again."""
        self.decoded = 0
        self._numbers = numbers
        self._reach = _SPAN
        """How many bytes before its end the line before had token counts: the next one has them about there, if it has any."""
        #: Tier, speed, place, branch and folder of the call before, and their numbers.
        self._texts: tuple[str | None, ...] = (None,) * 5
        self._text_numbers: tuple[int | None, ...] = (None,) * 5
        #: The line before: message, usage, request, model, and the call it belongs to.
        self._last: tuple[str | None, UsageHead | None, str | None, str | None, Call] = (None, None, None, None, [])

    def scan(
        self, buffer: mmap, view: memoryview, start: int, last: int, lines: int, search: Search | None = None, base: int = 0
    ) -> int:  # fmt: skip
        """Take the lines from `start` up to `last`, of which `lines` came before. Returns how many it are then.

        `search` is the system's own for large buffers, `base` the buffer's address for it.

        What nearly every line is, an answer of the API with an id, is booked right here: a call of a function per line would
        cost more than decoding it. Everything else goes the usual way, with the same result.
        """
        find, decode, number_of, calls = buffer.find, decode_call_line, self._numbers, self.calls
        head, decoded = len(COST_STATE), 0
        last_id, last_usage, last_request, last_model, call = self._last
        reach = self._reach
        ahead = -1  # where the next needle is, as far as it is known: `last` if nowhere
        while start < last:
            stop = find(b"\n", start, last)
            lines += 1
            near = stop - reach
            if ahead >= start or near < start or find(NEEDLE, near, near + _SPAN) < 0:
                if ahead < start:
                    if stop - start < WORTH:
                        ahead = find(NEEDLE, start, stop)
                    else:
                        if search is None:
                            ahead = find(NEEDLE, start, last)
                        else:
                            ahead = search(base + start, last - start, NEEDLE, _NEEDLE) - base
                        if ahead < 0:
                            ahead = last
                if not start <= ahead < stop:
                    if buffer[start : start + head] == COST_STATE:
                        self.cost_state = start, stop
                    start = stop + 1
                    continue
                reach = stop - ahead + _SLACK
                if reach < _SPAN:
                    reach = _SPAN
            decoded += 1
            try:
                entry = decode(view[start:stop])
            except REFUSED:
                self._patient(bytes(view[start:stop]), lines)
                last_id = None
            else:
                answer = entry.message
                if (
                    answer is None
                    or (usage := answer.usage) is None
                    or not (ident := answer.id)
                    or entry.type != "assistant"
                    or entry.isApiErrorMessage
                    or ((rounds := usage.iterations) is not None and len(rounds) > 1)
                ):
                    self._entry(entry, lines, 0)
                    last_id = None
                elif (
                    ident == last_id
                    and entry.requestId == last_request
                    and answer.model == last_model
                    and (usage == last_usage or _only_more_output(usage, last_usage, call))
                ):  # most lines of a call say the same, or have seen more of the answer
                    if (ended := answer.stop_reason) is not None:
                        call[STOP] = number_of[ended]
                        call[FLAGS] &= ~LOWER_BOUND
                elif (model := answer.model or "") != "<synthetic>":
                    last_request = entry.requestId
                    key = (ident, last_request or "", model)
                    known = calls.get(key)
                    if known is None:
                        call = calls[key] = self._first(key, entry, usage, answer.stop_reason, lines)
                    else:
                        call = known
                        if self.told_session is None:
                            self.told_session = entry.sessionId
                        self._join(call, usage_counts(usage), entry.timestamp, answer.stop_reason, 0)
                    # A time that is not known yet may stand on the next line.
                    last_id = None if call[TIME] is None else ident
                    last_usage, last_model = usage, answer.model
            start = stop + 1
        self._reach = reach
        self._last = last_id, last_usage, last_request, last_model, call
        self.decoded += decoded
        return lines

    def take(self, data: bytes, line: int) -> None:
        """A line that holds the needle."""
        self.decoded += 1
        try:
            entry = decode_call_line(data)
        except REFUSED:
            self._patient(data, line)
        else:
            self._entry(entry, line, 0)

    def columns(self) -> Columns:
        return tuple(zip(*self.calls.values(), strict=True))

    def _patient(self, data: bytes, line: int) -> None:
        for item, odd in patient_lines(data, line):
            self._entry(item, line, ODD if odd else 0)

    def _entry(self, entry: CallLine, line: int, flags: int) -> None:
        if entry.type == "assistant" or entry.type is None:  # some other programs leave the type out
            answer = entry.message
            if answer is None or answer.usage is None or entry.isApiErrorMessage:
                return
            session = entry.sessionId
            if entry.forkedFrom is not None or (session != self.session_id and None not in (session, self.session_id)):
                flags |= COPIED
            self._answer(answer, answer.usage, entry, entry.requestId, entry.timestamp, entry.agentId, line, flags)
        elif entry.type == "progress" and entry.data is not None and entry.data.message is not None:
            inner = entry.data.message
            if (
                inner.type == "assistant"
                and inner.message is not None
                and inner.message.usage is not None
                and not inner.isApiErrorMessage
            ):
                agent = entry.data.agentId or entry.agentId
                when = inner.timestamp or entry.timestamp
                answer = inner.message
                self._answer(answer, inner.message.usage, entry, inner.requestId, when, agent, line, flags | PROGRESS)

    def _answer(
        self, answer: AnswerHead, usage: UsageHead, entry: CallLine, request: str | None, when: str | None,
        agent: str | None, line: int, flags: int,
    ) -> None:  # fmt: skip
        model = answer.model or ""
        if model == "<synthetic>":
            return
        if self.told_session is None:
            self.told_session = entry.sessionId
        # Without an id of the message: by its request, else by its row, else every line is a call of its own.
        ident = answer.id or (
            "" if request else f"row:{entry.uuid}" if entry.uuid else f"line:{line}:{self.session_id}"
        )
        key = (ident, request or "", model)
        call = self.calls.get(key)
        if call is None:
            call = self.calls[key] = self._new(key, entry, usage, line, when, answer.stop_reason, agent, flags)
        else:
            self._join(call, usage_counts(usage), when, answer.stop_reason, flags)
        if usage.iterations is not None and len(usage.iterations) > 1:
            self._advisors(usage.iterations, key, line, when, answer.stop_reason, agent, entry, flags)

    def _first(self, key: CallKey, entry: CallLine, usage: UsageHead, stop: str | None, line: int) -> Call:
        """The first line of an ordinary call: what `_new` gives, all in one, since there are so many."""
        session, when, agent, geo = entry.sessionId, entry.timestamp, entry.agentId, usage.inference_geo
        flags = 0 if stop is not None else LOWER_BOUND
        own = self.session_id
        if entry.forkedFrom is not None or (session != own and session is not None and own is not None):
            flags |= COPIED
        if self.told_session is None:
            self.told_session = session
        try:
            since = _read_time(when) - _EPOCH  # type: ignore[arg-type]
            time: int | None = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds // 1000 * 1000
        except (ValueError, TypeError):  # no time, none with a zone, or another form of one
            time = microseconds(when)
        parts, details, server = usage.cache_creation, usage.output_tokens_details, usage.server_tool_use
        short, long = usage.cache_creation_input_tokens or 0, 0
        if parts is not None:
            long = parts.ephemeral_1h_input_tokens or 0
            short -= long
            if short < (written := parts.ephemeral_5m_input_tokens or 0):
                short = written
        numbers = self._numbers
        texts = (usage.service_tier, usage.speed, geo, entry.gitBranch, entry.cwd)
        if texts != self._texts:  # mostly those of the call before: comparing is quicker than asking for each
            place = None if geo == "not_available" else numbers[geo]
            self._texts, self._text_numbers = texts, (
                numbers[texts[0]], numbers[texts[1]], place, numbers[texts[3] or None], numbers[texts[4]]
            )  # fmt: skip
        tier, speed, place, branch, folder = self._text_numbers
        return [
            key[0], key[1], numbers[key[2]], line, time, usage.input_tokens or 0, usage.output_tokens or 0, short, long,
            usage.cache_read_input_tokens or 0, 0 if details is None else details.thinking_tokens or 0,
            0 if server is None else server.web_search_requests or 0, tier, speed, place, numbers[stop],
            None if agent == self.agent_id else agent, branch, folder, flags,
        ]  # fmt: skip

    def _new(
        self, key: CallKey, entry: CallLine, usage: UsageHead, line: int, when: str | None, stop: str | None,
        agent: str | None, flags: int,
    ) -> Call:  # fmt: skip
        """The first line of a call."""
        numbers = self._numbers
        geo = usage.inference_geo
        return [
            key[0], key[1], numbers[key[2]], line, microseconds(when), *usage_counts(usage), numbers[usage.service_tier],
            numbers[usage.speed], None if geo == "not_available" else numbers[geo], numbers[stop],
            None if agent == self.agent_id else agent, numbers[entry.gitBranch or None], numbers[entry.cwd],
            flags | LOWER_BOUND if stop is None else flags,
        ]  # fmt: skip

    def _join(self, call: Call, counts: tuple[int, ...], when: str | None, stop: str | None, flags: int) -> None:
        """Another line of a call that is there: the larger of each count."""
        for place, count in enumerate(counts, INPUT):
            if count > call[place]:
                call[place] = count
        if stop is not None:
            self._stopped(call, stop)
        if not flags & PROGRESS:
            call[FLAGS] &= ~PROGRESS
        call[FLAGS] |= flags & ODD
        if call[TIME] is None:
            call[TIME] = microseconds(when)

    def _stopped(self, call: Call, stop: str) -> None:
        call[STOP] = self._numbers[stop]
        call[FLAGS] &= ~LOWER_BOUND

    def _advisors(
        self, rounds: list[Iteration], key: CallKey, line: int, when: str | None, stop: str | None, agent: str | None,
        entry: CallLine, flags: int,
    ) -> None:  # fmt: skip
        """An advisor's tokens stand only here: rounds with a model of their own, or named as an advisor's."""
        sums: dict[str, list[int]] = {}
        for item in rounds:
            if item.type == "advisor_message" or (item.model is not None and item.model != key[2]):
                short, long = _writes(item.cache_creation, item.cache_creation_input_tokens or 0)
                found = sums.setdefault(item.model or key[2], [0] * 7)
                read = item.cache_read_input_tokens or 0
                for place, amount in enumerate((item.input_tokens or 0, item.output_tokens or 0, short, long, read)):
                    found[place] += amount
        for name, counts in sums.items():
            other = (f"{key[0]}#advisor", key[1], name)
            call = self.calls.get(other)
            if call is None:
                bare = UsageHead()
                call = self._new(other, entry, bare, line, when, stop or "advisor", agent, flags | ADVISOR)
                call[COUNTS] = counts
                self.calls[other] = call
            else:
                self._join(call, tuple(counts), when, stop, flags)


def usage_counts(usage: UsageHead) -> tuple[int, ...]:
    """Input, output, 5-minute and 1-hour writes, reads, thinking, searches."""
    parts, details, server = usage.cache_creation, usage.output_tokens_details, usage.server_tool_use
    short, long = usage.cache_creation_input_tokens or 0, 0
    if parts is not None:
        long = parts.ephemeral_1h_input_tokens or 0
        short = max(parts.ephemeral_5m_input_tokens or 0, short - long)
    return (
        usage.input_tokens or 0,
        usage.output_tokens or 0,
        short,
        long,
        usage.cache_read_input_tokens or 0,
        0 if details is None else details.thinking_tokens or 0,
        0 if server is None else server.web_search_requests or 0,
    )


def _only_more_output(usage: UsageHead, before: UsageHead | None, call: Call) -> bool:
    """Whether counts differ from those of the line before in nothing but the output; then the call has the larger one."""
    if before is None:
        return False
    told, before.output_tokens = before.output_tokens, usage.output_tokens
    if usage != before:
        before.output_tokens = told
        return False
    output = usage.output_tokens or 0
    if output > call[OUTPUT]:
        call[OUTPUT] = output
    return True


def joined_rows(old: Row, new: Row) -> Row:
    """A row of a pack, and more lines of the same call."""
    both = LOWER_BOUND | PROGRESS  # these hold only as long as all lines say so
    call = list(old)
    call[COUNTS] = map(max, old[COUNTS], new[COUNTS])
    call[FLAGS] = old[FLAGS] & ~both | old[FLAGS] & new[FLAGS] & both | new[FLAGS] & ODD
    if new[STOP] is not None:
        call[STOP] = new[STOP]
    return tuple(call)


def _writes(parts: CacheWrites | None, written: int) -> tuple[int, int]:
    """Tokens written for five minutes and for an hour. Older clients tell only the sum, all of it for five minutes."""
    if parts is None:
        return written, 0
    short, long = parts.ephemeral_5m_input_tokens or 0, parts.ephemeral_1h_input_tokens or 0
    return max(short, written - long), long
