"""claude-code-log (PyPI) as a peer: the same sessions as HTML and Markdown, one session or all of a home."""

from __future__ import annotations

import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from bench.measure import BenchFailed

_PROGRAM = "from claude_code_log.cli import main; main()"


def name() -> str:
    if find_spec("claude_code_log") is None:
        raise BenchFailed("the package claude-code-log is not installed: nothing to compare with")
    return f"claude-code-log {metadata.version('claude-code-log')}"


def one(transcript: Path, target: Path) -> tuple[str, ...]:
    """Convert one session; the ending of the target says as what. Its cache is not used, and lies beside the transcript."""
    return (sys.executable, "-c", _PROGRAM, str(transcript), "-o", str(target), "--no-cache")


def everything(projects: Path, target: Path) -> tuple[str, ...]:
    """Convert all projects into a folder: pages of sessions, an index. One process, since CPU time is compared."""
    return (
        sys.executable, "-c", _PROGRAM, str(projects), "--all-projects", "--combined", "no", "-j", "1", "-o", str(target),
    )  # fmt: skip
