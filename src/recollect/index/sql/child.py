"""Run one SQL query in a child process: open the database read-only, lock the process down, check the query, run it.

`recollect.index.sql.query` starts a child for each query. It reads one frame from stdin, writes frames to stdout, and ends:

    {"columns": [[name, type], ...]}, {"rows": [[...], ...]} any number of times, then {"end": reason why rows are missing}
    or {"error": kind, "message": ..., "position": byte offset in the query, "length": ...}

The end of stdin means that the parent process is gone: then the child exits at once, whatever it is doing.
"""

from __future__ import annotations

import contextlib
import datetime
import io
import json
import os
import signal
import sys
import threading
import types
from typing import TYPE_CHECKING, Any, Final

from .rules import Refusal, the_question
from .seal import seal
from .wire import pack, read_frame, tagged

if TYPE_CHECKING:
    import duckdb

_AT_ONCE: Final = 1024
_PLAIN: Final = frozenset({
    "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "FLOAT", "DOUBLE", "VARCHAR",
    "BLOB", "JSON", "BIT", "NULL",
})  # fmt: skip
#: DuckDB's own restrictions. `read_only` protects the tables; these settings forbid everything else.
_CLOSED: Final = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "errors_as_json": "true",
}


class Answering:
    """One query, from the frame of its request to the last frame of its result."""

    def __init__(self, request: dict[str, Any], out: io.RawIOBase) -> None:
        self.request = request
        self.out = out

    def send(self, **message: Any) -> None:
        self.write(pack(message))

    def run(self) -> None:
        import duckdb

        try:
            connection = self.open()
        except duckdb.Error as problem:
            self.send(error="Open", message=_told(problem)["message"])
            return
        try:
            sealed = self.request.get("parquet") is None and seal()
            self.answer(connection, sealed)
        except duckdb.Error as problem:
            self.send(**_told(problem))
        except (MemoryError, RecursionError) as problem:
            self.send(error="Out of Memory", message=type(problem).__name__)
        except Exception as problem:  # the parent gets a message for every error
            self.send(error="Internal", message=f"{type(problem).__name__}: {problem}"[:500])

    def open(self) -> duckdb.DuckDBPyConnection:
        import duckdb

        request = self.request
        config: dict[str, str | bool | int | float | list[str]] = {
            **_CLOSED,
            "memory_limit": f"{request['memory'] * 3 // 4 >> 20}MiB",
            "threads": str(request["threads"]),
            "temp_directory": "",
        }
        target = request.get("parquet")
        if target:
            del config["enable_external_access"]  # `allowed_paths` must be set before external access is disabled
        connection = duckdb.connect(request["database"], read_only=True, config=config)
        if target:
            connection.execute("SET allowed_paths = [?]".replace("?", _quoted(target)))
            connection.execute("SET enable_external_access = false")
        if request.get("time_zone"):
            with contextlib.suppress(duckdb.Error):  # an unknown zone: DuckDB uses that of the system
                connection.execute("SET TimeZone = ?", [request["time_zone"]])
        connection.execute("SET lock_configuration = true")
        return connection

    def answer(self, connection: duckdb.DuckDBPyConnection, sealed: bool) -> None:
        text: str = self.request["sql"]
        question = the_question(connection, text)
        if isinstance(question, Refusal):
            self.send(error="Refused", message=question.reason, position=question.position)
            return
        if self.request.get("parquet"):
            self.write_parquet(connection)
            return
        connection.execute(question, self.request["parameters"])
        self.send_rows(connection, sealed)

    def send_rows(self, connection: duckdb.DuckDBPyConnection, sealed: bool) -> None:
        columns = [(str(item[0]), str(item[1])) for item in connection.description or ()]
        self.send(columns=columns, sealed=sealed)
        plain = all(kind in _PLAIN for _, kind in columns)
        left_rows, left_bytes = self.request["rows"], self.request["bytes"]
        while rows := connection.fetchmany(min(_AT_ONCE, left_rows + 1)):
            if len(rows) > left_rows:
                self.send(rows=_packable(rows[:left_rows], plain))
                self.send(end="rows")
                return
            frame = pack({"rows": _packable(rows, plain)})
            if len(frame) > left_bytes:
                self.send_what_fits(_packable(rows, plain), left_bytes, is_first=left_rows == self.request["rows"])
                return
            left_rows -= len(rows)
            left_bytes -= len(frame)
            self.write(frame)
        self.send(end="")

    def send_what_fits(self, rows: list[Any], left_bytes: int, *, is_first: bool) -> None:
        """Send as many rows as the limit of bytes allows, then the end; an error if the very first is too large."""
        for place, row in enumerate(rows):
            frame = pack({"rows": [row]})
            left_bytes -= len(frame)
            if left_bytes < 0:
                if is_first and place == 0:
                    self.send(error="Row Too Large", message="")
                    return
                break
            self.write(frame)
        self.send(end="bytes")

    def write(self, frame: bytes) -> None:
        data = memoryview(frame)
        while data:
            data = data[self.out.write(data) or 0 :]

    def write_parquet(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write the rows to a Parquet file, the one file that this process may write."""
        limit = self.request["rows"]
        body = _without_end(self.request["sql"])
        made = f"CREATE TEMP TABLE answer AS SELECT * FROM (\n{body}\n) LIMIT {limit + 1}"
        connection.execute(made, self.request["parameters"])
        counted = connection.execute("SELECT count(*) FROM answer").fetchone()
        count = counted[0] if counted else 0
        described = connection.execute("SELECT * FROM answer LIMIT 0").description or ()
        target = _quoted(self.request["parquet"])
        connection.execute(f"COPY (SELECT * FROM answer LIMIT {limit}) TO {target} (FORMAT parquet, COMPRESSION zstd)")
        self.send(columns=[(str(item[0]), str(item[1])) for item in described], sealed=False)
        self.send(end="rows" if count > limit else "", count=min(count, limit))


def _without_end(text: str) -> str:
    """Return a statement without its `;` and what follows it."""
    import duckdb

    data = text.encode()
    ends = [place for place, kind in duckdb.tokenize(text) if kind == duckdb.token_type.operator]
    return next((data[:place].decode() for place in ends if data[place : place + 1] == b";"), text)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _packable(rows: list[Any], plain: bool) -> list[Any]:
    return rows if plain else [[tagged(value) for value in row] for row in rows]


def _told(problem: Exception) -> dict[str, Any]:
    """Parse an error of DuckDB into its kind, its message and its position in the query."""
    kind, _, rest = str(problem).partition(": ")
    try:
        found = json.loads(rest)
        begin, length = json.loads(found.get("location", "[null, null]"))
        place = begin if begin is not None else found.get("position")
        kind, message = found["exception_type"], found["exception_message"]
    except (ValueError, TypeError, KeyError):
        return {"error": kind.removesuffix(" Error"), "message": rest or kind, "position": None, "length": None}
    return {"error": kind, "message": message, "position": None if place is None else int(place), "length": length}


def _limit(request: dict[str, Any]) -> None:
    """Set the limits that the operating system can enforce: memory, file size, core dumps, run time."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    wanted = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_DATA, request["memory"])]
    if request.get("parquet") is None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        wanted.append((resource.RLIMIT_FSIZE, 0))
    for what, limit in wanted:
        try:
            resource.setrlimit(what, (limit, limit))
        except (OSError, ValueError):
            continue
    signal.alarm(int(request["seconds"]) + 5)  # the parent kills this process earlier, unless it hangs


class _Utc(datetime.tzinfo):
    """The time zone of every time in a result, with the methods that DuckDB calls on zones of pytz."""

    def utcoffset(self, _: datetime.datetime | None) -> datetime.timedelta:
        return datetime.timedelta(0)

    def dst(self, _: datetime.datetime | None) -> datetime.timedelta:
        return datetime.timedelta(0)

    def tzname(self, _: datetime.datetime | None) -> str:
        return "UTC"

    def localize(self, moment: datetime.datetime, **_: object) -> datetime.datetime:
        return moment.replace(tzinfo=datetime.UTC)


def _stand_in_for_pytz() -> None:
    """Replace the package pytz, which DuckDB uses for the time zones of results: here all times are in UTC."""
    stand_in: Any = types.ModuleType("pytz")
    stand_in.utc = _Utc()
    stand_in.timezone = lambda _: stand_in.utc
    sys.modules["pytz"] = stand_in


def _end_with_asker() -> None:
    while os.read(0, 1):
        pass
    os._exit(3)


def main() -> None:
    out = io.FileIO(os.dup(1), "w")
    os.dup2(2, 1)  # printed text must not get between the frames
    if hasattr(signal, "SIGINT"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    request = read_frame(lambda count: os.read(0, count))
    _stand_in_for_pytz()
    threading.Thread(target=_end_with_asker, daemon=True).start()
    import duckdb  # noqa: F401  before the limits, because the library itself is large

    os.umask(0o077)  # only its owner may read a Parquet file, as it holds data of transcripts
    _limit(request)
    Answering(request, out).run()
    os._exit(0)  # nothing needs cleaning up, and Python's own cleanup takes time
