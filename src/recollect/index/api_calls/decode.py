"""Decode the fields of a line that are needed to count API calls, in one pass.

A line that the decoder refuses (glued objects, invalid counts, lone surrogates) is read again by `format.fitted`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from ...format.entries import REFUSED, decode_loosely
from ...format.usage import LARGEST_COUNT, LARGEST_SEARCHES, whole_count

NEEDLE: Final = b'put_tokens"'
"""The end of `input_tokens`, of `output_tokens` and of the names of all cache counts.

Every usage that Claude Code writes contains one of these names, never with escapes. Inside quoted text the quotation mark
is escaped, so a transcript that is quoted in a transcript does not contain the needle.
"""

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
    """The usage of a response.

    Fields, here and below, are in the order in which Claude Code writes them: the decoder expects a name after the last
    one, which is faster.
    """

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
    """A response of a subagent inside a `progress` line (Claude Code 2.1.0 to 2.1.42)."""

    type: str | None = None
    message: AnswerHead | None = None
    requestId: str | None = None
    timestamp: str | None = None
    isApiErrorMessage: bool | None = None


class ProgressHead(Struct, gc=False):
    message: InnerHead | None = None
    agentId: str | None = None


class Presence(Struct, gc=False):
    """An object of which only the presence matters."""


class CallLine(Struct, gc=False):
    """The fields of a line that are needed to count its calls, with their names on disk."""

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
    """Yield the objects of a line that the decoder refused, each with whether it had an invalid count."""
    from ...format.decode import parse_lines  # imported here: most files have no such line
    from ...format.entries import fitted
    from ...format.line import RawLine

    for located in parse_lines([RawLine(data, 0, max(number, 2))], []):
        odd = False

        def count(value: Any, largest: int | None) -> int:
            nonlocal odd
            found = whole_count(value, LARGEST_COUNT if largest is None else largest)
            odd = odd or found is None
            return found or 0

        line = fitted(decode_loosely(data[located.offset : located.offset + located.length]), CallLine, count)
        if line is not None:
            yield line, odd


def time_of(data: bytes) -> str | None:
    """Return the timestamp of an entry."""
    try:
        return decode_call_line(data).timestamp
    except REFUSED:
        return next((line.timestamp for line, _ in patient_lines(data, 2)), None)


def is_whole(data: bytes) -> bool:
    """Return whether bytes without a line feed are one complete JSON object."""
    if data.lstrip()[:1] != b"{" or data.rstrip()[-1:] != b"}":
        return False
    return isinstance(decode_loosely(data), dict)
