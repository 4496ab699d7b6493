"""One million entries, each the child of the one before; and that no shape of conversation costs more than linear time."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from bench.measure import Series, TookTooLong, function, interleave
from bench.read_session import build_graph, decode_with_msgspec
from bench.shapes import SESSION_ID, SHAPES, shape_home, transcript_path
from bench.table import Goal, Row

CHAIN = "one long chain"
LINEAR = "linear in any shape"
GOAL_SECONDS = 10.0
MILLION = 1_000_000
# Four times the rows: 4 when linear, 16 when quadratic. The goal leaves room for caches that get too small.
SHORT, LONG, GOAL_GROWTH = 10_000, 40_000, 6.0
PATIENCE_SECONDS = 120


def rows(quick: bool) -> Iterator[Row]:
    tenth = yield from _chain(MILLION // 10)
    if not quick:
        whole = yield from _chain(MILLION)
        growth = whole.cpu_seconds / tenth.cpu_seconds
        yield Row(CHAIN, f"{MILLION:,} entries", None, None, f"{MILLION // 10:,} entries (linear: 10)", growth)
    for name in SHAPES:
        yield _growth(name, rounds=1 if quick else 3)


def _chain(count: int) -> Generator[Row, None, Series]:
    home = shape_home("chain", count)
    floor, graph = interleave(
        [
            function("msgspec", decode_with_msgspec, transcript_path(home)),
            function("graph", build_graph, home, SESSION_ID),
        ],
        rounds=3,
    )
    goal = Goal(f"<= {GOAL_SECONDS:g} s", GOAL_SECONDS, graph.cpu_seconds) if count == MILLION else None
    against, ratio = "msgspec, every line", graph.ratio_to(floor)
    yield Row(CHAIN, f"{count:,} entries, full graph", graph.cpu_seconds, graph.peak_mb, against, ratio, goal)
    return graph


def _growth(name: str, rounds: int) -> Row:
    case = f"{name.replace('_', ' ')}, {LONG:,} rows"
    against = f"{SHORT:,} rows (linear: {LONG // SHORT})"
    contestants = [
        function(str(count), build_graph, shape_home(name, count), SESSION_ID, timeout=PATIENCE_SECONDS)
        for count in (SHORT, LONG)
    ]
    try:
        short, long = interleave(contestants, rounds)
    except TookTooLong:
        return Row(LINEAR, f"{case}: more than {PATIENCE_SECONDS} s", goal=Goal(f"<= {GOAL_GROWTH:g}", 0, 1))
    growth = long.ratio_to(short)
    goal = Goal(f"<= {GOAL_GROWTH:g}", GOAL_GROWTH, growth)
    return Row(LINEAR, case, long.cpu_seconds, long.peak_mb, against, growth, goal)
