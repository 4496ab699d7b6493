"""Run contestants as child processes, turn by turn, and note what each one costs.

CPU time (user and system, of the child and its own children) is measured, since it hardly depends on what else
the machine is doing. A contestant is either a whole command, or one function of a bench file that the child
prepares first (imports, paths), so that only the work itself is counted.

Peak memory is that of the whole child. Linux counts the parent's memory as the child's until the child has
started its program: therefore this process stays small, and generating stores is left to children too.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
# The command as pip installs it, run by the Python that runs this.
RECOLLECT = (sys.executable, str(Path(sys.executable).with_name("recollect")))
_MEBIBYTE = 1024 * 1024
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


# In a process of its own: this one stays small.
_READ_ALL = """
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(folder, name), "rb", buffering=0) as stream:
            while stream.read(1 << 20):
                pass
"""


class BenchFailed(Exception):
    """A contestant did not do its work; a figure for it would be a lie."""


class TookTooLong(BenchFailed):
    """A contestant was stopped after its time."""


@dataclass(frozen=True)
class Contestant:
    """One way to do the measured work."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    # The child reports the cost of its work alone (see `bench.child`).
    reports_itself: bool = False
    timeout: float = 900
    reads: Path | None = None
    """What it reads: brought into the system's cache before every run, since disks are not measured."""


@dataclass(frozen=True)
class Run:
    cpu_seconds: float
    wall_seconds: float
    peak_mb: float
    result: object = None


@dataclass(frozen=True)
class Series:
    """The runs of one contestant, in the order of the rounds."""

    contestant: Contestant
    runs: tuple[Run, ...]

    @property
    def cpu_seconds(self) -> float:
        return statistics.median(run.cpu_seconds for run in self.runs)

    @property
    def peak_mb(self) -> float:
        return max(run.peak_mb for run in self.runs)

    @property
    def result(self) -> object:
        return self.runs[0].result

    def ratio_to(self, other: Series) -> float:
        """Median of the ratios of runs that stood side by side, so that slow minutes hit both."""
        return statistics.median(
            mine.cpu_seconds / theirs.cpu_seconds for mine, theirs in zip(self.runs, other.runs, strict=True)
        )


def function(
    name: str,
    prepare: Callable[..., Callable[[], object]],
    *arguments: object,
    repeat: int = 1,
    environment: Mapping[str, str] | None = None,
    timeout: float = 900,
) -> Contestant:
    """A contestant that calls `prepare(*arguments)` unmeasured, then what it returned, `repeat` times, measured."""
    target = f"{prepare.__module__}:{prepare.__name__}"
    command = (sys.executable, "-m", "bench.child", target, str(repeat), *map(str, arguments))
    return Contestant(name, command, environment or {}, reports_itself=True, timeout=timeout)


def interleave(contestants: Sequence[Contestant], rounds: int) -> list[Series]:
    """Every contestant once per round, the first to start changing from round to round.

    Rounds of different code must not be mixed: whoever edits the package meanwhile spoils the run, and is told so.
    """
    measured = _code_fingerprint()
    runs: dict[str, list[Run]] = {each.name: [] for each in contestants}
    for number in range(rounds):
        first = number % len(contestants)
        for each in (*contestants[first:], *contestants[:first]):
            runs[each.name].append(run(each))
    if _code_fingerprint() != measured:
        raise BenchFailed("the measured code changed during the run: its figures would mix two versions")
    return [Series(each, tuple(runs[each.name])) for each in contestants]


def _code_fingerprint() -> str:
    """A hash of the package that the contestants import."""
    spec = find_spec("recollect")
    if spec is None or spec.origin is None:
        raise BenchFailed("the package recollect is not installed")
    digest = hashlib.sha256()
    for path in sorted(Path(spec.origin).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def run(contestant: Contestant) -> Run:
    if contestant.reads is not None:
        subprocess.run([sys.executable, "-c", _READ_ALL, str(contestant.reads)], check=True)
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as scratch, tempfile.TemporaryFile() as complaints:
        report = Path(scratch) / "report.json"
        environment = _environment(Path(scratch), contestant.environment)
        if contestant.reports_itself:
            environment["BENCH_REPORT"] = str(report)
        child = subprocess.Popen(
            contestant.command,
            cwd=REPOSITORY,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
        )
        stopper = threading.Timer(contestant.timeout, child.kill)
        stopper.start()
        _, status, usage = os.wait4(child.pid, 0)
        in_time = stopper.is_alive()
        stopper.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        if not in_time and child.returncode < 0:
            raise TookTooLong(f"{contestant.name} was stopped after {contestant.timeout:g} s")
        if child.returncode != 0:
            complaints.seek(0)
            tail = complaints.read().decode(errors="replace")[-2000:]
            raise BenchFailed(f"{contestant.name} ended with {child.returncode}:\n{tail}")
        peak_mb = usage.ru_maxrss * _RSS_UNIT / _MEBIBYTE
        if not contestant.reports_itself:
            return Run(usage.ru_utime + usage.ru_stime, float("nan"), peak_mb)
        own = json.loads(report.read_text())
        return Run(own["cpu_seconds"], own["wall_seconds"], peak_mb, own["result"])


def _environment(scratch: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """The bare minimum, with a home of its own: no contestant may look at the user's files."""
    kept = {
        name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH") if name in os.environ
    }
    home = scratch / "home"
    home.mkdir()
    return {**kept, "HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude"), "NO_COLOR": "1", **extra}
