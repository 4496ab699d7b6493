"""The API calls of a file as the catalogue holds them: one pack per file, since a row per call costs more than reading it.

    rows = calls_of(db, file_id)                 # places in a row: MESSAGE, REQUEST, MODEL, ...
    for file_id, columns in all_calls(db, [3, 8]):
        sum(columns[OUTPUT])

A call's number is its place in the pack; calls are only ever added behind. Models, tiers and the like are numbers of `strings`.
`OUTPUT_LINE` is None where the largest output stands on the first line.
"""

from __future__ import annotations

from binascii import crc32
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import Any, Final

import apsw

#: One call, and the calls of a file column by column.
Row = tuple[Any, ...]
Columns = tuple[tuple[Any, ...], ...]

MESSAGE, REQUEST, MODEL, LINE, TIME, INPUT, OUTPUT = range(7)
TIER, SPEED, GEO, STOP, AGENT, BRANCH, CWD, FLAGS, OUTPUT_LINE = range(12, 21)
#: Input, output, 5-minute and 1-hour writes, reads, thinking, searches.
COUNTS: Final = slice(5, 12)
WIDTH: Final = 21

#: What FLAGS say of a call.
LOWER_BOUND: Final = 1
ODD: Final = 2
PROGRESS: Final = 4
ADVISOR: Final = 8
COPIED: Final = 16
PARTIAL: Final = 32
"""No line of the call has both its input and its output."""
ZONELESS: Final = 64

INSERT_PACK: Final = "INSERT OR REPLACE INTO call_packs(file_id, calls, last, ids, rows) VALUES (?, ?, ?, ?, ?)"
_FEW: Final = 30


@cache
def _encoder() -> Callable[[Columns], bytes]:
    from msgspec.msgpack import Encoder  # not needed by who asks only for sums

    return Encoder().encode


@cache
def _decoder() -> Callable[[bytes], Columns]:
    from msgspec.msgpack import Decoder

    return Decoder(Columns).decode


@cache
def _times_decoder() -> Callable[[bytes], tuple[int | None, ...]]:
    """Reads one column and passes over the others: a third of the time that all of them take."""
    from msgspec import Raw
    from msgspec.msgpack import Decoder

    columns, times = Decoder(tuple[Raw, ...]).decode, Decoder(tuple[int | None, ...]).decode
    return lambda pack: times(columns(pack)[TIME])


def packed(file_id: int, columns: Columns) -> tuple[int, int, int | None, str, bytes]:
    """A row of `call_packs`."""
    times = columns[TIME]
    last = max(times) if None not in times else max((time for time in times if time is not None), default=None)
    pack = _encoder()(columns)
    return file_id, len(times), last, "\n".join(columns[MESSAGE]), crc32(pack).to_bytes(4) + pack


def unpacked(pack: bytes) -> Columns:
    """Its calls. Raises what the catalogue raises where it is damaged: then it is made anew."""
    columns = _decoder()(_sound(pack))
    if len(columns) == WIDTH:
        return columns
    raise apsw.CorruptError("a pack of calls is damaged")


def _sound(pack: bytes) -> bytes:
    """A pack without its checksum."""
    if crc32(pack[4:]).to_bytes(4) == pack[:4]:  # most damage would still be numbers and texts, only other ones
        return pack[4:]
    raise apsw.CorruptError("a pack of calls is damaged")


def rows_of(columns: Columns) -> list[Row]:
    return list(zip(*columns, strict=True))


def calls_of(db: apsw.Connection, file_id: int) -> list[Row]:
    pack = db.execute("SELECT rows FROM call_packs WHERE file_id = ?", (file_id,)).get
    return [] if pack is None else rows_of(unpacked(pack))


def all_calls(
    db: apsw.Connection, files: Iterable[int] | None = None, *, since: int | None = None
) -> Iterator[tuple[int, Columns]]:
    """Files with their calls, by number. `since` leaves out files of which every call is older, or has no time."""
    for file_id, pack in db.execute(f"SELECT file_id, rows FROM call_packs{_where(files, since)} ORDER BY file_id"):
        yield file_id, unpacked(pack)


def _where(files: Iterable[int] | None, since: int | None) -> str:
    wanted = []
    if files is not None:
        wanted.append(f"file_id IN ({', '.join(map(str, map(int, files)))})")
    if since is not None:
        wanted.append(f"last >= {int(since)}")
    return f" WHERE {' AND '.join(wanted)}" if wanted else ""


def times_of(db: apsw.Connection, file_id: int) -> tuple[int | None, ...]:
    """When the calls of a file were made."""
    pack = db.execute("SELECT rows FROM call_packs WHERE file_id = ?", (file_id,)).get
    return () if pack is None else _times_decoder()(_sound(pack))


def files_with(db: apsw.Connection, messages: Collection[str]) -> list[int]:
    """Files that may hold a call of one of these messages."""
    rows = db.execute("SELECT file_id, ids FROM call_packs")
    if len(messages) <= _FEW:
        return [file_id for file_id, ids in rows if any(message in ids for message in messages)]
    sought = frozenset(messages)
    return [file_id for file_id, ids in rows if not sought.isdisjoint(ids.split("\n"))]


def with_copies(db: apsw.Connection, files: Iterable[int] | None, since: int | None) -> list[int] | None:
    """The files that `all_calls` gives, and all that may hold a copy of one of their calls; None for every file."""
    if files is None and since is None:
        return None
    rows = db.execute(f"SELECT ids FROM call_packs{_where(files, since)}")
    return files_with(db, {message for (ids,) in rows for message in ids.split("\n")})


def call_csv(file_id: int, pack: bytes) -> bytes:
    """A pack as lines of CSV: file, number, then every column up to the flags; text is quoted, nothing is empty."""
    lines = []
    for number, row in enumerate(rows_of(unpacked(pack))):
        message, request, *middle = row[:OUTPUT_LINE]
        middle[AGENT - 2] = None if row[AGENT] is None else _quoted(row[AGENT])
        shown = ",".join(["" if value is None else str(value) for value in middle])
        lines.append(f"{file_id},{number},{_quoted(message)},{_quoted(request)},{shown}\n")
    return "".join(lines).encode("utf-8", "replace")


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
