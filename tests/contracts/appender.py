"""Programs that append to a store, to be run several at once or killed in the middle.

    python -m tests.contracts.appender append KIND PLACE NAME COUNT      append COUNT entries in small batches
    python -m tests.contracts.appender kill KIND PLACE KILLS SEED        kill a writer KILLS times, check after each

`kill` prints what it saw as JSON, and fails with the first thing that is not as it should be.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from tests.contracts.store_kinds import KEY, OPENERS, Json, everything_in, transcript

from recollect.stores.protocol import SessionKey, SessionStore

LONGEST_WAIT = 0.04
NEIGHBOUR: SessionKey = {**KEY, "session_id": "neighbour"}


def batch_of(name: str, number: int, chance: random.Random) -> list[Json]:
    """Some entries; now and then one of many pages, whose writing takes long enough to be hit by a kill."""
    sizes = [chance.choice((20, 200, 3000, 400_000)) for _ in range(chance.randint(1, 4))]
    return [
        {
            "type": "user",
            "uuid": f"{name}-{number}-{part}",
            "writer": name,
            "batch": number,
            "part": part,
            "text": "ä" * size,
        }
        for part, size in enumerate(sizes)
    ]


async def append_all(store: SessionStore, name: str, count: int) -> None:
    chance, sent = random.Random(name), 0
    while sent < count:
        size = min(chance.randint(1, 5), count - sent)
        batch = [{"type": "x", "uuid": f"{name}-{n}", "writer": name, "n": n} for n in range(sent, sent + size)]
        await store.append(KEY, batch)
        sent += size


async def append_until_killed(store: SessionStore, name: str, seed: int, acknowledge: int) -> None:
    chance, number = random.Random(seed), 0
    while True:
        await store.append(KEY, batch_of(name, number, chance))
        os.write(acknowledge, b".")
        number += 1


def killed_writer(kind: str, place: Path, name: str, seed: int, chance: random.Random) -> int:
    """Let a child append for a moment, kill it, and say how many batches it was told are safe."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            asyncio.run(append_until_killed(OPENERS[kind](place), name, seed, writing))
        finally:
            os._exit(1)
    os.close(writing)
    # Some are killed while they open the store, most while they are at work.
    acknowledged = b"" if chance.random() < 0.15 else os.read(reading, 1)
    time.sleep(chance.random() * LONGEST_WAIT)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"the writer ended by itself: {status}"
    while more := os.read(reading, 1 << 16):
        acknowledged += more
    os.close(reading)
    return len(acknowledged)


def check_writer(entries: list[Any], name: str, seed: int, acknowledged: int, *, whole_batches: bool) -> int:
    """Every batch that was acknowledged is there, whole and in order; at most one more has begun. Returns its entries."""
    chance = random.Random(seed)
    batches = [batch_of(name, number, chance) for number in range(acknowledged + 1)]
    expected = [entry for batch in batches for entry in batch]
    safe = len(expected) - len(batches[-1])
    assert entries == expected[: len(entries)], f"{name}: entries are missing, doubled or out of order"
    assert len(entries) >= safe, f"{name}: {safe - len(entries)} acknowledged entries are lost"
    begun = len(entries) - safe
    assert not whole_batches or begun in (0, len(batches[-1])), f"{name}: part of a batch is there"
    return begun


def check_lines(place: Path, sent: set[str]) -> int:
    """In the file itself: lines are entries, or the start of one on a line of its own. Returns how many are torn."""
    torn = 0
    path = transcript(place)
    for line in path.read_bytes().split(b"\n") if path.exists() else []:
        try:
            entry = json.loads(line) if line else None
        except ValueError:
            torn += 1
            assert line[:21] == b'{"type":"user","uuid"'[: len(line)], "a torn line does not start where a line starts"
            assert line.count(b'{"type"') == 1, "two entries on a line"
        else:
            assert entry is None or entry["writer"] in sent, "a line that nobody sent"
    return torn


def kill_many(kind: str, place: Path, kills: int, seed: int) -> Json:
    chance = random.Random(seed)
    names: dict[str, tuple[int, int]] = {}
    begun = torn = torn_now = 0
    neighbour = [{"type": "x", "uuid": "neighbour"}]
    asyncio.run(OPENERS[kind](place).append(NEIGHBOUR, neighbour))
    untouched = everything_in(place)
    for number in range(kills):
        name = f"w{number}"
        names[name] = (seed + number, killed_writer(kind, place, name, seed + number, chance))

        async def look() -> tuple[list[Any], Any]:
            store = OPENERS[kind](place)
            return [*(await store.load(KEY) or [])], await store.load(NEIGHBOUR)

        entries, beside = asyncio.run(look())
        assert beside == neighbour
        assert [entry["writer"] for entry in entries] == sorted(
            (entry["writer"] for entry in entries), key=list(names).index
        ), "entries of an earlier writer stand behind those of a later one"
        given, acknowledged = names[name]
        mine = [entry for entry in entries if entry["writer"] == name]
        begun += check_writer(mine, name, given, acknowledged, whole_batches=kind.startswith("sqlite")) > 0
        if kind.startswith("folder"):
            torn_now = check_lines(place, set(names))
            now = everything_in(place)
            assert all(now[path] == data for path, data in untouched.items()), "another file was changed"
        if number % 5 == 4:  # a small store is a quick one; the last writer's leavings stay
            asyncio.run(OPENERS[kind](place).delete(KEY))
            names.clear()
            torn += torn_now
            torn_now = 0
    return {"kills": kills, "begun": begun, "torn": torn + torn_now}


def main() -> int:
    task, kind, place, *rest = sys.argv[1:]
    if task == "append":
        asyncio.run(append_all(OPENERS[kind](Path(place)), rest[0], int(rest[1])))
    else:
        print(json.dumps(kill_many(kind, Path(place), int(rest[0]), int(rest[1]))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
