"""Let the real client fill a whole config dir, against the fake API.

    python -m tests.compat.capture OUT [--client 2.1.326] [--set core|print|all] [--only NAME,NAME] [--workers 2]

OUT gets ``config/`` (the config dir), ``home/``, ``work/`` (the projects), ``runs/`` (output and screens) and
``index.json``: the scenes that ran, with session id, folder and exit code.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.compat import clients, scenarios
from tests.compat.client import Client
from tests.compat.fake_api import FakeAPI
from tests.compat.projects import answer_first_questions, make_project
from tests.compat.scenes import CORE, MORE, Scene, session_id
from tests.compat.sealed import isolate, sealed_environment
from tests.compat.tui import Tui
from tests.compat.tui_scenes import SCENES as TUI_SCENES

Json = dict[str, Any]


class Studio:
    """Runs scenes into one config dir; groups may run at the same time, each in a project of its own."""

    def __init__(self, out: Path, command: list[str], api: FakeAPI) -> None:
        self.out = out
        self.command = command
        self.api = api
        self.runs = out / "runs"
        self.runs.mkdir(parents=True, exist_ok=True)

    def project(self, name: str) -> Path:
        return make_project(self.out / "work" / name)

    def client(self, channel: str, project: Path) -> Client:
        return Client(self.command, self.out, self.api.channel(channel, scenarios.build(project)))

    def play_group(self, name: str, scenes: list[Scene]) -> list[Json]:
        project = self.project(name)
        client = self.client(name, project)
        return [self.play(scene, client, project) for scene in scenes]

    def play(self, scene: Scene, client: Client, project: Path) -> Json:
        cwd = project / scene.subfolder
        cwd.mkdir(parents=True, exist_ok=True)
        run = client.prompt(
            scene.prompt,
            *scene.command_line(),
            cwd=cwd,
            stdin=scene.stdin,
            extra=scene.extra,
            interrupt_after=scene.interrupt_after,
        )
        (self.runs / f"{scene.name}.txt").write_text(run.out + "\n--- stderr\n" + run.err)
        row = {
            "name": scene.name,
            "session": session_id(scene.resumes or scene.name),
            "cwd": str(cwd),
            "code": run.code,
        }
        return {**row, "seconds": run.seconds, "timed_out": run.timed_out}

    def play_tui(self, name: str, project: Path) -> Json:
        started = time.monotonic()
        session = session_id("tui-" + name)
        screen = Tui(self.client("tui-" + name, project), project, ["--session-id", session])
        try:
            screen.wait("❯")
            time.sleep(1)
            TUI_SCENES[name](screen)
            screen.leave()
        finally:
            screen.close()
        (self.runs / f"tui-{name}.txt").write_text("\n".join(screen.screens))
        seconds = round(time.monotonic() - started, 2)
        return {"name": "tui-" + name, "session": session, "cwd": str(project), "code": 0, "seconds": seconds}


def capture_here(out: Path, version: str, which: str, only: set[str], workers: int) -> list[Json]:
    """Capture in this process (which should be sealed off)."""
    groups = {**CORE, **(MORE if which != "core" else {})}
    if only:
        groups = {name: [scene for scene in scenes if scene.name in only] for name, scenes in groups.items()}
    with FakeAPI() as api, ThreadPoolExecutor(workers) as pool, ThreadPoolExecutor(4) as tui_pool:
        studio = Studio(out, clients.command(version), api)
        # the interactive client mostly waits for us, so its scenes run beside the others
        shows = [
            name
            for name in TUI_SCENES
            if which == "all" and shutil.which("tmux") and (not only or "tui-" + name in only)
        ]
        stages = {name: studio.project("tui-" + name) for name in shows}
        (out / "config").mkdir(exist_ok=True)
        answer_first_questions(out / "config", list(stages.values()))
        jobs = [tui_pool.submit(studio.play_tui, name, project) for name, project in stages.items()]
        ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
        print_jobs = [pool.submit(studio.play_group, name, scenes) for name, scenes in ordered if scenes]
        index = [row for job in print_jobs for row in job.result()] + [job.result() for job in jobs]
    (out / "index.json").write_text(json.dumps(index, indent=1))
    return index


def capture(out: Path, version: str = clients.NEWEST, which: str = "all", workers: int = 2) -> list[Json]:
    """Capture from a process that is not sealed off: a sealed one does the work."""
    clients.command(version)  # fetched out here, where there is a network
    arguments = [str(out), "--client", version, "--set", which, "--workers", str(workers)]
    subprocess.run(
        [sys.executable, "-m", "tests.compat.capture", *arguments],
        cwd=clients.REPOSITORY,
        env=sealed_environment(),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return read_index(out)


def read_index(out: Path) -> list[Json]:
    """The scenes of a finished capture; none if there is no such."""
    path = out / "index.json"
    rows: list[Json] = json.loads(path.read_text()) if path.exists() else []
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--client", default=clients.NEWEST)
    parser.add_argument("--set", default="all", choices=["core", "print", "all"])
    parser.add_argument("--only", default="", help="names of scenes, comma-separated")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    clients.command(given.client)
    isolate()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    index = capture_here(out, given.client, given.set, set(filter(None, given.only.split(","))), given.workers)
    for row in index:
        print(f"{row['name']:20} code={row['code']} {row['seconds']:6.2f}s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
