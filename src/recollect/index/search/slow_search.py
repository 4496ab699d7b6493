"""Run a slow search: group the hits of a scan by session, until there are enough sessions.

Regular expressions are matched in a child process: Python's engine cannot be interrupted while it matches one text, and some
expressions take years for some texts. The child reads its task as JSON and writes a line of JSON per hit, what it left out, and a
heartbeat now and then. A child that is silent for too long is killed, and the caller gets a QueryError.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from typing import IO, Any

import apsw

from ...errors import QueryError, RecollectError
from ...own_program import child_command
from ..catalogue.catalogue import connect
from ..catalogue.left_out import LeftOut
from ..catalogue.reading_back import EntryReader
from ..catalogue.vault_transcripts import KeptTranscripts
from ..words.searchable_text import all_strings, searched_text
from .query_language import All, Text, exclusions, mistake, parse, texts
from .results import Hit, SearchResults, Snippet, Tokenize
from .scan_search import MODES, RegularExpression, ScanHit, Substring, Words, compile_pattern, scan
from .session_rows import SessionRows

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
    left_out: LeftOut | None = None,
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
        yield from _answers(child.stdout, silence, left_out or LeftOut())
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


def _answers(stream: IO[bytes], silence: float, left_out: LeftOut) -> Iterator[ScanHit]:
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
        if isinstance(message, dict):
            left_out.count, left_out.names = message["count"], message["names"]
        elif message:
            text, marks = message.pop()
            snippet = Snippet(text, tuple((start, end) for start, end in marks))
            yield ScanHit._make((*message, snippet))


def answer(task: dict[str, Any], out: IO[str]) -> None:
    """Run a task in the child process: write a line of JSON per hit, what was left out, and `null` as a heartbeat."""
    spoken = time.monotonic()
    left_out = LeftOut()
    named = 0

    def name_left_out() -> None:
        nonlocal named
        if left_out.count > named:
            named = left_out.count
            out.write(json.dumps({"count": left_out.count, "names": left_out.names}) + "\n")
            out.flush()

    def moved_on() -> None:
        nonlocal spoken
        name_left_out()
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
        for hit in scan(db, task["homes"], parse(task["where"]), matcher, reader, text_of, left_out, moved_on):
            *place, snippet = hit
            out.write(json.dumps([*place, [snippet.text, snippet.marks]]) + "\n")
            out.flush()
        name_left_out()


def main() -> None:
    """Read a task from stdin and write its hits to stdout."""
    answer(json.load(sys.stdin), sys.stdout)


SAYS = {
    "substring": "--substring reads every text: this takes a while",
    "regex": "--regex reads every text: this takes a while",
    "everything": "--everything reads all files from end to end: this takes a while",
}


def find_slowly(
    db: apsw.Connection,
    home_ids: list[int],
    query: str,
    *,
    mode: str,
    everything: bool = False,
    where: str = "",
    limit: int = 10,
    offset: int = 0,
    hits_per_session: int = 3,
    tokenize: Tokenize,
    kept: KeptTranscripts | None = None,
    silence: float | None = None,
) -> SearchResults:
    """Search by reading every text. Raises QueryError.

    `mode` is substring, regex, or everything (the words of a query in all that the files hold).
    """
    if mode not in MODES:
        raise QueryError(f"there is no mode {mode!r}", hint=f"one of {', '.join(MODES)}", slug="bad-query")
    rows = SessionRows(db, home_ids)
    groups: dict[tuple[int, str], list[ScanHit]] = {}
    total = 0
    enough = False
    left_out = LeftOut("answer")
    with EntryReader(rows.place_of, kept.reader(db) if kept is not None else None) as reader:
        hits = _hits(db, home_ids, query, mode, everything, where, tokenize, reader, silence, kept, left_out)
        for hit in hits:
            file = rows.our_files([hit.file_id])[hit.file_id]
            key = (file.home_id, file.session_id)
            if key not in groups and len(groups) > offset + limit:
                enough = True
                break
            groups.setdefault(key, []).append(hit)
            total += 1
        hits.close()
    shown = list(groups.items())[offset : offset + limit]
    texts_with_filters = (where, query) if mode == "everything" else (where,)
    exclusions_of = [exclusions(parse(text), text) for text in texts_with_filters]
    return SearchResults(
        rows.described(
            [(key, [_hit(item, rows) for item in group[:hits_per_session]], len(group)) for key, group in shown]
        ),
        total,
        exact=not enough,
        more=len(groups) > offset + limit,
        mode=mode,
        notes=(
            SAYS["everything" if everything else mode],
            *(note for _, notes in exclusions_of for note in notes),
            *([left_out.sentence] if left_out.count else []),
        ),
        excluded=tuple(part for parts, _ in exclusions_of for part in parts),
        advice=() if total else _advice(mode, everything, where),
    )


def _hits(
    db: apsw.Connection,
    home_ids: list[int],
    query: str,
    mode: str,
    everything: bool,
    where: str,
    tokenize: Tokenize,
    reader: EntryReader,
    silence: float | None,
    kept: KeptTranscripts | None,
    left_out: LeftOut,
) -> Generator[ScanHit, None, None]:
    narrowed = parse(where)
    _only_filters(where, narrowed)
    if mode == "regex":
        yield from scan_by_regex(
            db.filename, home_ids, where, query, everything=everything, silence=silence or SILENCE,
            vault=kept.folder if kept is not None else None, left_out=left_out,
        )  # fmt: skip
        return
    if mode == "substring":
        text_of = all_strings if everything else searched_text
        yield from scan(db, home_ids, narrowed, Substring(query), reader, text_of, left_out)
        return
    tree = parse(query)
    if not tree.parts:
        raise QueryError(
            "the query is empty", hint="for example: recollect search --everything CLAUDE.md", slug="bad-query"
        )
    combined = All((*tree.parts, *narrowed.parts))
    yield from scan(db, home_ids, combined, Words(combined, tokenize), reader, all_strings, left_out)


def _only_filters(where: str, tree: All) -> None:
    for part in texts(tree):
        if isinstance(part, Text):
            example = "for example: --where 'project:app after:7d'"
            raise mistake(where, part.start, "only filters can stand here", example, part.end)


def _hit(item: ScanHit, rows: SessionRows) -> Hit:
    when = None if item.time is None else item.time / 1_000_000
    return Hit(
        item.entry_id, item.file_id, item.line, item.offset, item.length, item.uuid, item.role, item.subagent_id, when, 0.0,
        item.snippet, in_subagent_file=rows.our_files([item.file_id])[item.file_id].is_subagent,
    )  # fmt: skip


def _advice(mode: str, everything: bool, where: str) -> tuple[str, ...]:
    lines = []
    if where:
        lines.append(f"only what fits {where} was looked at")
    if mode != "everything" and not everything:
        lines.append("--everything looks at prompt snapshots and request logs too")
    return tuple(lines)
