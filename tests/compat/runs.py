"""Run the real client on a config dir in place, one command line after the other, and note what it sent.

    python -m tests.compat.runs JOBS.json [--client 2.1.326] [--workers 2]

Jobs are a list of objects ``{"root", "project", "runs": [{"arguments", "cwd", "extra"}]}``: the runs of a job follow each
other in the installation at ``root`` (``home/`` and ``config/`` below it), jobs run at the same time. ``project`` is the
folder that the scripted answers speak of. The answer is a list of lists of ``{"code", "out", "err", "requests"}``.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.compat import clients, scenarios
from tests.compat.ask import SCENARIOS, without_probe
from tests.compat.client import Client
from tests.compat.fake_api import FakeAPI
from tests.compat.sealed import isolate, sealed_environment
from tests.compat.wire import PROBE, Block, is_added_by_client, request_blocks


@dataclass(frozen=True)
class CommandLine:
    """One start of the client."""

    cwd: Path
    arguments: tuple[str, ...]
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str
    requests: list[list[dict[str, Any]]]

    def conversation(self) -> list[Block] | None:
        """What was sent with our probe, without it and without what the client adds; None where it was not sent."""
        sent = [messages for messages in self.requests if PROBE in json.dumps(messages)]
        if not sent:
            return None
        return [block for block in request_blocks(without_probe(sent[0])) if not is_added_by_client(block)]


@dataclass(frozen=True)
class Job:
    root: Path
    project: Path
    runs: list[CommandLine]


def probe(cwd: Path, *arguments: str, extra: Mapping[str, str] | None = None) -> CommandLine:
    """A prompt that shows what the client sends before it."""
    return CommandLine(cwd, ("-p", f"{PROBE} [fake:probe]", *arguments), extra or {})


def run_here(jobs: Sequence[Job], version: str, workers: int) -> list[list[Outcome]]:
    """All jobs against one fake API in this process (which should be sealed off)."""
    command = clients.command(version)

    def play(number: int, job: Job) -> list[Outcome]:
        done = []
        for place, line in enumerate(job.runs):
            channel = f"job{number}-{place}"
            client = Client(command, job.root, api.channel(channel, {**scenarios.build(job.project), **SCENARIOS}))
            run = client.run(line.arguments, line.cwd, extra=line.extra)
            requests = [body["messages"] for body in api.requests(channel) if "messages" in body]
            done.append(Outcome(-1 if run.timed_out else run.code, run.out, run.err, requests))
        return done

    with FakeAPI() as api, ThreadPoolExecutor(workers) as pool:
        return [item.result() for item in [pool.submit(play, number, job) for number, job in enumerate(jobs)]]


def run_all(jobs: Sequence[Job], version: str = clients.NEWEST, workers: int = 2) -> list[list[Outcome]]:
    """The same from a process that is not sealed off: a sealed one does the work."""
    clients.command(version)  # fetched out here, where there is a network
    with tempfile.TemporaryDirectory(prefix="recollect-runs-") as folder:
        path = Path(folder) / "jobs.json"
        path.write_text(json.dumps([dataclasses.asdict(job) for job in jobs], default=str))
        done = subprocess.run(
            [sys.executable, "-m", "tests.compat.runs", str(path), "--client", version, "--workers", str(workers)],
            cwd=clients.REPOSITORY,
            env=sealed_environment(),
            stdout=subprocess.PIPE,
            check=True,
        )
    return [[Outcome(**item) for item in job] for job in json.loads(done.stdout)]


def run_one(root: Path, project: Path, runs: Sequence[CommandLine], version: str = clients.NEWEST) -> list[Outcome]:
    return run_all([Job(root, project, list(runs))], version)[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", type=Path)
    parser.add_argument("--client", default=clients.NEWEST)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    clients.command(given.client)
    isolate()
    jobs = [
        Job(
            Path(job["root"]),
            Path(job["project"]),
            [CommandLine(Path(run["cwd"]), tuple(run["arguments"]), run["extra"]) for run in job["runs"]],
        )
        for job in json.loads(given.jobs.read_text())
    ]
    outcomes = run_here(jobs, given.client, given.workers)
    json.dump([[dataclasses.asdict(item) for item in job] for job in outcomes], sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
