"""Match regular expressions in a child process, which can be killed if a match does not end.

Python's engine cannot be interrupted while it matches one text, and some expressions take years for some texts. The child
reads its task as JSON and writes a line of JSON per hit, and a heartbeat now and then. A child that is silent for too long
is killed, and the caller gets a QueryError.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import IO, Any

from ...errors import QueryError, RecollectError
from ...own_program import child_command
from .scan_search import RegularExpression, ScanHit, compile_pattern, scan
from .snippets import Snippet

SILENCE = 10.0
"""Seconds without a line from the child after which it is killed."""
_HEARTBEAT = 0.5


def scan_by_regex(
    database: str,
    home_ids: list[int],
    where: str,
    pattern: str,
    *,
    everything: bool = False,
    silence: float = SILENCE,
    vault: str | None = None,
) -> Iterator[ScanHit]:
    """Yield the hits of a scan with a regular expression. Raises QueryError if it is invalid or takes too long."""
    compile_pattern(pattern)
    task = {
        "database": database, "homes": home_ids, "where": where, "pattern": pattern, "everything": everything, "vault": vault,
    }  # fmt: skip
    child = subprocess.Popen(
        child_command(__name__), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(json.dumps(task).encode())
        child.stdin.close()
        yield from _answers(child.stdout, silence)
        if child.wait() != 0:
            assert child.stderr is not None
            reason = child.stderr.read().decode("utf-8", "replace").strip().splitlines()
            raise RecollectError(
                f"the search ended early: {reason[-1] if reason else child.returncode}", slug="search-ended"
            )
    finally:
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream is not None:
                stream.close()


def _answers(stream: IO[bytes], silence: float) -> Iterator[ScanHit]:
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        try:
            for line in stream:
                lines.put(line)
        except (OSError, ValueError):  # the stream was closed meanwhile
            pass
        lines.put(b"")

    threading.Thread(target=listen, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=silence)
        except queue.Empty:
            raise QueryError(
                f"the regular expression takes more than {silence:g} seconds for a single text",
                hint="repetitions inside of repetitions are the usual reason: instead of '(a+)+b' write 'a+b'",
                slug="slow-regex",
            ) from None
        if not line:
            return
        message = json.loads(line)
        if message:
            text, marks = message.pop()
            snippet = Snippet(text, tuple((start, end) for start, end in marks))
            yield ScanHit._make((*message, snippet))


def answer(task: dict[str, Any], out: IO[str]) -> None:
    """Run a task in the child process: write a line of JSON per hit, and `null` as a heartbeat."""
    import apsw

    from ..catalogue.checked_pages import connect
    from ..catalogue.reading_back import EntryReader
    from ..catalogue.vault_transcripts import KeptTranscripts
    from ..words.entry_words import searched_text
    from .query_language import parse
    from .scan_search import all_strings
    from .session_rows import SessionRows

    spoken = time.monotonic()

    def moved_on() -> None:
        nonlocal spoken
        if time.monotonic() - spoken > _HEARTBEAT:
            spoken = time.monotonic()
            out.write("null\n")
            out.flush()

    db = connect(task["database"], apsw.SQLITE_OPEN_READONLY)
    db.set_busy_timeout(20_000)
    text_of = all_strings if task["everything"] else searched_text
    kept = KeptTranscripts(task["vault"]).reader(db) if task["vault"] else None
    with EntryReader(SessionRows(db, task["homes"]).place_of, kept) as reader:
        matcher = RegularExpression(task["pattern"])
        for hit in scan(db, task["homes"], parse(task["where"]), matcher, reader, text_of, moved_on):
            *place, snippet = hit
            out.write(json.dumps([*place, [snippet.text, snippet.marks]]) + "\n")
            out.flush()


def main() -> None:
    """Read a task from stdin and write its hits to stdout."""
    answer(json.load(sys.stdin), sys.stdout)
