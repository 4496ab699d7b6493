"""Files of a gigabyte, and lines of a hundred megabytes and more: memory must stay bounded."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import RECOLLECT, Contestant, function, interleave
from bench.shapes import SESSION_ID
from bench.stores import cached_folder, generated_home
from bench.table import Goal, Row

ABILITY = "large file"
GOAL_MB = 300.0
_FOLDER = "-home-dev-work-large"
_MB = 1_000_000
_LINE_START = (
    b'{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/dev/work/large","sessionId":"%s",'
    b'"version":"2.1.44","gitBranch":"main","type":"user","uuid":"%s","timestamp":"2026-01-01T00:00:00.000Z",'
    b'"message":{"role":"user","content":"'
)
_LINE_END = b'"}}\n'


def rows(quick: bool) -> Iterator[Row]:
    scale = 10 if quick else 1
    yield from _measure(f"{1000 // scale} MB in many lines", many_lines_home(1000 // scale * _MB))
    # 150 MB is close to the longest line that is held in memory as a whole.
    for size in (100 // scale, 150 // scale, 1000 // scale):
        yield from _measure(f"{size} MB in one line", one_line_home(size * _MB))
    # Texts beyond ASCII and torn lines are looked at twice: that must not need several copies.
    size = 150 // scale
    yield from _measure(f"{size} MB in one line with an emoji", one_line_home(size * _MB, first="🚀".encode()))
    yield from _measure(f"{size} MB in one torn line", one_line_home(size * _MB, last=b"\n"))


def _measure(case: str, home: Path) -> Iterator[Row]:
    path = home / "projects" / _FOLDER / f"{SESSION_ID}.jsonl"
    floor, lines, entries, cat = interleave(
        [
            function("python", read_blocks, path),
            function("lines", stream_lines, path),
            function("entries", stream_entries, path),
            Contestant("cat", (*RECOLLECT, "--home", str(home), "cat", SESSION_ID)),
        ],
        rounds=3,
    )
    for name, series in (("stream of lines", lines), ("stream of entries", entries), ("`recollect cat`", cat)):
        goal = Goal(f"< {GOAL_MB:g} MB", GOAL_MB, series.peak_mb)
        ratio = series.ratio_to(floor)
        yield Row(ABILITY, f"{case}, {name}", series.cpu_seconds, series.peak_mb, "reading its bytes", ratio, goal)


def read_blocks(path: str) -> Callable[[], object]:
    def work() -> int:
        count = 0
        with open(path, "rb", buffering=0) as file:
            while block := file.read(1 << 20):
                count += len(block)
        return count

    return work


def stream_lines(path: str) -> Callable[[], object]:
    from recollect.store.read import stream_lines as stream

    def work() -> int:
        return sum(1 for _ in stream(Path(path)))

    return work


def stream_entries(path: str) -> Callable[[], object]:
    from recollect.store.read import stream_entries as stream

    def work() -> int:
        return sum(1 for _ in stream(Path(path)))

    return work


def many_lines_home(size: int) -> Path:
    """The transcripts of a small store one after the other, again and again."""

    def make(home: Path) -> None:
        sources = sorted((generated_home("small", "--preset", "small") / "projects").glob("*/*.jsonl"))
        with open(_transcript(home), "wb") as file:
            while file.tell() < size:
                for source in sources:
                    file.write(source.read_bytes().rstrip(b"\n") + b"\n")
                    if file.tell() >= size:
                        break

    return cached_folder(f"many-lines-{size // _MB}mb", make, [Path(__file__)], str(size))


def one_line_home(size: int, first: bytes = b"", last: bytes = _LINE_END) -> Path:
    """An ordinary prompt, one line with `size` bytes of text from `first` to `last`, and an ordinary prompt after it."""

    def make(home: Path) -> None:
        session = SESSION_ID.encode()
        with open(_transcript(home), "wb") as file:
            for number, length in enumerate((100, size, 100)):
                file.write(_LINE_START % (session, str(uuid.UUID(int=number, version=4)).encode()))
                file.write(first)
                for start in range(0, length, _MB):
                    file.write(b"word " * (min(_MB, length - start) // 5))
                file.write(last if number == 1 else _LINE_END)

    kind = "one-line" + ("-emoji" if first else "") + ("-torn" if last != _LINE_END else "")
    return cached_folder(f"{kind}-{size // _MB}mb", make, [Path(__file__)], str(size))


def _transcript(home: Path) -> Path:
    folder = home / "projects" / _FOLDER
    folder.mkdir(parents=True)
    return folder / f"{SESSION_ID}.jsonl"
