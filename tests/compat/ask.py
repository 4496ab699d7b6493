"""Ask the real client what it sends to the model when it resumes a session.

    python -m tests.compat.ask CONFIG_DIR SESSION CWD [--client 2.1.326] [--json]
    python -m tests.compat.ask --jobs JOBS.json [--workers 2]        many questions, one process, one fake API

Every question works on a copy of what belongs to the session; CONFIG_DIR is never written. Jobs are a list of
objects ``{"config", "session", "cwd"}``; the answers come as a list of ``{"code", "error", "messages"}`` in the same
order, where ``messages`` is what arrived at the API without our own probe, or null if nothing was sent.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.compat import clients
from tests.compat.client import Client
from tests.compat.fake_api import FakeAPI
from tests.compat.sealed import isolate, sealed_environment
from tests.compat.wire import PROBE, Block, is_added_by_client, request_blocks

SCENARIOS = {"probe": [{"blocks": ["ok"]}]}


@dataclass(frozen=True)
class Question:
    config: Path
    session: str
    cwd: Path


@dataclass(frozen=True)
class Answer:
    """``messages`` is None where the client sent nothing; ``error`` is what it printed then."""

    code: int
    error: str
    messages: list[dict[str, Any]] | None

    def blocks(self) -> list[Block]:
        return request_blocks(self.messages or [])


def copy_of(question: Question, folder: Path) -> Path:
    """The session's own files, wherever they are, plus the settings. Other sessions have no say in what is resumed."""
    config = folder / "config"
    (config / "projects").mkdir(parents=True)
    for item in question.config.iterdir():
        if item.is_file() and item.suffix == ".json":
            shutil.copy2(item, config / item.name)
    for project in (question.config / "projects").iterdir():
        for item in project.glob(f"{question.session}*"):
            target = config / "projects" / project.name / item.name
            target.parent.mkdir(exist_ok=True)
            if item.is_dir():
                shutil.copytree(item, target)
            else:
                shutil.copy2(item, target)
    return config


def ask_one(question: Question, command: Sequence[str], api: FakeAPI, channel: str) -> Answer:
    with tempfile.TemporaryDirectory(prefix="recollect-ask-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        config = copy_of(question, folder)
        client = Client(command, folder, api.channel(channel, SCENARIOS), config)
        run = client.prompt(f"{PROBE} [fake:probe]", "--resume", question.session, cwd=question.cwd, timeout=60)
    requests = [body["messages"] for body in api.requests(channel) if PROBE in json.dumps(body.get("messages"))]
    error = "" if requests and run.code == 0 else (run.err.strip() or run.out.strip())[:500]
    sent = without_probe(requests[0]) if requests else None
    return Answer(-1 if run.timed_out else run.code, error or run.err.strip()[:500], sent)


def without_probe(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = []
    for message in messages:
        content = message.get("content")
        if isinstance(content, list):
            content = [
                block for block in content if PROBE not in str(block.get("text") if isinstance(block, dict) else block)
            ]
        elif PROBE in str(content):
            content = []
        if content:
            kept.append({**message, "content": content})
    return kept


def ask_here(questions: Sequence[Question], version: str = clients.NEWEST, workers: int = 2) -> list[Answer]:
    """All questions against one fake API in this process (which should be sealed off)."""
    command = clients.command(version)
    with FakeAPI() as api, ThreadPoolExecutor(workers) as pool:
        jobs = [pool.submit(ask_one, item, command, api, f"q{number}") for number, item in enumerate(questions)]
        return [job.result() for job in jobs]


def ask_many(questions: Sequence[Question], version: str = clients.NEWEST, workers: int = 2) -> list[Answer]:
    """The same from a process that is not sealed off: a sealed one does the work."""
    clients.command(version)  # fetched out here, where there is a network
    jobs = [{key: str(value) for key, value in dataclasses.asdict(item).items()} for item in questions]
    with tempfile.TemporaryDirectory(prefix="recollect-ask-") as folder:
        path = Path(folder) / "jobs.json"
        path.write_text(json.dumps(jobs))
        arguments = ["--jobs", str(path), "--client", version, "--workers", str(workers)]
        done = subprocess.run(
            [sys.executable, "-m", "tests.compat.ask", *arguments],
            cwd=clients.REPOSITORY,
            env=sealed_environment(),
            stdout=subprocess.PIPE,
            check=True,
        )
    return [Answer(**item) for item in json.loads(done.stdout)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", nargs="?", type=Path)
    parser.add_argument("session", nargs="?", default="")
    parser.add_argument("cwd", nargs="?", type=Path)
    parser.add_argument("--client", default=clients.NEWEST)
    parser.add_argument("--json", action="store_true", help="whole messages instead of a line for each block")
    parser.add_argument("--jobs", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    clients.command(given.client)
    isolate()
    if given.jobs:
        jobs = json.loads(given.jobs.read_text())
        questions = [Question(Path(job["config"]), job["session"], Path(job["cwd"])) for job in jobs]
        answers = ask_here(questions, given.client, given.workers)
        json.dump([dataclasses.asdict(answer) for answer in answers], sys.stdout)
        return 0
    if given.config is None or given.cwd is None:
        parser.error("CONFIG_DIR SESSION CWD, or --jobs")
    answer = ask_here([Question(given.config.resolve(), given.session, given.cwd.resolve())], given.client)[0]
    if given.json:
        print(json.dumps(dataclasses.asdict(answer), indent=1, ensure_ascii=False))
        return 0
    print(f"rc {answer.code}" + (f"  stderr: {answer.error}" if answer.error else ""))
    if answer.messages is None:
        print("nothing was sent")
    for block in answer.blocks():
        if not is_added_by_client(block):
            print(block.line())
    return 0


if __name__ == "__main__":
    sys.exit(main())
