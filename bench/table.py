"""One table for all figures, in the terminal and in docs/benchmarks.md."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

BEGIN = "<!-- figures: begin (written by `python -m bench --write`) -->"
END = "<!-- figures: end -->"
HEADER = ("Ability", "Case", "CPU", "Peak memory", "Compared with", "Ratio", "Goal", "Met")
_NUMERIC = frozenset({"CPU", "Peak memory", "Ratio"})


@dataclass(frozen=True)
class Goal:
    """An upper bound, and the figure that is held against it."""

    text: str
    limit: float
    figure: float

    @property
    def met(self) -> bool:
        return self.figure <= self.limit


@dataclass(frozen=True)
class Row:
    ability: str
    case: str
    cpu_seconds: float | None = None
    peak_mb: float | None = None
    compared_with: str = ""
    ratio: float | None = None
    goal: Goal | None = None

    def cells(self) -> tuple[str, ...]:
        return (
            self.ability,
            self.case,
            "" if self.cpu_seconds is None else duration(self.cpu_seconds),
            "" if self.peak_mb is None else f"{self.peak_mb:.0f} MB",
            self.compared_with,
            "" if self.ratio is None else f"{self.ratio:.2f}",
            self.goal.text if self.goal else "",
            "" if self.goal is None else ("yes" if self.goal.met else "NO"),
        )


def duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def markdown(rows: Iterable[Row]) -> str:
    """A Markdown table whose columns also line up in a terminal."""
    return _table([row.cells() for row in rows])


def _table(body: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(line[column]) for line in [HEADER, *body]) for column in range(len(HEADER))]
    rule = [
        ("-" * (width - 1) + ":") if name in _NUMERIC else "-" * width
        for name, width in zip(HEADER, widths, strict=True)
    ]
    return "\n".join(_line(cells, widths) for cells in [HEADER, rule, *body])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    parts = [
        cell.rjust(width) if name in _NUMERIC else cell.ljust(width)
        for name, cell, width in zip(HEADER, cells, widths, strict=True)
    ]
    return "| " + " | ".join(parts) + " |"


def circumstances() -> str:
    """Where and with what the figures were taken."""
    versions = [f"{name} {_version(name)}" for name in ("recollect", "msgspec", "claude-agent-sdk")]
    machine = f"{platform.system()} {platform.machine()}, {_processor()}"
    python = f"Python {platform.python_version()}"
    return f"Taken {datetime.now(UTC):%Y-%m-%d} on {machine}, {python}, {', '.join(versions)}."


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "(absent)"


def _processor() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


def with_rows(figures: str, rows: Sequence[Row]) -> str:
    """Figures of a full run, those of some abilities measured again: their rows take the place of the old ones."""
    fresh: dict[str, list[tuple[str, ...]]] = {}
    for row in rows:
        fresh.setdefault(row.ability, []).append(row.cells())
    body: list[tuple[str, ...]] = []
    for cells in _lines_of_table(figures):
        if cells[0] not in fresh:
            body.append(cells)
        elif cells[0] not in {done[0] for done in body}:
            body += fresh[cells[0]]
    body += [cells for ability, new in fresh.items() for cells in new if ability not in {done[0] for done in body}]
    above = figures.partition("\n|")[0].splitlines()
    kept = [line for line in above if line and not line.startswith(_AGAIN)]
    earlier = [
        name for line in above if line.startswith(_AGAIN) for name in line.rstrip(".").split(": ")[1].split(", ")
    ]
    again = f"{_AGAIN} ({datetime.now(UTC):%Y-%m-%d}): {', '.join(dict.fromkeys([*earlier, *fresh]))}."
    return "\n\n".join([*kept, again, _table(body)])


_AGAIN = "Measured again later"


def _lines_of_table(figures: str) -> list[tuple[str, ...]]:
    """The cells of its rows, without heading and rule."""
    lines = [line for line in figures.splitlines() if line.startswith("|")]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines[2:]]


def figures_on(page: Path) -> str:
    return page.read_text().partition(BEGIN)[2].partition(END)[0].strip()


def write_between_markers(page: Path, text: str) -> None:
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has no place for the figures: put {BEGIN!r} and {END!r} into it")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
