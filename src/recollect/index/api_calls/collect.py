"""Collect the API calls of one file, line by line: the lines of a call are joined, with the largest of each count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from mmap import mmap
from typing import Final

from ...format.entries import REFUSED, decode_loosely
from ...format.times import has_zone, parse_time
from ...format.usage import LARGEST_COUNT
from ...format.versions import is_placeholder
from .decode import (
    NEEDLE,
    AnswerHead,
    CacheWrites,
    CallLine,
    Iteration,
    UsageHead,
    decode_call_line,
    patient_lines,
)
from .rows import ADVISOR, COPIED, COUNTS, LOWER_BOUND, ODD, PARTIAL, PROGRESS, ZONELESS, CallRow

ANSWER: Final = b'"assistant"'
_TYPE: Final = b'"type":"'
_SAYS: Final = len(_TYPE) + 4
_OTHERS: Final = frozenset(
    _TYPE + kind
    for kind in (b"user", b"prog", b"syst", b"atta", b"file", b"last", b"ai-t", b"queu", b"summ", b"cust", b"mode")
)
"""Beginnings of the type field of lines that are not answers of the model: four letters of the type are enough.

In such lines no other type field comes before this one.
"""
_EDGE: Final = 512
"""Bytes at the start and at the end of a line: one of these parts contains its type, however many fields it has."""
SIDECHAIN: Final = "sidechain"
"""The id for subagents inside a main file whose lines name no subagent (Claude Code up to 2.0.26)."""

_COST_STATE: Final = b'"cost-state"'
_STATE_SPAN: Final = 48
"""Bytes at the start of a state line that contain its type, with or without spaces."""
_SPAN: Final = 160
"""Bytes of a line that are searched first: the distance between two names of counts in a usage is smaller."""
_SLACK: Final = 24
"""Bytes by which the counts of one line may begin earlier than those of the line before."""
LONG: Final = 2000
"""The length in bytes from which a line is treated as long."""

#: Message, request, model.
CallKey = tuple[str, str, str]
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_read_time: Final = datetime.fromisoformat


def microseconds(text: str | None) -> int | None:
    """Return a timestamp as whole microseconds, cut to milliseconds; None if the text is not a date."""
    if text is None:
        return None
    try:
        since = datetime.fromisoformat(text) - _EPOCH
    except (ValueError, TypeError):  # without a zone, or in another format, such as that of mail headers
        seconds = parse_time(text)
        return None if seconds is None else round(seconds * 1000) * 1000
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds // 1000 * 1000


class FileCalls:
    """Collect the API calls of one file. `session_id` and `subagent_id` are those of its name.

    `failed` is called for a line that cannot be read, which is then skipped; without `failed` the error is raised.
    """

    def __init__(
        self, session_id: str | None, subagent_id: str | None, failed: Callable[[int, Exception], None] | None = None
    ) -> None:
        self.calls: dict[CallKey, CallRow] = {}
        self.session_id = session_id
        self.subagent_id = subagent_id
        self.cost_state: tuple[int, int] | None = None
        """Start and end in the buffer of the last `cost-state` line, which is Claude Code's own count.

        To be read before the buffer is filled again.
        """
        self.decoded = 0
        self._failed = failed or _raised
        self.counts_without_object = False
        """Whether a line with counts holds no object: it may be part of an object that spans several lines."""
        self._version: str | None = None
        self._wrote_placeholders = True
        self._reach = _SPAN
        """Distance of the token counts from the end of the last line that had some: probably that of the next line."""
        self._said_all = _SAYS
        """End of the type field in the last line that was not an answer: probably that of the next such line."""
        self._begun_on, self._parts = 0, 0
        """The line on which the last call began, and how many calls began on this line before it."""
        #: The previous line: message, usage, request, model, and the call that it belongs to.
        self._last: tuple[str | None, UsageHead | None, str | None, str | None, CallRow | None] = (None,) * 5

    def scan(self, buffer: mmap, view: memoryview, start: int, last: int, lines: int) -> int:
        """Collect the calls of the lines from `start` to `last` in the buffer. Return the number of the last line.

        `lines` is the number of the line before. Nearly every line with counts is an answer of the API with an id; it is
        counted in this function, because a function call per line would cost more than decoding it. All other lines go
        through `_entry`, which gives equal results.
        """
        find, decode, calls = buffer.find, decode_call_line, self.calls
        decoded = 0
        last_id, last_usage, last_request, last_model, call = self._last
        reach = self._reach
        said_all, others = self._said_all, _OTHERS
        ahead = -1  # position of the next needle, if known; `last` if there is none
        while start < last:
            stop = find(b"\n", start, last)
            lines += 1
            try:
                near = stop - reach
                if ahead >= start or near < start or find(NEEDLE, near, near + _SPAN) < 0:
                    if ahead < start:
                        # In a long line, search on beyond its end: the next line probably has the needle.
                        ahead = find(NEEDLE, start, stop if stop - start < LONG else last)
                        if ahead < 0 and stop - start >= LONG:
                            ahead = last
                    if not start <= ahead < stop:
                        # Most lines have their type field at the position where an earlier line had it.
                        if buffer[(end := start + said_all) - _SAYS : end] not in others or end > stop:
                            if buffer[start + 1 : start + 1 + _SAYS] in others and start + _SAYS < stop:
                                pass  # a state line
                            elif (place := (edge := buffer[start : min(start + _EDGE, stop)]).find(_TYPE)) >= 0 and (
                                edge[place : place + _SAYS] in others
                            ):
                                said_all = place + _SAYS
                            elif self._is_without_counts(edge, buffer, start, stop):
                                self.take(bytes(view[start:stop]), lines)
                                last_id = None
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
                        and call is not None
                        and entry.requestId == last_request
                        and answer.model == last_model
                        and (usage == last_usage or _only_more_output(usage, last_usage, call, lines))
                        and (entry.requestSessionId is None or call.session_id is not None)
                    ):  # most lines of a call have equal counts, or only a larger output
                        if (ended := answer.stop_reason) is not None:
                            call.stop_reason = ended
                            call.flags &= ~LOWER_BOUND
                        elif call.flags & LOWER_BOUND and not self._is_placeholder(entry.version):
                            call.flags &= ~LOWER_BOUND
                    elif (model := answer.model or "") != "<synthetic>":
                        last_request = entry.requestId
                        key = (ident, last_request or "", model)
                        known = calls.get(key)
                        if known is None:
                            call = calls[key] = self._first(key, entry, usage, answer.stop_reason, lines)
                        else:
                            call = known
                            self._join(
                                call,
                                usage_counts(usage),
                                entry,
                                entry.timestamp,
                                answer.stop_reason,
                                lines,
                                _missing(usage),
                            )
                            self._fill_terms(call, usage, entry)
                        # If the call has no time yet, the next line may have one: take the slow way for it.
                        last_id = None if call.time is None else ident
                        last_usage, last_model = usage, answer.model
            except Exception as problem:
                self._failed(lines, problem)
                last_id = None
            start = stop + 1
        self._reach, self._said_all = reach, said_all
        self._last = last_id, last_usage, last_request, last_model, call
        self.decoded += decoded
        return lines

    def _is_without_counts(self, edge: bytes, buffer: mmap, start: int, stop: int) -> bool:
        """Return whether a line without counts may be an answer of the model. Also record a `cost-state` line."""
        if _COST_STATE in edge and is_cost_state(buffer[start:stop]):
            self.cost_state = start, stop
            return False
        return ANSWER in edge or ANSWER in buffer[max(stop - _EDGE, start) : stop]

    def take(self, data: bytes, line: int) -> None:
        """Decode a line and collect its calls."""
        self.decoded += 1
        try:
            entry = decode_call_line(data)
        except REFUSED:
            self._patient(data, line)
        else:
            self._entry(entry, line, 0)

    def take_or_note(self, data: bytes, line: int) -> None:
        """Decode a line and collect its calls; a line that fails is reported and skipped."""
        try:
            self.take(data, line)
        except Exception as problem:
            self._failed(line, problem)

    def _patient(self, data: bytes, line: int) -> None:
        found = list(patient_lines(data, line))
        self.counts_without_object |= not found
        for item, odd in found:
            self._entry(item, line, ODD if odd else 0)

    def _entry(self, entry: CallLine, line: int, flags: int) -> None:
        if entry.type == "assistant" or entry.type is None:  # some other programs omit the type
            answer = entry.message
            if answer is None or entry.isApiErrorMessage:
                return
            usage = answer.usage
            if usage is None:  # a response recorded without its counts becomes a call flagged as partial
                if entry.type is None or not answer.id or not answer.model:
                    return
                usage = UsageHead()
            session = entry.sessionId
            if entry.forkedFrom is not None or (session != self.session_id and None not in (session, self.session_id)):
                flags |= COPIED
            self._answer(answer, usage, entry, entry.requestId, entry.timestamp, entry.agentId, line, flags)
        elif entry.type == "progress" and entry.data is not None and entry.data.message is not None:
            inner = entry.data.message
            if (
                inner.type == "assistant"
                and inner.message is not None
                and inner.message.usage is not None
                and not inner.isApiErrorMessage
            ):
                subagent = entry.data.agentId or entry.agentId
                when = inner.timestamp or entry.timestamp
                answer = inner.message
                self._answer(
                    answer, inner.message.usage, entry, inner.requestId, when, subagent, line, flags | PROGRESS
                )

    def _answer(
        self, answer: AnswerHead, usage: UsageHead, entry: CallLine, request: str | None, when: str | None,
        subagent: str | None, line: int, flags: int,
    ) -> None:  # fmt: skip
        model = answer.model or ""
        if model == "<synthetic>":
            return
        # Without a message id, a call is identified by its request, else by its row, else by its line.
        ident = answer.id or (
            ""
            if request
            else f"row:{entry.uuid}"
            if entry.uuid
            else f"line:{line}:{self.session_id or self.subagent_id}"
        )
        key = (ident, request or "", model)
        flags |= _missing(usage)
        call = self.calls.get(key)
        if call is None:
            call = self.calls[key] = self._new(
                key, entry, usage, line, when, answer.stop_reason, subagent, flags, usage_counts(usage)
            )
        else:
            self._join(call, usage_counts(usage), entry, when, answer.stop_reason, line, flags)
            self._fill_terms(call, usage, entry)
        if usage.iterations is not None and len(usage.iterations) > 1:
            self._advisors(usage.iterations, key, line, when, answer.stop_reason, subagent, entry, flags)

    def _first(self, key: CallKey, entry: CallLine, usage: UsageHead, stop: str | None, line: int) -> CallRow:
        """Create an ordinary call from its first line: `_new` with all steps inlined for speed."""
        session, when, subagent, geo = entry.sessionId, entry.timestamp, entry.agentId, usage.inference_geo
        flags, version = 0, entry.version
        if stop is None and (self._wrote_placeholders if version == self._version else self._is_placeholder(version)):
            flags = LOWER_BOUND
        if subagent is None and entry.isSidechain:
            subagent = self.subagent_id or SIDECHAIN
        own = self.session_id
        if entry.forkedFrom is not None or (session != own and session is not None and own is not None):
            flags |= COPIED
        try:
            since = _read_time(when) - _EPOCH  # type: ignore[arg-type]
            time: int | None = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds // 1000 * 1000
        except (ValueError, TypeError):  # no time, one without a zone, or in another format
            time = microseconds(when)
            flags |= _zoneless(time, when)
        parts, details, server = usage.cache_creation, usage.output_tokens_details, usage.server_tool_use
        short, long = usage.cache_creation_input_tokens or 0, 0
        fresh, output = usage.input_tokens, usage.output_tokens
        if fresh is None or output is None:
            flags |= PARTIAL
        if parts is not None:
            long = parts.ephemeral_1h_input_tokens or 0
            short -= long
            if short < (written := parts.ephemeral_5m_input_tokens or 0):
                short = written
        return CallRow(
            key[0], key[1], key[2], line, 0, time, fresh or 0, output or 0, short, long, usage.cache_read_input_tokens or 0,
            0 if details is None else details.thinking_tokens or 0, 0 if server is None else server.web_search_requests or 0,
            usage.service_tier, usage.speed, None if geo == "not_available" else geo, stop,
            None if subagent == self.subagent_id else subagent, entry.gitBranch or None, entry.cwd,
            entry.requestSessionId or None, flags, line,
        )  # fmt: skip

    def _new(
        self, key: CallKey, entry: CallLine, usage: UsageHead, line: int, when: str | None, stop: str | None,
        subagent: str | None, flags: int, counts: Sequence[int],
    ) -> CallRow:  # fmt: skip
        """Create a call from its first line."""
        geo = usage.inference_geo
        time = microseconds(when)
        flags |= _zoneless(time, when)
        if subagent is None and entry.isSidechain:
            subagent = self.subagent_id or SIDECHAIN
        if stop is None and self._is_placeholder(entry.version):
            flags |= LOWER_BOUND
        self._begun_on, self._parts = line, self._parts + 1 if self._begun_on == line else 0
        return CallRow(
            *key, line, self._parts, time, counts[0], counts[1], counts[2], counts[3], counts[4], counts[5], counts[6],
            usage.service_tier, usage.speed, None if geo == "not_available" else geo,
            stop, None if subagent == self.subagent_id else subagent, entry.gitBranch or None, entry.cwd,
            entry.requestSessionId or None, flags, line,
        )  # fmt: skip

    def _join(
        self, call: CallRow, counts: Sequence[int], entry: CallLine, when: str | None, stop: str | None, line: int, flags: int
    ) -> None:  # fmt: skip
        """Add another line to a known call: keep the larger of each count."""
        if counts[1] > call.output:
            call.output_line = line
        for name, count in zip(COUNTS, counts, strict=True):
            if count > getattr(call, name):
                setattr(call, name, count)
        if stop is not None:
            call.stop_reason = stop
            call.flags &= ~LOWER_BOUND
        elif call.flags & LOWER_BOUND and not self._is_placeholder(entry.version):
            call.flags &= ~LOWER_BOUND
        if not flags & PROGRESS:
            call.flags &= ~PROGRESS
        if not flags & PARTIAL:
            call.flags &= ~PARTIAL
        call.flags |= flags & ODD
        if call.time is None:
            call.time = microseconds(when)
            call.flags |= _zoneless(call.time, when)

    def _fill_terms(self, call: CallRow, usage: UsageHead, entry: CallLine) -> None:
        """Set tier, speed and region, which decide the price, and the requesting session, if no earlier line did."""
        geo = None if usage.inference_geo == "not_available" else usage.inference_geo
        call.service_tier = usage.service_tier if call.service_tier is None else call.service_tier
        call.speed = usage.speed if call.speed is None else call.speed
        call.geo = geo if call.geo is None else call.geo
        call.session_id = call.session_id or entry.requestSessionId or None

    def _is_placeholder(self, version: str | None) -> bool:
        """Return whether this version of Claude Code may write placeholder counts on a line without a stop reason."""
        if version != self._version:
            self._version, self._wrote_placeholders = version, is_placeholder(version, None)
        return self._wrote_placeholders

    def _advisors(
        self, rounds: list[Iteration], key: CallKey, line: int, when: str | None, stop: str | None, subagent: str | None,
        entry: CallLine, flags: int,
    ) -> None:  # fmt: skip
        """Collect the calls of advisors: iterations with another model, or of the type of an advisor.

        The tokens of an advisor are not part of the counts of the response itself.
        """
        sums: dict[str, list[int]] = {}
        for item in rounds:
            if item.type == "advisor_message" or (item.model is not None and item.model != key[2]):
                short, long = _writes(item.cache_creation, item.cache_creation_input_tokens or 0)
                found = sums.setdefault(item.model or key[2], [0] * 7)
                read = item.cache_read_input_tokens or 0
                for place, amount in enumerate((item.input_tokens or 0, item.output_tokens or 0, short, long, read)):
                    found[place] += amount
        flags &= ~PARTIAL  # this flag is about the response itself
        for name, counts in sums.items():
            if max(counts) > LARGEST_COUNT:
                counts, flags = [0] * 7, flags | ODD
            other = (f"{key[0]}#advisor", key[1], name)
            call = self.calls.get(other)
            if call is None:
                self.calls[other] = self._new(
                    other, entry, UsageHead(), line, when, stop or "advisor", subagent, flags | ADVISOR, counts
                )
            else:
                self._join(call, tuple(counts), entry, when, stop, line, flags)


def _raised(_: int, problem: Exception) -> None:
    raise problem


def is_cost_state(line: bytes) -> bool:
    """Return whether a line is a `cost-state` line, Claude Code's own count."""
    if _COST_STATE not in line[:_STATE_SPAN]:
        return False
    value = decode_loosely(line)
    return isinstance(value, dict) and value.get("type") == "cost-state"


def _missing(usage: UsageHead) -> int:
    return PARTIAL if usage.input_tokens is None or usage.output_tokens is None else 0


def _zoneless(time: int | None, text: str | None) -> int:
    return 0 if time is None or text is None or has_zone(text) else ZONELESS


def usage_counts(usage: UsageHead) -> tuple[int, ...]:
    """Return the counts of a usage in the order of `COUNTS`."""
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


def _only_more_output(usage: UsageHead, before: UsageHead | None, call: CallRow, line: int) -> bool:
    """Return whether counts differ from those of the previous line only in the output; then keep the larger output."""
    if before is None:
        return False
    output_before, before.output_tokens = before.output_tokens, usage.output_tokens
    if usage != before or output_before is None:
        before.output_tokens = output_before
        return False
    output = usage.output_tokens or 0
    if output > call.output:
        call.output, call.output_line = output, line
    return True


def _writes(parts: CacheWrites | None, written: int) -> tuple[int, int]:
    """Return the tokens written to the cache for five minutes and for an hour.

    Older versions of Claude Code record only the sum, all of it for five minutes.
    """
    if parts is None:
        return written, 0
    short, long = parts.ephemeral_5m_input_tokens or 0, parts.ephemeral_1h_input_tokens or 0
    return max(short, written - long), long
