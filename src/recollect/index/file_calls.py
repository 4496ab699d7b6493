"""The API calls of one file, line by line: lines of one call are joined, the largest of each count stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, Final

from ..format.times import parse_time
from .call_lines import (
    REFUSED,
    AnswerHead,
    CacheWrites,
    CallLine,
    Iteration,
    UsageHead,
    decode_call_line,
    patient_lines,
)

LOWER_BOUND: Final = 1
ODD: Final = 2
PROGRESS: Final = 4
ADVISOR: Final = 8
COPIED: Final = 16

#: Places in the list that a call is while it grows.
ENTRY, USAGE, LINE, WHEN, STOP, AGENT, FLAGS, COUNTS = range(8)

#: [line as decoded, usage, number of the line, time as text, stop reason, sub-agent, flags, counts joined so far or None]
Call = list[Any]
CallKey = tuple[str, str, str]
_EPOCH: Final = date(1970, 1, 1).toordinal()
_DAYS: dict[str, int] = {}


def microseconds(text: str | None) -> int | None:
    """A timestamp as whole microseconds; None for what is no date. Quick for the form that the client writes."""
    if text is None:
        return None
    if len(text) == 24 and text[23] == "Z" and text[10] == "T":
        try:
            day = _DAYS.get(text[:10])
            if day is None:
                if len(_DAYS) > 10_000:
                    _DAYS.clear()
                day = _DAYS[text[:10]] = (date.fromisoformat(text[:10]).toordinal() - _EPOCH) * 86_400_000
            clock = (
                int(text[11:13]) * 3_600_000 + int(text[14:16]) * 60_000 + int(text[17:19]) * 1000 + int(text[20:23])
            )
            return (day + clock) * 1000
        except ValueError:
            pass
    seconds = parse_time(text)
    return None if seconds is None else round(seconds * 1000) * 1000


class FileCalls:
    """Gathers the calls of one file. `session_id` and `agent_id` are those of its name."""

    def __init__(self, session_id: str | None, agent_id: str | None) -> None:
        self.calls: dict[CallKey, Call] = {}
        self.session_id = session_id
        self.agent_id = agent_id
        self.told_session: str | None = None
        """The session that the lines name: of sub-agents beside their session the only hint."""
        self._last_answer: AnswerHead | None = None
        self._last_request: str | None = None
        self._last_call: Call = []

    def take(self, data: memoryview | bytes, line: int) -> None:
        """A line that holds the needle."""
        try:
            entry = decode_call_line(data)
        except REFUSED:
            for item, odd in patient_lines(bytes(data), line):
                self._entry(item, line, ODD if odd else 0)
            return
        answer, last = entry.message, self._last_answer
        if (
            answer is not None
            and last is not None
            and answer.id == last.id
            and answer.usage == last.usage
            and self._last_request == entry.requestId
            and not entry.isApiErrorMessage
        ):  # most lines of a call say the same
            if answer.stop_reason is not None:
                self._last_call[STOP] = answer.stop_reason
            return
        self._entry(entry, line, 0)

    def _entry(self, entry: CallLine, line: int, flags: int) -> None:
        if entry.type == "assistant" or entry.type is None:  # some other programs leave the type out
            answer = entry.message
            if answer is None or entry.isApiErrorMessage:
                return
            session = entry.sessionId
            if entry.forkedFrom is not None or (session != self.session_id and None not in (session, self.session_id)):
                flags |= COPIED
            call = self._answer(answer, entry, entry.requestId, entry.timestamp, entry.agentId, line, flags)
            if call is not None and answer.id is not None:
                self._last_answer, self._last_request, self._last_call = answer, entry.requestId, call
        elif entry.type == "progress" and entry.data is not None and entry.data.message is not None:
            inner = entry.data.message
            if inner.type == "assistant" and inner.message is not None and not inner.isApiErrorMessage:
                agent = entry.data.agentId or entry.agentId
                when = inner.timestamp or entry.timestamp
                self._answer(inner.message, entry, inner.requestId, when, agent, line, flags | PROGRESS)

    def _answer(
        self, answer: AnswerHead, entry: CallLine, request: str | None, when: str | None, agent: str | None, line: int,
        flags: int,
    ) -> Call | None:  # fmt: skip
        usage, model = answer.usage, answer.model
        if usage is None or model == "<synthetic>":
            return None
        if self.told_session is None:
            self.told_session = entry.sessionId
        # Without an id of the message: by its request, else by its row, else every line is a call of its own.
        ident = answer.id or (
            "" if request else f"row:{entry.uuid}" if entry.uuid else f"line:{line}:{self.session_id}"
        )
        key = (ident, request or "", model or "")
        call = self.calls.get(key)
        if call is None:
            call = self.calls[key] = [entry, usage, line, when, answer.stop_reason, agent, flags, None]
        else:
            _join(call, usage_counts(usage), when, answer.stop_reason, flags)
        if usage.iterations is not None and len(usage.iterations) > 1:
            self._advisors(usage.iterations, key, line, when, answer.stop_reason, agent, entry, flags)
        return call

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
                self.calls[other] = [entry, None, line, when, stop or "advisor", agent, flags | ADVISOR, tuple(counts)]
            else:
                _join(call, tuple(counts), when, stop, flags)

    def rows(self, file_id: int, number: Callable[[Any], int | None]) -> Iterator[tuple[Any, ...]]:
        """The calls as rows of `call_rows`, numbered from 0; `number` gives the numbers of texts."""
        own_agent = self.agent_id
        place = -1
        for (ident, request, model), (entry, usage, line, when, stop, agent, flags, counts) in self.calls.items():
            tier = speed = geo = None
            if usage is not None:
                tier, speed, geo = usage.service_tier, usage.speed, usage.inference_geo
                if geo == "not_available":
                    geo = None
            place += 1
            yield (
                file_id, place, ident, request, number(model), line, microseconds(when),
                *(usage_counts(usage) if counts is None else counts),
                number(tier), number(speed), number(geo), number(stop), None if agent == own_agent else agent,
                number(entry.gitBranch or None), number(entry.cwd), flags if stop is not None else flags | LOWER_BOUND,
            )  # fmt: skip


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


def _join(call: Call, counts: tuple[int, ...], when: str | None, stop: str | None, flags: int) -> None:
    """Another line of a call that is there: the larger of each count."""
    before = call[COUNTS]
    if before is None:
        before = usage_counts(call[USAGE])
    call[COUNTS] = tuple(map(max, before, counts))
    if stop is not None:
        call[STOP] = stop
    if not flags & PROGRESS:
        call[FLAGS] &= ~PROGRESS
    call[FLAGS] |= flags & ODD
    if call[WHEN] is None:
        call[WHEN] = when


def _writes(parts: CacheWrites | None, written: int) -> tuple[int, int]:
    """Tokens written for five minutes and for an hour. Older clients tell only the sum, all of it for five minutes."""
    if parts is None:
        return written, 0
    short, long = parts.ephemeral_5m_input_tokens or 0, parts.ephemeral_1h_input_tokens or 0
    return max(short, written - long), long
