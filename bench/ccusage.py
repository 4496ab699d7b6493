"""ccusage's own binary (npm, offline): another program that counts tokens, to measure against and to agree with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

from bench.measure import REPOSITORY, BenchFailed

VERSION: Final = "20.0.24"
DAILY: Final = ("daily", "--json", "--offline", "--timezone", "UTC")


def binary() -> str:
    """The binary for this platform, fetched once by npm into the cache."""
    cache = REPOSITORY / ".cache"
    folder = cache / f"ccusage-{VERSION}"
    if not folder.is_dir():
        machine = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(os.uname().machine, "x64")
        package = f"@ccusage/ccusage-{os.uname().sysname.lower()}-{machine}@{VERSION}"
        cache.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as made:
            command = ["npm", "install", "--prefix", made, "--silent", "--force", package]
            try:
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            except (OSError, subprocess.CalledProcessError) as problem:
                raise BenchFailed(f"ccusage is not to be had: {problem}") from problem
            shutil.copytree(made, folder)
    found = sorted(folder.rglob("bin/ccusage"))
    if not found:
        raise BenchFailed("the ccusage package has no binary for this platform")
    found[0].chmod(0o755)
    return str(found[0])


def daily(home: Path, program: str) -> dict[str, dict[str, Any]]:
    """What it says of each day and model (``2026-03-02|claude-opus-5``), with the names of its own."""
    with tempfile.TemporaryDirectory() as own:
        environment = {"HOME": own, "CLAUDE_CONFIG_DIR": str(home), "PATH": os.environ["PATH"]}
        told = json.loads(subprocess.run([program, *DAILY], check=True, env=environment, stdout=subprocess.PIPE).stdout)
    return {f"{row['period']}|{part['modelName']}": part for row in told["daily"] for part in row["modelBreakdowns"]}


def four_counts(part: dict[str, Any]) -> tuple[int, int, int, int]:
    """Input, output, cache written (both kinds: it does not tell them apart), cache read."""
    return part["inputTokens"], part["outputTokens"], part["cacheCreationTokens"], part["cacheReadTokens"]
