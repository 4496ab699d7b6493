"""Set up standard input, output and error for a command, whatever it was started with (`>&-`, `2>/dev/full`).

Remarks go to stderr: if they cannot be written they are dropped, and the command goes on. The answer goes to stdout: if it
cannot be written, `OutputFailed` is raised.
"""

from __future__ import annotations

import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Buffer  # type: ignore[attr-defined]
    from typing import TextIO


class OutputFailed(OSError):
    """The answer could not be written to stdout, for another reason than that nobody reads it."""


class _Answer(io.FileIO):
    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except (BrokenPipeError, BlockingIOError):
            raise
        except OSError as problem:
            raise OutputFailed(problem.errno, problem.strerror) from problem


class _Talk(io.FileIO):
    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data))


def open_standard_streams() -> None:
    """Put the null device in place of closed streams, and make the others fail as this module's docstring says."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: without this, the next file that is opened would become the stream
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the system assigns the lowest free number
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = _wrapped(sys.stdout, _Answer, 1)
    sys.stderr = _wrapped(sys.stderr, _Talk, 2)


def _wrapped(stream: TextIO | None, kind: type[io.FileIO], number: int) -> io.TextIOWrapper:
    buffer = io.BufferedWriter(kind(number, "w", closefd=False))
    if not isinstance(stream, io.TextIOWrapper):  # None: it was closed
        return io.TextIOWrapper(buffer, encoding="utf-8", errors="replace")
    if os.name == "nt" and stream.isatty():  # a Windows console has its own way of writing
        return stream
    return io.TextIOWrapper(
        buffer,
        encoding=stream.encoding,
        errors="replace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def discard_output(err: bool = False) -> None:
    """Discard what is still written to stdout (stderr), so that Python does not complain about it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, (sys.stderr if err else sys.stdout).fileno())
    os.close(nowhere)


# Read standard input, which may be closed (`<&-`): then it is not a terminal, and is empty.


def stdin_is_terminal() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def read_stdin_bytes(limit: int) -> bytes:
    """Return at most `limit` bytes of standard input."""
    return b"" if sys.stdin is None or sys.stdin.closed else sys.stdin.buffer.read(limit)


def read_stdin() -> str:
    return "" if sys.stdin is None or sys.stdin.closed else sys.stdin.read()
