"""API calls out of lines: only what counting needs of a line is decoded, in one pass.

A line that is not as expected (glued objects, counts that are none, lone surrogates) is read again, patiently.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from ...format.entries import REFUSED, decode_loosely
from ...format.usage import LARGEST_COUNT, LARGEST_SEARCHES, whole_count

NEEDLE: Final = b'put_tokens"'
"""The end of `input_tokens` and `output_tokens`, and of the names of all counts that have to do with the cache: no usage that
a client writes is without one, and none writes these names with escapes. Inside quoted text the quote is escaped, so that a
transcript within a transcript has not."""

Count = Annotated[int, Meta(ge=0, le=LARGEST_COUNT)]
Searches = Annotated[int, Meta(ge=0, le=LARGEST_SEARCHES)]


class CacheWrites(Struct, gc=False):
    ephemeral_5m_input_tokens: Count | None = 0
    ephemeral_1h_input_tokens: Count | None = 0


class ServerTools(Struct, gc=False):
    web_search_requests: Searches | None = 0


class OutputDetails(Struct, gc=False):
    thinking_tokens: Count | None = 0


class Iteration(Struct, gc=False):
    type: str | None = None
    model: str | None = None
    input_tokens: Count | None = 0
    output_tokens: Count | None = 0
    cache_creation_input_tokens: Count | None = 0
    cache_read_input_tokens: Count | None = 0
    cache_creation: CacheWrites | None = None


class UsageHead(Struct, gc=False):
    """Fields, here and below, follow the order in which clients write them: the decoder looks for a name behind the last one."""

    input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = 0
    cache_read_input_tokens: Count | None = 0
    cache_creation: CacheWrites | None = None
    output_tokens: Count | None = None
    server_tool_use: ServerTools | None = None
    service_tier: str | None = None
    inference_geo: str | None = None
    iterations: list[Iteration] | None = None
    speed: str | None = None
    output_tokens_details: OutputDetails | None = None


class AnswerHead(Struct, gc=False):
    model: str | None = None
    id: str | None = None
    stop_reason: str | None = None
    usage: UsageHead | None = None


class InnerHead(Struct, gc=False):
    """A response of a subagent, carried by a `progress` line (2.1.0 to 2.1.42)."""

    type: str | None = None
    message: AnswerHead | None = None
    requestId: str | None = None
    timestamp: str | None = None
    isApiErrorMessage: bool | None = None


class ProgressHead(Struct, gc=False):
    message: InnerHead | None = None
    agentId: str | None = None


class Presence(Struct, gc=False):
    """An object of which only its being there counts."""


class CallLine(Struct, gc=False):
    """A line as far as counting goes; names as on disk."""

    isSidechain: bool | None = None
    cwd: str | None = None
    sessionId: str | None = None
    version: str | None = None
    gitBranch: str | None = None
    agentId: str | None = None
    message: AnswerHead | None = None
    requestId: str | None = None
    requestSessionId: str | None = None
    type: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    isApiErrorMessage: bool | None = None
    forkedFrom: Presence | None = None
    data: ProgressHead | None = None


decode_call_line: Final = msgspec.json.Decoder(CallLine).decode


def patient_lines(data: bytes, number: int) -> Iterator[tuple[CallLine, bool]]:
    """The objects of a line that the quick decoder refuses, and whether some count of theirs was none."""
    from ...format.decode import parse_lines  # most files have no such line
    from ...format.line import RawLine

    for located in parse_lines([RawLine(data, 0, max(number, 2))], []):
        value = decode_loosely(data[located.offset : located.offset + located.length])
        if isinstance(value, dict):
            mender = _Mender()
            line = mender.line(value)
            if line is not None:
                yield line, mender.odd


class _Mender:
    """Takes what has the right type and leaves out what has not. `odd`: a count was no count."""

    def __init__(self) -> None:
        self.odd = False

    def line(self, value: dict[str, Any]) -> CallLine | None:
        data = value.get("data")
        progress = None
        if isinstance(data, dict):
            inner = data.get("message")
            if isinstance(inner, dict):
                answer = self._answer(inner.get("message"))
                progress = ProgressHead(
                    InnerHead(
                        _text(inner.get("type")), answer, _text(inner.get("requestId")), _text(inner.get("timestamp")),
                        inner.get("isApiErrorMessage") is True,
                    ),
                    _text(data.get("agentId")),
                )  # fmt: skip
        return CallLine(
            isSidechain=value.get("isSidechain") is True,
            cwd=_text(value.get("cwd")),
            sessionId=_text(value.get("sessionId")),
            version=_text(value.get("version")),
            gitBranch=_text(value.get("gitBranch")),
            agentId=_text(value.get("agentId")),
            message=self._answer(value.get("message")),
            requestId=_text(value.get("requestId")),
            requestSessionId=_text(value.get("requestSessionId")),
            type=_text(value.get("type")),
            uuid=_text(value.get("uuid")),
            timestamp=_text(value.get("timestamp")),
            isApiErrorMessage=value.get("isApiErrorMessage") is True,
            forkedFrom=Presence() if isinstance(value.get("forkedFrom"), dict) else None,
            data=progress,
        )

    def _answer(self, value: Any) -> AnswerHead | None:
        if not isinstance(value, dict):
            return None
        usage = value.get("usage")
        return AnswerHead(
            model=_text(value.get("model")),
            id=_text(value.get("id")),
            stop_reason=_text(value.get("stop_reason")),
            usage=self._usage(usage) if isinstance(usage, dict) else None,
        )

    def _usage(self, value: dict[str, Any]) -> UsageHead:
        tools, details, rounds = (
            value.get("server_tool_use"),
            value.get("output_tokens_details"),
            value.get("iterations"),
        )
        thinking = OutputDetails(self._count(details.get("thinking_tokens"))) if isinstance(details, dict) else None
        searches = None
        if isinstance(tools, dict):
            searches = ServerTools(self._count(tools.get("web_search_requests"), LARGEST_SEARCHES))
        return UsageHead(
            input_tokens=self._count(value.get("input_tokens")),
            cache_creation_input_tokens=self._count(value.get("cache_creation_input_tokens")),
            cache_read_input_tokens=self._count(value.get("cache_read_input_tokens")),
            cache_creation=self._writes(value.get("cache_creation")),
            output_tokens=self._count(value.get("output_tokens")),
            server_tool_use=searches,
            service_tier=_text(value.get("service_tier")),
            inference_geo=_text(value.get("inference_geo")),
            iterations=[self._round(item) for item in rounds if isinstance(item, dict)] if isinstance(rounds, list) else None,
            speed=_text(value.get("speed")),
            output_tokens_details=thinking,
        )  # fmt: skip

    def _round(self, value: dict[str, Any]) -> Iteration:
        return Iteration(
            _text(value.get("type")),
            _text(value.get("model")),
            self._count(value.get("input_tokens")),
            self._count(value.get("output_tokens")),
            self._count(value.get("cache_creation_input_tokens")),
            self._count(value.get("cache_read_input_tokens")),
            self._writes(value.get("cache_creation")),
        )

    def _writes(self, value: Any) -> CacheWrites | None:
        if not isinstance(value, dict):
            return None
        short, long = value.get("ephemeral_5m_input_tokens"), value.get("ephemeral_1h_input_tokens")
        return CacheWrites(self._count(short), self._count(long))

    def _count(self, value: Any, largest: int = LARGEST_COUNT) -> int | None:
        if value is None:
            return None
        found = whole_count(value, largest)
        if found is None:
            self.odd = True
        return found or 0


def _text(value: Any) -> str | None:
    """Text that a database can hold: half surrogate pairs become U+FFFD."""
    if not isinstance(value, str):
        return None
    return value.encode("utf-8", "replace").decode() if not value.isascii() else value


def time_of(data: bytes) -> str | None:
    """The time that an entry says it is of."""
    try:
        return decode_call_line(data).timestamp
    except REFUSED:
        return next((line.timestamp for line, _ in patient_lines(data, 2)), None)


def is_whole(data: bytes) -> bool:
    """Whether bytes without a line feed are one complete JSON object."""
    if data.lstrip()[:1] != b"{" or data.rstrip()[-1:] != b"}":
        return False
    return isinstance(decode_loosely(data), dict)
