"""The envelope (type, links, time, where it was) of every line of a store, against C++ simdjson or a bare decoding loop.

All take the same eight fields of every line. simdjson has two ways. "Whole" parses all of a line, as ours does, which must tell
a damaged line from a good one (it also unescapes every text, which ours does not; ours reads what is damaged, which it does not):
the goal is against this. "On demand" looks at no more of a line than that it is UTF-8 and where its values begin, and would take
many a broken line for a good one; it is in the table as the limit of what a processor can do. A bare loop that only splits a
file into lines and has them decoded to nothing (`msgspec.Raw`) is the least that Python can do, and is there for comparison.

simdjson is compiled where a C++ compiler and its header are there (`simdjson.h` in the compiler's path, Debian's
libsimdjson-dev). Where they are not, the floor is 1.25 times the barest loop that Python can run: read a line, decode it.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import BenchFailed, Contestant, function, interleave
from bench.stores import CACHE, generated_home
from bench.table import Goal, Row

ABILITY = "envelope of every line"
GOAL = 1.6
FLOOR = 1.25

_PROGRAM = r"""
#include <cstdio>
#include <string>
#include <simdjson.h>
using namespace simdjson;
static bool wanted(std::string_view key) {
    return key == "type" || key == "uuid" || key == "parentUuid" || key == "timestamp" || key == "sessionId" || key == "cwd" ||
           key == "version" || key == "gitBranch";
}
static size_t on_demand(ondemand::parser &parser, const char *start, size_t length, size_t space) {
    size_t sum = 0;
    ondemand::document document;
    ondemand::object object;
    if (parser.iterate(padded_string_view(start, length, space)).get(document) || document.get_object().get(object)) return 0;
    for (auto field : object) {
        std::string_view key, value;
        if (field.unescaped_key().get(key)) break;
        if (wanted(key) && !field.value().get_string().get(value)) sum += value.size();
    }
    return sum;
}
static size_t whole(dom::parser &parser, const char *start, size_t length) {
    size_t sum = 0;
    dom::object object;
    if (parser.parse(start, length, false).get(object)) return 0;
    for (auto field : object) {
        std::string_view value;
        if (wanted(field.key) && !field.value.get(value)) sum += value.size();
    }
    return sum;
}
int main(int count, char **names) {
    ondemand::parser quick;
    dom::parser patient;
    bool all = names[1][0] == 'w';
    size_t lines = 0, sum = 0;
    for (int each = 2; each < count; each++) {
        auto text = padded_string::load(names[each]).value();
        const char *start = text.data(), *end = start + text.size();
        while (start < end) {
            const char *stop = (const char *)memchr(start, '\n', end - start);
            if (!stop) stop = end;
            sum += all ? whole(patient, start, stop - start)
                       : on_demand(quick, start, stop - start, (end - start) + SIMDJSON_PADDING);
            lines++;
            start = stop + 1;
        }
    }
    printf("%zu %zu\n", lines, sum);
}
"""


def rows(quick: bool) -> Iterator[Row]:
    name, preset = ("small", "small") if quick else ("medium", "medium")
    home = generated_home(name, "--preset", preset)
    rounds = 3 if quick else 5
    peers = _simdjson(home)
    ours, entries, bare, raw, *others = interleave(
        [
            function("ours", envelopes, home),
            function("entries", entries_with_places, home),
            function("bare", bare_loop, home),
            function("raw", raw_loop, home),
            *peers,
        ],
        rounds,
    )
    if int(str(ours.result)) < int(str(bare.result)):  # more, for some lines only the patient reader can read
        raise BenchFailed(f"{ours.result} entries against {bare.result}")
    case = f"{ours.result} entries, {'20 MB' if quick else '1 GB'}"
    ratio = ours.ratio_to(bare)
    if others:
        checked, skimmed = others
        against = ours.ratio_to(checked)
        goal = Goal(f"<= {GOAL:g}", GOAL, against)
        yield Row(ABILITY, case, ours.cpu_seconds, ours.peak_mb, "C++ simdjson, whole", against, goal)
        yield Row(ABILITY, case, ours.cpu_seconds, ours.peak_mb, "C++ simdjson, on demand", ours.ratio_to(skimmed))
        yield Row(ABILITY, case, ours.cpu_seconds, ours.peak_mb, "bare msgspec loop", ratio)
        words = "nothing decoded, line by line"
        yield Row(ABILITY, words, raw.cpu_seconds, raw.peak_mb, "C++ simdjson, on demand", raw.ratio_to(skimmed))
        words = "whole entries with their places"
        yield Row(ABILITY, words, entries.cpu_seconds, entries.peak_mb, "bare msgspec loop", entries.ratio_to(bare))
        return
    floor = ratio / FLOOR
    words = f"{FLOOR:g} x bare msgspec loop (simdjson cannot be built here)"
    yield Row(ABILITY, case, ours.cpu_seconds, ours.peak_mb, words, floor, Goal(f"<= {GOAL:g}", GOAL, floor))


def _files(home: str) -> list[Path]:
    return sorted(Path(home, "projects").rglob("*.jsonl"))


def envelopes(home: str) -> Callable[[], object]:
    from recollect.store.home import Home
    from recollect.store.read import stream_envelopes

    found = Home(Path(home))
    files = _files(home)

    def work() -> object:
        count = 0
        for path in files:
            for envelope in stream_envelopes(path, found):
                count += envelope.type is not None
        return count

    return work


def entries_with_places(home: str) -> Callable[[], object]:
    from recollect.store.home import Home
    from recollect.store.read import stream_entries

    found = Home(Path(home))
    files = _files(home)

    def work() -> object:
        count = 0
        for path in files:
            for item in stream_entries(path, found):
                count += item.client_reads
        return count

    return work


def bare_loop(home: str) -> Callable[[], object]:
    from recollect.format.envelopes import Envelope

    return _loop(home, Envelope)


def raw_loop(home: str) -> Callable[[], object]:
    import msgspec

    return _loop(home, msgspec.Raw)


def _loop(home: str, kind: object) -> Callable[[], object]:
    import msgspec

    decode = msgspec.json.Decoder(kind).decode
    files = _files(home)

    def work() -> object:
        count = 0
        for path in files:
            with open(path, "rb", buffering=1 << 20) as stream:
                for line in stream:
                    try:
                        decode(line)
                    except (msgspec.MsgspecError, UnicodeDecodeError):
                        continue
                    count += 1
        return count

    return work


def _simdjson(home: Path) -> list[Contestant]:
    """Both ways; none where it cannot be built."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return []
    folder = CACHE / "simdjson"
    folder.mkdir(parents=True, exist_ok=True)
    source, program = folder / "envelope.cpp", folder / "envelope"
    source.write_text(_PROGRAM)
    libraries = (["-lsimdjson"], ["-x", "c++", str(folder / "simdjson.cpp")])
    for library in libraries:
        made = subprocess.run(
            [compiler, "-O3", "-march=native", "-std=c++17", "-I", str(folder), "-o", str(program), str(source), *library],
            capture_output=True, check=False,
        )  # fmt: skip
        if made.returncode == 0:
            files = [str(path) for path in _files(str(home))]
            return [Contestant(f"simdjson, {way}", (str(program), way, *files)) for way in ("whole", "on-demand")]
    return []
