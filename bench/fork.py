"""Forking a large session, against copying its file: `cp` and a sync of the copy.

Both end on the disk, so wall time is compared, not CPU time. A fork reads the whole session, finds its conversation, renames
every line, checks the outcome and journals the change; the session's subagents are left out on both sides.
"""

from __future__ import annotations

import atexit
import os
import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import Series, function, interleave
from bench.read_session import main_transcript
from bench.stores import generated_home
from bench.table import Goal, Row

ABILITY = "fork a session"
GOAL = 15.0


def rows(quick: bool) -> Iterator[Row]:
    name, folder, size = ("20 MB", "session-20mb", "20e6") if quick else ("100 MB", "session-100mb", "100e6")
    home = generated_home(folder, "--sessions", "1", "--bytes", size, seed=5)
    session = main_transcript(home).stem
    copied, bare, forked, kept = interleave(
        [
            function("cp + fsync", copy_file, home, session),
            function("bare", copy_lines, home, session),
            function("fork", fork, home, session, ""),
            function("fork, uuids kept", fork, home, session, "keep"),
        ],
        rounds=3 if quick else 7,
    )
    against = "`cp` and fsync (wall time)"
    for label, series in (("new uuids", forked), ("uuids kept", kept)):
        ratio = _wall_ratio(series, copied)
        goal = Goal(f"<= {GOAL:g}", GOAL, ratio)
        yield Row(ABILITY, f"{name}, {label}", series.cpu_seconds, series.peak_mb, against, ratio, goal)
    words = f"{name}, every line decoded once, its session renamed, nothing else"
    yield Row(ABILITY, words, bare.cpu_seconds, bare.peak_mb, against, _wall_ratio(bare, copied))
    yield Row(ABILITY, f"{name}, `cp` and fsync", copied.cpu_seconds, copied.peak_mb)


def _wall_ratio(series: Series, other: Series) -> float:
    pairs = zip(series.runs, other.runs, strict=True)
    return statistics.median(mine.wall_seconds / theirs.wall_seconds for mine, theirs in pairs)


def _scratch(home: str, session: str) -> Path:
    """A home with nothing but this session in it, on the disk of the generated one."""
    source = next(Path(home, "projects").glob(f"*/{session}.jsonl"))
    folder = Path(tempfile.mkdtemp(prefix="fork-", dir=Path(home).parent)) / "claude" / "projects" / source.parent.name
    atexit.register(shutil.rmtree, folder.parents[2])
    folder.mkdir(parents=True)
    os.link(source, folder / source.name)
    return folder / source.name


def copy_file(home: str, session: str) -> Callable[[], object]:
    path = _scratch(home, session)

    def work() -> int:
        target = path.with_name("copy.jsonl")
        shutil.copyfile(path, target)
        with open(target, "rb") as copy:
            os.fsync(copy.fileno())
        return target.stat().st_size

    return work


def copy_lines(home: str, session: str) -> Callable[[], object]:
    """The least that a fork has to do: know each line, give it the new session's name, write and sync the file."""
    import msgspec

    from recollect.format.entries import GraphEntry

    path = _scratch(home, session)
    decode = msgspec.json.Decoder(GraphEntry).decode
    old, new = f'"sessionId":"{session}"'.encode(), b'"sessionId":"0f0e0d0c-0b0a-4908-8706-050403020100"'

    def work() -> int:
        target = path.with_name("renamed.jsonl")
        with open(path, "rb", buffering=1 << 20) as source, open(target, "wb", buffering=1 << 20) as copy:
            for line in source:
                try:
                    decode(line)
                except (msgspec.MsgspecError, UnicodeDecodeError):
                    continue
                copy.write(line.replace(old, new, 1))
            copy.flush()
            os.fsync(copy.fileno())
        return target.stat().st_size

    return work


def fork(home: str, session: str, mode: str) -> Callable[[], object]:
    from recollect.edit.fork import plan_fork
    from recollect.journal.changes import Journal
    from recollect.store.home import Home
    from recollect.store.scan import scan_home

    path = _scratch(home, session)
    (file,) = scan_home(Home(path.parents[2])).sessions
    journal = Journal(path.parents[3] / "data")

    def work() -> int:
        change, result = plan_fork(journal, file, keep_uuids=mode == "keep")
        with change:
            change.commit()
        return result.rows

    return work
