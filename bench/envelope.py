"""The envelope (type, links, times, places) of every line of a store, against C++ simdjson or a bare decoding loop.

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
int main(int count, char **names) {
    ondemand::parser parser;
    size_t lines = 0, sum = 0;
    for (int each = 1; each < count; each++) {
        auto text = padded_string::load(names[each]).value();
        const char *start = text.data(), *end = start + text.size();
        while (start < end) {
            const char *stop = (const char *)memchr(start, '\n', end - start);
            if (!stop) stop = end;
            padded_string_view line(start, stop - start, (end - start) + SIMDJSON_PADDING);
            ondemand::document document;
            if (!parser.iterate(line).get(document)) {
                ondemand::object object;
                if (!document.get_object().get(object))
                    for (auto field : object) {
                        std::string_view key, value;
                        if (field.unescaped_key().get(key)) break;
                        if (key == "type" || key == "uuid" || key == "parentUuid" || key == "timestamp" ||
                            key == "sessionId" || key == "cwd" || key == "version" || key == "gitBranch") {
                            if (!field.value().get_string().get(value)) sum += value.size();
                        }
                    }
            }
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
    peer = _simdjson(home)
    ours, bare, *others = interleave(
        [function("ours", envelopes, home), function("bare", bare_loop, home), *([peer] if peer else [])], rounds
    )
    if int(str(ours.result)) < int(str(bare.result)):  # more, for some lines only the patient reader can read
        raise BenchFailed(f"{ours.result} entries against {bare.result}")
    case = f"{ours.result} entries, {'20 MB' if quick else '1 GB'}"
    ratio = ours.ratio_to(bare)
    if others:
        against = ours.ratio_to(others[0])
        yield Row(
            ABILITY, case, ours.cpu_seconds, ours.peak_mb, "C++ simdjson, on demand", against, Goal(f"<= {GOAL:g}", GOAL, against)
        )
        yield Row(ABILITY, case, ours.cpu_seconds, ours.peak_mb, "bare msgspec loop", ratio)
        return
    floor = ratio / FLOOR
    words = f"{FLOOR:g} x bare msgspec loop (simdjson cannot be built here)"
    yield Row(ABILITY, case, ours.cpu_seconds, ours.peak_mb, words, floor, Goal(f"<= {GOAL:g}", GOAL, floor))


def _files(home: str) -> list[Path]:
    return sorted(Path(home, "projects").rglob("*.jsonl"))


def envelopes(home: str) -> Callable[[], object]:
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
    import msgspec

    from recollect.format.entries import Entry

    decode = msgspec.json.Decoder(Entry).decode
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


def _simdjson(home: Path) -> Contestant | None:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return None
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
            return Contestant("simdjson", (str(program), *map(str, _files(str(home)))))
    return None
