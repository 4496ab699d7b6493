"""Exports: HTML and Markdown of long sessions, and a site of a whole home, at first and with nothing changed.

Compared with claude-code-log on the same sessions at the same depth. Recollect also takes secrets out and looks for them in what
it wrote, as it does by default.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench import claude_code_log
from bench.measure import RECOLLECT, BenchFailed, Contestant, Series, interleave
from bench.stores import cached_folder, generated_home
from bench.table import Goal, Row

ABILITY: Final = "export"
SESSION_ID: Final = str(uuid.UUID(int=17, version=4))
FIRST: Final = 0.5
UNCHANGED: Final = 0.05
MEMORY_MB: Final = 300.0


def rows(quick: bool) -> Iterator[Row]:
    peer = claude_code_log.name()
    with tempfile.TemporaryDirectory(prefix="recollect-bench-export-") as scratch:
        for messages in (1_000,) if quick else (1_000, 10_000):
            for kind in ("html", "md"):
                yield from _one(peer, Path(scratch), messages, kind, 1 if quick else 5)
        yield from _site(peer, Path(scratch), "tiny" if quick else "small", 1 if quick else 3)


def _one(peer: str, scratch: Path, messages: int, kind: str, rounds: int) -> Iterator[Row]:
    home = long_session_home(messages)
    # claude-code-log keeps files beside what it reads
    copy = scratch / f"copy-{messages}"
    if not copy.exists():
        shutil.copytree(home / "projects", copy)
    (transcript,) = copy.glob(f"*/{SESSION_ID}.jsonl")
    ours, theirs = interleave(
        [
            Contestant(
                "recollect",
                (
                    *RECOLLECT, "--home", str(home), "export", SESSION_ID, "--format", kind, "--force", "-o",
                    str(scratch / f"ours-{messages}.{kind}"),
                ),
                _own(scratch, f"one-{messages}-{kind}"), reads=home,
            ),
            Contestant(peer, claude_code_log.one(transcript, scratch / f"theirs-{messages}.{kind}"), reads=copy),
        ],
        rounds,
    )  # fmt: skip
    yield from _report(peer, f"{messages:,} messages as {kind}", ours, theirs, FIRST)


def _site(peer: str, scratch: Path, preset: str, rounds: int) -> Iterator[Row]:
    home = generated_home(preset, "--preset", preset)
    copy = scratch / "site-copy"
    shutil.copytree(home / "projects", copy)
    ours, theirs = scratch / "site-ours", scratch / "site-theirs"

    def contestants(name: str, ending: str) -> list[Contestant]:
        target = Path(f"{ours}{ending}")
        return [
            Contestant(
                name, (*RECOLLECT, "--home", str(home), "export", "--all", "--site", str(target)), _own(scratch, "site"),
                reads=home,
            ),
            Contestant(peer, claude_code_log.everything(copy, Path(f"{theirs}{ending}")), reads=copy),
        ]  # fmt: skip

    first: list[list[Series]] = []
    for number in range(rounds):
        for kept in copy.glob("*/*cache*"):  # of the run before
            shutil.rmtree(kept) if kept.is_dir() else kept.unlink()
        for kept in copy.glob("*cache*"):
            shutil.rmtree(kept) if kept.is_dir() else kept.unlink()
        first.append(interleave(contestants("recollect", f"-{number}"), 1))
    joined = [Series(part[0].contestant, tuple(one.runs[0] for one in part)) for part in zip(*first, strict=True)]
    size = f"a site of the store '{preset}'"
    yield from _report(peer, f"{size}, first", joined[0], joined[1], FIRST)
    again = interleave(contestants("recollect", f"-{rounds - 1}"), rounds)
    yield from _report(f"{peer}, first", f"{size}, nothing changed", again[0], joined[1], UNCHANGED)
    ratio = again[0].ratio_to(again[1])
    yield Row(
        ABILITY, f"{size}, nothing changed for both", again[0].cpu_seconds, None, f"{peer}, nothing changed", ratio
    )


def _report(peer: str, case: str, ours: Series, theirs: Series, limit: float) -> Iterator[Row]:
    ratio = ours.ratio_to(theirs)
    yield Row(ABILITY, case, ours.cpu_seconds, None, peer, ratio, Goal(f"<= {limit:g}", limit, ratio))
    goal = Goal(f"< {MEMORY_MB:g} MB", MEMORY_MB, ours.peak_mb)
    yield Row(ABILITY, f"{case}, memory", None, ours.peak_mb, f"{theirs.peak_mb:.0f} MB of {peer}", None, goal)


def _own(scratch: Path, name: str) -> dict[str, str]:
    """Folders of our own that stay from run to run."""
    return {f"RECOLLECT_{kind}_DIR": str(scratch / "own" / name / kind.lower()) for kind in ("DATA", "CACHE", "CONFIG")}


def long_session_home(messages: int) -> Path:
    """One session with so many messages: prompts, answers with code, files read and edited, programs run."""

    def make(folder: Path) -> None:
        command = [
            *RECOLLECT[:1], "-c", f"from bench.export import write_long_session as w; w({str(folder)!r}, {messages})",
        ]  # fmt: skip
        if subprocess.run(command, check=False).returncode != 0:
            raise BenchFailed("the long session could not be made")

    return cached_folder(f"export-session-{messages}", make, [Path(__file__)], "1") / "claude"


def write_long_session(folder: str, messages: int) -> None:
    from recollect.testing import HomeBuilder
    from recollect.testing.toolcalls import bash, edit, grep, read

    builder = HomeBuilder(Path(folder) / "claude")
    session = builder.session("/home/ada/code/long", session_id=SESSION_ID)
    source = "".join(
        f"def part_{line}(value: int) -> str:\n    return f'{{value}} {line}'  # line\n" for line in range(20)
    )
    for number in range(messages // 10):  # a call and its result are two messages
        path = f"/home/ada/code/long/part_{number % 40}.py"
        session.user(f"Question {number}: why is part {number} slow, and **what** would help?")
        session.call(grep(f"part_{number}", [path]), "I look for it.")
        session.call(read(path, source))
        session.call(edit(path, "part_1(", f"part_{number}_1(", original=source))
        session.call(bash(f"pytest tests/test_part_{number}.py", f"tests/test_part_{number}.py .....\n5 passed\n" * 12))
        session.assistant(
            f"Part **{number}** is fast now:\n\n- it reads once\n- it keeps the table of `part_{number}`\n\n"
            f"```python\nfor item in range({number}):\n    print(item, table[item])\n```\n\n"
            "| case | before | after |\n|---|---:|---:|\n| cold | 80 ms | 20 ms |\n| warm | 9 ms | 1 ms |\n"
        )
    builder.write()


def main() -> None:
    from bench.table import markdown

    print(markdown(rows(quick=True)))


if __name__ == "__main__":
    main()
