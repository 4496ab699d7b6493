"""agentsview (PyPI wheel) as a peer: its `sync` of a Claude home into a database of its own, without daemon or network."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from bench.measure import BenchFailed

NAME = "agentsview sync"


def program() -> str:
    """The program in the wheel, without the Python script that starts it."""
    spec = find_spec("agentsview")
    if spec is None or spec.origin is None:
        raise BenchFailed("the package agentsview is not installed: nothing to compare with")
    found = sorted(Path(spec.origin).parent.glob("bin/agentsview*"))
    if not found:
        raise BenchFailed("the package agentsview holds no program for this system")
    return str(found[0])


def command() -> tuple[str, ...]:
    """In a name space without a network, where the system has such."""
    alone = ("unshare", "-rn")
    if shutil.which("unshare") and subprocess.run([*alone, "true"], capture_output=True, check=False).returncode == 0:
        return (*alone, program(), "sync")
    return (program(), "sync")


def environment(home: Path | str, data: Path | str) -> dict[str, str]:
    return {
        "AGENTSVIEW_NO_DAEMON": "1", "AGENTSVIEW_DATA_DIR": str(data), "CLAUDE_PROJECTS_DIR": str(Path(home) / "projects"),
    }  # fmt: skip


def sync(home: Path | str, data: Path | str) -> None:
    os.makedirs(data, exist_ok=True)
    done = subprocess.run(
        command(), env={**os.environ, **environment(home, data)}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0 or "Sync complete" not in done.stdout + done.stderr:
        raise BenchFailed(f"agentsview sync ended with {done.returncode}: {(done.stdout + done.stderr)[-500:]}")
