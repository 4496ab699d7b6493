"""Encode messages between the SQL child process and its parent: frames of MessagePack, each preceded by its length.

Decoding never runs code: values are plain data. Types that MessagePack lacks (decimals, dates, times, intervals, integers
beyond 64 bits, uuids) are sent as tagged texts; `unpack` converts them back, or leaves a text that it cannot convert.
"""

from __future__ import annotations

import datetime as dt
import struct
import uuid
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import msgspec

_LENGTH: Final = struct.Struct("<I")
MOST_BYTES: Final = 256 << 20
"""The longest frame that is accepted; a larger length means that the stream is damaged."""

_DECIMAL, _DATE, _TIME, _MOMENT, _INTERVAL, _WHOLE, _UUID = range(1, 8)
_I64: Final = 1 << 63
_encoder: Final = msgspec.msgpack.Encoder()


def pack(value: Any) -> bytes:
    """Encode a value as a frame."""
    data = _encoder.encode(value)
    return _LENGTH.pack(len(data)) + data


def tagged(value: Any) -> Any:
    """Convert a value of a result to a form that can be packed."""
    if value is None or isinstance(value, str | float | bool | bytes):
        return value
    if isinstance(value, int):
        return value if -_I64 <= value < _I64 else _tag(_WHOLE, str(value))
    if isinstance(value, list | tuple):
        return [tagged(item) for item in value]
    if isinstance(value, dict):
        # Keys of DuckDB's maps need not be texts, and a tagged or nested value cannot be a key here: then send pairs.
        if all(isinstance(key, str) for key in value):
            return {key: tagged(item) for key, item in value.items()}
        return [[tagged(key), tagged(item)] for key, item in value.items()]
    if isinstance(value, Decimal):
        return _tag(_DECIMAL, str(value))
    if isinstance(value, dt.datetime):
        return _tag(_MOMENT, value.isoformat())
    if isinstance(value, dt.date):
        return _tag(_DATE, value.isoformat())
    if isinstance(value, dt.time):
        return _tag(_TIME, value.isoformat())
    if isinstance(value, dt.timedelta):
        return _tag(_INTERVAL, f"{value.days} {value.seconds} {value.microseconds}")
    if isinstance(value, uuid.UUID):
        return _tag(_UUID, str(value))
    return str(value)


def _tag(code: int, text: str) -> msgspec.msgpack.Ext:
    return msgspec.msgpack.Ext(code, text.encode())


def _interval(text: str) -> dt.timedelta:
    days, seconds, microseconds = map(int, text.split())
    return dt.timedelta(days, seconds, microseconds)


_MEANINGS: Final[dict[int, Callable[[str], Any]]] = {
    _DECIMAL: Decimal,
    _DATE: dt.date.fromisoformat,
    _TIME: dt.time.fromisoformat,
    _MOMENT: dt.datetime.fromisoformat,
    _INTERVAL: _interval,
    _WHOLE: int,
    _UUID: uuid.UUID,
}


def _untagged(code: int, data: memoryview) -> Any:
    text = bytes(data).decode("utf-8", "replace")
    try:
        return _MEANINGS[code](text)
    except (KeyError, ValueError, OverflowError, InvalidOperation):
        return text


_decoder: Final = msgspec.msgpack.Decoder(ext_hook=_untagged)


def unpack(data: bytes) -> Any:
    """Decode the value of a frame."""
    return _decoder.decode(data)


def read_frame(read: Callable[[int], bytes]) -> Any:
    """Read the value of the next frame. Raises EOFError at the end, and ValueError for an invalid frame."""
    head = _exactly(read, _LENGTH.size)
    (length,) = _LENGTH.unpack(head)
    if length > MOST_BYTES:
        raise ValueError(f"a frame of {length} bytes")
    try:
        return unpack(_exactly(read, length))
    except msgspec.DecodeError as problem:
        raise ValueError(str(problem)) from None


def _exactly(read: Callable[[int], bytes], count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = read(min(count, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
