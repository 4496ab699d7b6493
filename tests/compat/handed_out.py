"""Let the real client talk to a fake API that writes down every count it hands out.

    python -m tests.compat.handed_out OUT [--client 2.1.326]

OUT gets ``config/`` (the config dir that the client filled) and ``handed.json``: message id to usage, as it was sent.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.compat import clients, fake_api, fake_stream
from tests.compat.client import Client
from tests.compat.fake_api import FakeAPI
from tests.compat.projects import make_project
from tests.compat.scenarios import bash, say, subagent, think
from tests.compat.sealed import isolate, sealed_environment

Json = dict[str, Any]
OURS = 1000
"""Inputs from here on are those of our own answers; the client's errands get less."""
SLOW = 0.04
"""Seconds between two events: a client that writes before the end of a stream writes a placeholder."""


def counts(
    number: int, output: int, short: int = 0, long: int = 0, read: int = 0, searches: int = 0, thought: int = 0
) -> Json:
    usage: Json = {
        "input_tokens": OURS + number, "output_tokens": output, "cache_creation_input_tokens": short + long,
        "cache_read_input_tokens": read,
        "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long},
    }  # fmt: skip
    if searches:
        usage["server_tool_use"] = {"web_search_requests": searches}
    if thought:
        usage["output_tokens_details"] = {"thinking_tokens": thought}
    return usage


SCENARIOS: dict[str, list[Json]] = {
    "tools": [
        say(
            think("Let me see."),
            "I will look.",
            bash("echo one"),
            bash("echo two"),
            usage=counts(1, 311, 70, thought=101),
            chunk_delay=SLOW,
        ),
        say("Done looking.", usage=counts(2, 222, 0, 4000, 900), chunk_delay=SLOW),
    ],
    "errand": [
        say("I send somebody.", subagent("[fake:inside] go"), usage=counts(3, 133, 5, 0, 20), chunk_delay=SLOW),
        say("They came back.", usage=counts(4, 144, read=12_345), chunk_delay=SLOW),
    ],
    "inside": [
        say(think("An errand."), bash("echo three"), usage=counts(5, 155, 17, thought=55), chunk_delay=SLOW),
        say("The report.", usage=counts(6, 166, searches=2), chunk_delay=SLOW),
    ],
    "again": [say(think("Once more."), "Yes.", usage=counts(7, 177, read=99, thought=77), chunk_delay=SLOW)],
    "forked": [say("On a way of its own.", usage=counts(8, 188), chunk_delay=SLOW)],
}
SESSION = "77777777-7777-4777-8777-777777777777"


def play(out: Path, version: str) -> None:
    handed: dict[str, Json] = {}
    original = fake_stream.stream_events

    def noting(message: Json, blocks: list[Json], usage: Json, stop_reason: str) -> Iterator[tuple[str, Json]]:
        handed[message["id"]] = {**usage, "model": message["model"]}
        return original(message, blocks, usage, stop_reason)

    setattr(fake_api, "stream_events", noting)  # noqa: B010 - the name that the API's module calls
    project = make_project(out / "work" / "counting")
    allowed = ("--dangerously-skip-permissions",)
    with FakeAPI() as api:
        client = Client(clients.command(version), out, api.channel("counting", SCENARIOS))
        for text, arguments in (
            ("[fake:tools] please", ("--session-id", SESSION)),
            ("[fake:errand] please", ("--resume", SESSION)),
            ("[fake:again] please", ("--resume", SESSION)),
            ("[fake:forked] please", ("--resume", SESSION, "--fork-session")),
        ):
            run = client.prompt(text, *arguments, *allowed, cwd=project, extra={"IS_SANDBOX": "1"})
            print(run.code, run.out[-200:], run.err[-200:], file=sys.stderr)
    (out / "handed.json").write_text(json.dumps(handed))


def hand_out(out: Path, version: str) -> dict[str, Json]:
    """The same from a process that is not sealed off; returns what was handed out."""
    clients.command(version)
    subprocess.run(
        [sys.executable, "-m", "tests.compat.handed_out", str(out), "--client", version],
        cwd=clients.REPOSITORY, env=sealed_environment(), check=True, stderr=subprocess.PIPE,
    )  # fmt: skip
    found: dict[str, Json] = json.loads((out / "handed.json").read_text())
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--client", default=clients.NEWEST)
    given = parser.parse_args()
    clients.command(given.client)
    isolate()
    play(given.out.resolve(), given.client)
    return 0


if __name__ == "__main__":
    sys.exit(main())
