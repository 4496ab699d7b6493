"""The pages: time to the first byte of a long session and of a search against a trivial page, and many clients at once.

Unlike elsewhere this is wall time on loopback, since it is what a reader waits for; the ratio is of medians taken in turns.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.measure import RECOLLECT, REPOSITORY, BenchFailed
from bench.stores import cached_folder, generated_home
from bench.table import Goal, Row

ABILITY = "web"
MESSAGES = 10_000
GOAL = 15.0
CLIENTS = 20
FLAT = 1.25
SESSION_ID = str(uuid.UUID(int=7, version=4))


def rows(quick: bool) -> Iterator[Row]:
    homes = [long_session_home(), generated_home("small", "--preset", "small")]
    rounds = 15 if quick else 60
    with serving(homes) as server:
        first, last = f"/sessions/{SESSION_ID}", f"/sessions/{SESSION_ID}?page={MESSAGES // 100}"
        search = "/search?q=error%20timeout"
        pages = {"first page": first, "last page": last, "search": search}
        for path in pages.values():
            server.until_ready(path)
        times = server.in_turns({"trivial": "/login/style.css", **pages}, rounds)
        floor = statistics.median(times["trivial"])
        for name in pages:
            taken = statistics.median(times[name])
            what = "a search over 20 MB" if name == "search" else f"the {name} of {MESSAGES:,} messages"
            ratio = taken / floor
            goal = Goal(f"<= {GOAL:g}", GOAL, ratio)
            yield Row(ABILITY, f"first byte of {what}, warm", taken, None, "a trivial page", ratio, goal)
        yield Row(ABILITY, "first byte of a trivial page", floor)
        yield from _many_clients(server, list(pages.values()), 4.0 if quick else 30.0)


def _many_clients(server: Server, paths: list[str], seconds: float) -> Iterator[Row]:
    asked = [*paths, "/", "/sessions", f"/api/v1/sessions/{SESSION_ID}/messages?limit=20"]
    warm = server.load(asked, CLIENTS, min(seconds, 4.0))
    before = server.peak_memory()
    found = server.load(asked, CLIENTS, seconds)
    after = server.peak_memory()
    errors = warm.errors + found.errors
    case = f"{CLIENTS} clients for {seconds:.0f} s: {found.count:,} pages, errors"
    yield Row(ABILITY, case, None, after, ratio=float(errors), goal=Goal("none", 0, errors))
    growth = after / before
    goal = Goal(f"<= {FLAT:g}", FLAT, growth)
    yield Row(ABILITY, "memory after it against before", None, after, "the same server", growth, goal)


class Load:
    def __init__(self) -> None:
        self.count = 0
        self.errors = 0


class Server:
    def __init__(self, url: str, key: str, pid: int) -> None:
        parsed = urllib.parse.urlsplit(url)
        self.address = (parsed.hostname or "", parsed.port or 0)
        self.headers = {"Authorization": f"Bearer {key}"}
        self.pid = pid

    def first_byte(self, connection: http.client.HTTPConnection, path: str) -> tuple[float, bytes]:
        start = time.perf_counter()
        connection.request("GET", path, headers=self.headers)
        answer = connection.getresponse()
        taken = time.perf_counter() - start
        body = answer.read()
        if answer.status != 200:
            raise BenchFailed(f"{path} answered {answer.status}")
        return taken, body

    def until_ready(self, path: str) -> None:
        """Asks until the page holds its answer: the first search builds the index."""
        with contextlib.closing(http.client.HTTPConnection(*self.address, timeout=60)) as connection:
            for _ in range(240):
                body = self.first_byte(connection, path)[1]
                if b"for the first time" not in body:
                    return
                time.sleep(0.5)
        raise BenchFailed(f"{path} never came to an answer")

    def in_turns(self, pages: dict[str, str], rounds: int) -> dict[str, list[float]]:
        times: dict[str, list[float]] = {name: [] for name in pages}
        with contextlib.closing(http.client.HTTPConnection(*self.address, timeout=60)) as connection:
            for number in range(rounds + 2):
                for name, path in pages.items():
                    taken, _ = self.first_byte(connection, path)
                    if number > 1:
                        times[name].append(taken)
        return times

    def load(self, paths: list[str], clients: int, seconds: float) -> Load:
        """So many clients ask for one page after the other."""
        found, lock, end = Load(), threading.Lock(), time.monotonic() + seconds

        def client(number: int) -> None:
            step = number
            with contextlib.closing(http.client.HTTPConnection(*self.address, timeout=60)) as connection:
                while time.monotonic() < end:
                    step += 1
                    try:
                        self.first_byte(connection, paths[step % len(paths)])
                        failed = 0
                    except (OSError, http.client.HTTPException, BenchFailed):
                        failed = 1
                        connection.close()
                    with lock:
                        found.count += 1
                        found.errors += failed

        threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found

    def peak_memory(self) -> float:
        """Megabytes that the server holds now."""
        try:
            text = Path(f"/proc/{self.pid}/status").read_text("utf-8")
        except OSError as problem:
            raise BenchFailed("the server's memory can only be seen on Linux") from problem
        return next(int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("VmRSS:"))


@contextlib.contextmanager
def serving(homes: list[Path]) -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as scratch:
        own = {f"RECOLLECT_{kind}_DIR": str(Path(scratch) / kind.lower()) for kind in ("DATA", "CACHE", "CONFIG")}
        named = [word for home in homes for word in ("--home", str(home))]
        process = subprocess.Popen(
            [*RECOLLECT, *named, "serve", "--port", "0", "--json", "--read-only"],
            cwd=REPOSITORY,
            env={**os.environ, **own, "HOME": scratch},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert process.stdout is not None
            text = ""
            while not text.rstrip().endswith("}"):
                line = process.stdout.readline()
                if not line:
                    raise BenchFailed("the server did not start")
                text += line
            told = json.loads(text)
            yield Server(told["url"], told["key"], process.pid)
        finally:
            process.terminate()
            process.wait(20)


def long_session_home() -> Path:
    """One session of 10,000 messages: prompts, answers in markdown with code, tool calls with results."""

    def make(folder: Path) -> None:
        from recollect.testing import HomeBuilder
        from recollect.testing.toolcalls import bash

        builder = HomeBuilder(folder / "claude")
        session = builder.session("/home/ada/code/long", session_id=SESSION_ID)
        for number in range(MESSAGES // 4):
            session.user(f"Question {number}: what about part {number}?")
            session.call(bash(f"make part-{number}", f"part {number} is fine\n" * 8))
            session.assistant(
                f"Part **{number}** is fine.\n\n```python\nfor item in range({number}):\n    print(item)\n```\n"
            )
        builder.write()

    return cached_folder(f"long-session-{MESSAGES}", make, [Path(__file__)], "1") / "claude"


def main() -> Any:
    from bench.table import markdown

    print(markdown(rows(quick=True)))


if __name__ == "__main__":
    main()
